//! Notes of an install plan: what the user should know before the installation. The page translates them, and the
//! command line shows their English texts.

use std::fmt;

use ports::server_config::ImportNote;
use serde::{Deserialize, Serialize};

use crate::InputProblem;

/// A note about an install plan. Its texts are from the publisher, limited in size by the parser of the plan, and
/// escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum InstallNote {
    /// The package is loaded from a package registry that is not the default one of the launcher.
    OtherPackageRegistry {
        /// URL of the package registry.
        registry: String,
    },
    /// The package has no version, so the newest one is loaded at each start.
    NoVersion {
        /// Name of the launcher that loads the package.
        program: String,
    },
    /// The container image is selected by a tag, which its publisher can move to another image.
    UnpinnedTag {
        /// Tag of the image.
        tag: String,
    },
    /// The container image is selected by neither a tag nor a digest.
    NoTag,
    /// Drawbridge runs the package with another program than the one that the publisher names.
    OtherProgram {
        /// Program that the publisher names.
        named: String,
        /// Program that Drawbridge runs.
        used: String,
    },
    /// The publisher has stated a hash of the package, which is not verified.
    HashNotUsed {
        /// Name of the launcher, which verifies packages in its own way.
        program: String,
    },
    /// Environment variables decide which code runs, or where code is loaded from.
    CodeVariables {
        /// Names of the variables.
        names: Vec<String>,
    },
    /// The publisher has stated arguments for the launcher itself.
    LauncherArguments {
        /// Name of the launcher that receives the arguments.
        program: String,
    },
    /// The publisher asks the user to do something after the installation.
    StepAfterwards {
        /// Description of the step, if the publisher provides one.
        description: Option<String>,
        /// Command that the publisher asks the user to run. Drawbridge does not run it.
        command: Option<String>,
    },
    /// The publisher has marked a value as secret, although everybody can read it in the registry.
    PublicSecret {
        /// Part of the plan that contains the value.
        place: PlanPlace,
    },
    /// A text contains a variable that the publisher has not declared as an input. It is passed to the server
    /// unchanged.
    UndeclaredInput {
        /// Part of the plan that contains the variable.
        place: PlanPlace,
        /// The variable, with its braces.
        variable: String,
    },
    /// A text of the publisher contains invisible characters.
    InvisibleCharacters {
        /// Part of the plan that contains the text.
        place: PlanPlace,
        /// The text, with its invisible characters escaped.
        text: String,
    },
    /// The default value of an input is not a valid value. It is not used.
    DefaultOmitted {
        /// Label or key of the input.
        input: String,
        /// Reason why the default value is not valid.
        problem: InputProblem,
    },
    /// The URL begins with `http://`, so that data is sent without encryption.
    Unencrypted,
    /// The URL begins with a value that the user enters, so that the user chooses the host.
    UrlFromInput,
    /// The URL leads to this computer or a private network.
    PrivateUrl,
    /// A note about the bridge, such as `mcp-remote`, in place of which the remote server itself is installed.
    Bridge {
        /// The note, as in an import from another app.
        note: ImportNote,
    },
    /// An argument or variable of a bundle refers to a setting that the bundle doesn't have. It is omitted.
    MissingSetting {
        /// Text of the argument, or name of the variable.
        text: String,
        /// Name of the missing setting.
        setting: String,
    },
    /// The user may enter several values for a setting, but a variable that refers to it gets only the first.
    FirstValueOnly {
        /// Name of the variable.
        variable: String,
        /// Name of the setting with several values.
        setting: String,
    },
    /// The user may enter several values for a setting, and an argument that refers to it is repeated for each value.
    RepeatedArgument {
        /// Text of the argument.
        argument: String,
        /// Name of the setting with several values.
        setting: String,
    },
    /// A text of a bundle contains a reference `${…}` that is unknown. It is passed to the server unchanged.
    UnknownReference {
        /// Text of the argument, or name of the variable.
        text: String,
    },
    /// The bundle's command loads the server over the network at each start, so the hash of the bundle does not cover
    /// the server's code.
    LoadsOverNetwork {
        /// Name of the program that loads the server.
        program: String,
    },
    /// The bundle's command runs a program of this computer that is not in the bundle.
    ProgramOutside {
        /// Name or path of the program.
        program: String,
    },
    /// uv loads the server's packages over the network, so the hash of the bundle does not cover them.
    UvPackages,
    /// The bundle states that it does not support this operating system.
    OtherPlatforms {
        /// Names of the operating systems that the bundle supports.
        platforms: Vec<String>,
        /// Name of this computer's operating system.
        own: String,
    },
    /// The bundle requires a version of a runtime, and it is unknown which version this computer has.
    RuntimeNeeded {
        /// Name of the runtime.
        runtime: String,
        /// Range of the required versions.
        range: String,
    },
    /// The bundle requires another version of a runtime than the one on this computer.
    RuntimeMismatch {
        /// Name of the runtime.
        runtime: String,
        /// Range of the required versions.
        range: String,
        /// Version on this computer.
        version: String,
    },
    /// The bundle requires a version of a runtime, but the required versions or the one on this computer can't be
    /// parsed.
    RuntimeUnclear {
        /// Name of the runtime.
        runtime: String,
        /// Range of the required versions.
        range: String,
        /// Version on this computer.
        version: String,
    },
}

/// Part of a plan that a note refers to. Names are escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum PlanPlace {
    /// URL of the remote server.
    Url,
    /// An argument of the command.
    Argument {
        /// Name or label of the argument.
        name: String,
    },
    /// An environment variable.
    Variable {
        /// Name of the variable.
        name: String,
    },
    /// An HTTP header that is sent to the remote server.
    Header {
        /// Name of the header.
        name: String,
    },
    /// The default value and the choices of an input.
    Input {
        /// Label of the input.
        name: String,
    },
}

