//! Notes about servers that were found in other apps, pasted text or install links. Each note has a kind, by which the
//! page translates it, and an English text for the command line.

use serde::{Deserialize, Serialize};

/// Maximum number of names, such as settings or variables, in a note.
const MAX_NAMES_PER_NOTE: usize = 20;

/// Kind of a note about a found server, by which Drawbridge's page translates the note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ImportNoteKind {
    /// The other app has disabled the server.
    Off,
    /// Another app has the same server. The names are the other app, and the name of the server in it.
    AlsoIn,
    /// Names of tools that the other app does not offer to its model. Drawbridge does not offer them, either.
    DeniedTools,
    /// Names of the only tools that the other app offers to its model. Drawbridge does not offer other tools, either.
    ExposedTools,
    /// A configured server has the same name, so this one is renamed.
    NameTaken,
    /// Another found server has the same name, so this one is renamed.
    NameShared,
    /// The found server is already configured in Drawbridge.
    SetUpHere,
    /// The server belongs to one project. The name in the note is the project's folder.
    Project,
    /// Names of settings that an import ignores, since Drawbridge doesn't support them.
    NotUsed,
    /// A setting that an import ignores, since its value is invalid. The names are the setting and the English reason.
    Omitted,
    /// Names of settings that allow calls without consent, which are not imported.
    Approvals,
    /// Text that looks like a secret was removed, since the import would store it in a file.
    SecretRemoved,
    /// A value was ignored, since its name looks like a secret.
    SecretName,
    /// A tool was removed from the lists of tools, since its name looks like a secret.
    SecretTool,
    /// The command only connects to a remote server, which is imported in its place. The name is that of the program.
    Bridge,
    /// The wrapper `cmd /c`, which is only necessary on Windows, was removed from the command.
    Windows,
    /// The text of the command contained its arguments, and was split at the spaces.
    CommandSplit,
    /// A number or a boolean was read as text. The name is that of the setting.
    Unquoted,
    /// A value for which the other app prompts the user. The names are the placeholder, and the description if the app
    /// has one.
    Input,
    /// A value that the other app gets from a command of its own. The names are the placeholder, and the description if
    /// the app has one.
    CommandInput,
    /// A password for which the other app prompts the user, in a text that Drawbridge stores in the settings file as it
    /// is. The name is the placeholder.
    PlainPassword,
    /// Further notes of the kind [`Self::PlainPassword`] were omitted. The name in this note is their number.
    MorePlainPasswords,
    /// Names of variables or headers whose values the user has to enter.
    EnterValue,
    /// A variable or header whose value the other app reads from a file or the output of a command.
    NotFollowed,
    /// The other app runs a program that outputs headers. The name is that of the program, if it can be displayed.
    HeadersProgram,
    /// A header without a value was ignored.
    HeaderWithoutValue,
    /// A bearer token that Codex itself does not accept. It is imported as a header.
    CodexToken,
    /// Claude Code does not accept the entry, since it contains a URL without a transport.
    UrlWithoutType,
    /// The other app does not accept the entry, since it reads the URL from another setting.
    OtherUrlKey,
    /// A placeholder in the settings of the server, which the user has to replace. The name in the note is the
    /// placeholder.
    Placeholder,
    /// A variable or header with a reference that Drawbridge passes on unchanged. The name is its value.
    AsWritten,
    /// A variable, header or argument without a value.
    Empty,
    /// Further notes about texts that the user has to replace or fill in were omitted. The name in this note is their
    /// number.
    MorePlaceholders,
    /// An environment file of the server. The names are the path of the file, and the variable names if the file was
    /// read.
    EnvFile,
    /// Names of values that were added from the settings of another app.
    Merged,
    /// Names of variables, headers or other settings of the server whose values differ between two apps.
    Different,
    /// The file contains a second list of servers, which the other app does not read. The name in the note is its key.
    OtherList,
    /// Names of settings that an install link may not set, and that are ignored.
    LinkKeys,
    /// The name of the server in an install link, which is not valid.
    LinkName,
    /// Names of variables and headers for which an install link contains values that look like secrets.
    LinkSecrets,
    /// Data that is sent to the server is not encrypted.
    Unencrypted,
    /// The URL leads to this computer.
    ThisComputer,
    /// The URL leads to the local network or to a reserved address.
    OwnNetwork,
    /// The host of the URL contains letters that look like others. The name is the host in ASCII.
    LookalikeHost,
    /// The command or argument in an install link is a shell, which runs any command in its arguments. The name in the
    /// note is the shell.
    Shell,
    /// The command or argument in an install link is a program, such as `sudo`, that runs another one with more rights
    /// than those of the user. The name in the note is the program.
    MoreRights,
    /// The command in an install link has an option that runs code in its value, or code that it downloads first. The
    /// name in the note is the option.
    CodeOption,
    /// The command in an install link has an option that downloads code from an address instead of a package registry.
    /// The name in the note is the option.
    SourceOption,
    /// The command in an install link has an option that gives a container access to this computer. The name in the
    /// note is the option.
    AccessOption,
    /// A package is loaded from an address instead of a package registry.
    PackageAddress,
    /// An install link sets environment variables that decide which code runs. The names in the note are these
    /// variables.
    CodeVariables,
    /// Further warnings about an install link were omitted. The name in this note is their number.
    MoreWarnings,
    /// Reason why the server can't be imported or was not imported, in the text of the note. Always English, as are the
    /// messages of all errors.
    Reason,
}

/// The part of a server's configuration that contains a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ImportPlace {
    /// The program that the server's command runs.
    Command,
    /// An argument of the server's command.
    Argument {
        /// Position of the argument, starting at 1.
        number: u32,
    },
    /// The working directory of the server's command.
    Folder,
    /// URL of the remote server.
    Url,
    /// Value of an environment variable or a header.
    Value {
        /// Name of the variable or header.
        name: String,
    },
    /// Client secret for signing in to the remote server.
    ClientSecret,
}

/// A note about a server that was found in another app, pasted text or an install link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ImportNote {
    /// Kind of the note, by which the page translates it.
    pub kind: ImportNoteKind,
    /// Part of the server's configuration that the note is about, or `None` if it is about none or several.
    pub place: Option<ImportPlace>,
    /// Names that the note refers to: settings, variables, a file or a folder, depending on the kind. Safe to print.
    pub names: Vec<String>,
    /// English text of the note, safe to print.
    pub text: String,
}

impl ImportNote {
    /// Creates a note without names that is not about a part of the configuration.
    #[must_use]
    pub fn new(kind: ImportNoteKind, text: impl Into<String>) -> Self {
        Self { kind, place: None, names: Vec::new(), text: text.into() }
    }

    /// Returns the note with these names, of which only the first 20 are retained.
    #[must_use]
    pub fn with_names<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().take(MAX_NAMES_PER_NOTE).map(Into::into).collect(), ..self }
    }

    /// Returns the note as one about this part of the configuration.
    #[must_use]
    pub fn at(self, place: ImportPlace) -> Self {
        Self { place: Some(place), ..self }
    }
}
