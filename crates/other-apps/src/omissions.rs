//! Omissions of an exported server or an install link: secrets, and settings that the format has no place for.

use ports::server_config::{ServerConfig, ServerTransport};
use serde::{Deserialize, Serialize};

use crate::found_server::secret_removal::{SecretPlace, secret_removal_text};
use crate::notes::quoted_text;

/// A setting of a server that a format of other apps can't contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OmittedSetting {
    /// Working directory of a local server.
    WorkingFolder,
    /// Sandbox of a local server.
    Sandbox,
    /// Sign-in settings of a remote server.
    SignIn,
    /// Setting that fixes the revision of the MCP protocol.
    Revision,
    /// Allow list and deny list of the tools that models are offered.
    Tools,
}

impl OmittedSetting {
    /// Returns the words by which notes refer to the setting.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::WorkingFolder => "the folder it starts in",
            Self::Sandbox => "its sandbox",
            Self::SignIn => "how to sign in",
            Self::Revision => "the revision of the protocol",
            Self::Tools => "which tools models are offered",
        }
    }

    /// Returns the settings in `config` that neither a link nor an entry in the formats of other apps can contain.
    pub(crate) fn omitted_in_every_export(config: &ServerConfig) -> Vec<Self> {
        let mut omitted = Vec::new();
        match &config.transport {
            ServerTransport::Stdio(stdio) => omitted.extend(stdio.sandbox.as_ref().map(|_| Self::Sandbox)),
            ServerTransport::Http(http) => omitted.extend(http.auth.as_ref().map(|_| Self::SignIn)),
        }
        omitted.extend(config.revision.map(|_| Self::Revision));
        omitted
    }
}

/// Values and settings of a server that its exported entry or its install link omits or changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ExportOmissions {
    /// Name under which the link installs the server, if the link can't contain the server's own name.
    pub name: Option<String>,
    /// Names of the variables and headers whose values contain a secret. The secrets are omitted.
    pub secrets: Vec<String>,
    /// Parts of the configuration, other than variables and headers, from which a secret was removed.
    pub removed: Vec<SecretPlace>,
    /// Settings that were omitted because the format can't contain them.
    pub settings: Vec<OmittedSetting>,
    /// Paths in the link that may exist only on this computer, up to a maximum number.
    pub local_paths: Vec<String>,
}

impl ExportOmissions {
    /// Returns all omissions of an install link as notes, which are safe to print.
    #[must_use]
    pub fn link_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(name) = &self.name {
            notes.push(format!(
                "it is called {name} in the link, where a name has only letters, digits, \".\", \"-\" and \"_\""
            ));
        }
        notes.extend(self.secrets.iter().map(|name| format!("{} is left blank, as a secret", quoted_text(name))));
        notes.extend(secret_removal_text(&self.removed));
        if !self.settings.is_empty() {
            notes.push(format!("no link carries {}", self.setting_texts()));
        }
        if !self.local_paths.is_empty() {
            let paths: Vec<String> = self.local_paths.iter().map(|path| quoted_text(path)).collect();
            notes.push(format!("these paths may be only on this computer: {}", paths.join(", ")));
        }
        notes
    }

    /// Returns all omissions of an exported entry as notes, which are safe to print.
    #[must_use]
    pub fn entry_notes(&self) -> Vec<String> {
        let reference = |name: &String| format!("{} is replaced by a reference, as a secret", quoted_text(name));
        let mut notes: Vec<String> = self.secrets.iter().map(reference).collect();
        notes.extend(secret_removal_text(&self.removed));
        if !self.settings.is_empty() {
            notes.push(format!("the format has no place for {}", self.setting_texts()));
        }
        notes
    }

    fn setting_texts(&self) -> String {
        let settings: Vec<&str> = self.settings.iter().map(|setting| setting.text()).collect();
        settings.join(", ")
    }
}