impl fmt::Display for PlanPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url => f.write_str("the URL"),
            Self::Argument { name } => write!(f, "the argument \"{name}\""),
            Self::Variable { name } => write!(f, "the variable {name}"),
            Self::Header { name } => write!(f, "the header {name}"),
            Self::Input { name } => write!(f, "the input {name}"),
        }
    }
}

impl fmt::Display for InstallNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherPackageRegistry { registry } => {
                write!(f, "it is loaded from the package registry \"{registry}\", and not from the public one")
            }
            Self::NoVersion { program } => {
                write!(f, "no version is named: {program} loads the newest one at each start")
            }
            Self::UnpinnedTag { tag } => write!(
                f,
                "the tag {tag} of the image is not pinned: another image may get it; only a digest names one image"
            ),
            Self::NoTag => f.write_str("the image has neither a tag nor a digest: the newest one is loaded"),
            Self::OtherProgram { named, used } => {
                write!(f, "its publisher names the program \"{named}\"; {used} is used")
            }
            Self::HashNotUsed { program } => {
                write!(f, "the SHA-256 of its file is not used: {program} checks files in its own way")
            }
            Self::CodeVariables { names } => {
                write!(f, "these variables decide which code runs, or where it is loaded from: {}", quoted_list(names))
            }
            Self::LauncherArguments { program } => {
                write!(f, "its publisher adds arguments for {program} itself, which determine what runs and its access")
            }
            Self::StepAfterwards { description, command } => {
                let description = description.as_deref().unwrap_or("a step of your own");
                write!(f, "its publisher requires this step after the installation: {description}")?;
                match command {
                    Some(command) => write!(f, " (command: {command})"),
                    None => Ok(()),
                }
            }
            Self::PublicSecret { place } => {
                write!(f, "{place} is marked as a secret, and everybody can read it in the registry")
            }
            Self::UndeclaredInput { place, variable } => {
                write!(f, "{place}: \"{variable}\" is passed unchanged, because it is not declared as an input")
            }
            Self::InvisibleCharacters { place, text } => write!(f, "{place} has invisible characters: \"{text}\""),
            Self::DefaultOmitted { input, problem } => write!(f, "the default of {input} is omitted: {problem}"),
            Self::Unencrypted => f.write_str(
                "the URL begins with http://: sent data can be read on the way, \
                unless it is the address of this computer",
            ),
            Self::UrlFromInput => {
                f.write_str("the URL begins with a value that you enter, which determines where everything is sent")
            }
            Self::PrivateUrl => {
                f.write_str("the URL leads to this computer or into your network, and not to the internet")
            }
            Self::Bridge { note } => f.write_str(&note.text),
            Self::MissingSetting { text, setting } => {
                write!(f, "{text} is omitted: the bundle has no setting {setting}")
            }
            Self::FirstValueOnly { variable, setting } => {
                write!(f, "the variable {variable} takes only the first of the values of {setting}")
            }
            Self::RepeatedArgument { argument, setting } => {
                write!(f, "the argument {argument} is repeated for each value of {setting}")
            }
            Self::UnknownReference { text } => {
                write!(f, "{text} holds ${{…}} that is not known; it is passed as it is")
            }
            Self::LoadsOverNetwork { program } => write!(
                f,
                "{program} loads the server over the network when it starts; \
                the bundle's hash does not cover what it loads"
            ),
            Self::ProgramOutside { program } => {
                write!(f, "it runs {program}, a program of this computer that is not in the bundle")
            }
            Self::UvPackages => f.write_str(
                "uv loads its packages over the network at the first start; the bundle's hash does not cover them",
            ),
            Self::OtherPlatforms { platforms, own } => {
                write!(f, "it is made for {}, and this system is {own}", platforms.join(", "))
            }
            Self::RuntimeNeeded { runtime, range } => write!(f, "it needs {runtime} {range}"),
            Self::RuntimeMismatch { runtime, range, version } => {
                write!(f, "it needs {runtime} {range}, and this computer has {version}")
            }
            Self::RuntimeUnclear { runtime, range, version } => {
                write!(f, "it needs {runtime} {range}, which could not be compared with {version}")
            }
        }
    }
}

fn quoted_list(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use ports::server_config::ImportNoteKind;

    use super::*;

    #[test]
    fn english_note_texts_contain_all_parameters() {
        let text = |note: InstallNote| note.to_string();
        let place = PlanPlace::Header { name: "X-Key".to_owned() };
        let step = |description: Option<&str>, command: Option<&str>| {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            text(InstallNote::StepAfterwards { description: owned(description), command: owned(command) })
        };
        assert_eq!(
            step(Some("Log in"), Some("notes login")),
            "its publisher requires this step after the installation: Log in (command: notes login)"
        );
        assert!(step(None, None).ends_with("a step of your own"));
        let names = vec!["NODE_OPTIONS".to_owned(), "LD_PRELOAD".to_owned()];
        assert!(text(InstallNote::CodeVariables { names }).ends_with("\"NODE_OPTIONS\", \"LD_PRELOAD\""));
        assert_eq!(
            text(InstallNote::PublicSecret { place }),
            "the header X-Key is marked as a secret, and everybody can read it in the registry"
        );
        let problem = InputProblem::OutOfRange;
        assert_eq!(
            text(InstallNote::DefaultOmitted { input: "port".to_owned(), problem }),
            "the default of port is omitted: the number is out of range"
        );
        let note = ImportNote::new(ImportNoteKind::Bridge, "mcp-remote only connects");
        assert_eq!(text(InstallNote::Bridge { note }), "mcp-remote only connects");
    }
}
