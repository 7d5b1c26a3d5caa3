//! `manifest.json` of versions 0.1 to 0.4: its data. [`Bundle`](crate::Bundle) reads it, [`plan`](crate::plan()) makes a command of it.
//! <https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md>
//!
//! All texts are the publisher's: bounded, and otherwise as they were written. Whoever shows one shows it as text.

mod compatibility;
mod fields;
mod localization;
mod read;
mod server;
mod user_config;

pub(crate) use compatibility::is_in_range;
pub use localization::Localization;
pub(crate) use server::path_in_bundle;
pub use server::{Command, CommandOverride, Server, ServerKind};
pub use user_config::{UserConfig, UserConfigKind};

use std::collections::BTreeMap;

use foreign::visible;
use serde::Serialize;

/// What a bundle says about itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The version of the format, as it is written; empty if none is.
    pub manifest_version: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub display_name: Option<String>,
    /// The version of the server.
    pub version: String,
    /// What it is, in a sentence.
    pub description: String,
    /// What it is, in Markdown.
    pub long_description: Option<String>,
    /// Who made it.
    pub author: Author,
    /// Where its source is.
    pub repository: Option<String>,
    /// The address of its page.
    pub homepage: Option<String>,
    /// The address of its documentation.
    pub documentation: Option<String>,
    /// Where to ask.
    pub support: Option<String>,
    /// Its licence.
    pub license: Option<String>,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Addresses of policies of services that it uses.
    pub privacy_policies: Vec<String>,
    /// Pictures in the bundle.
    pub icons: Vec<Icon>,
    /// Paths of pictures in the bundle.
    pub screenshots: Vec<String>,
    /// What to start.
    pub server: Server,
    /// Tools that it claims to have; the running server decides.
    pub tools: Vec<ToolClaim>,
    /// True if it has other tools, too.
    pub tools_generated: bool,
    /// Prompts that it claims to have.
    pub prompts: Vec<PromptClaim>,
    /// True if it has other prompts, too.
    pub prompts_generated: bool,
    /// Where it runs.
    pub compatibility: Compatibility,
    /// Where its translations are.
    pub localization: Localization,
    /// What the user fills in, in the order of the manifest.
    pub user_config: Vec<UserConfig>,
}

/// Who made a bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Author {
    /// The name; empty if there is none.
    pub name: String,
    /// An address for mail.
    pub email: Option<String>,
    /// The address of a page.
    pub url: Option<String>,
}

/// A picture in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Icon {
    /// Its path in the bundle.
    pub path: String,
    /// Its size, such as `128x128`.
    pub size: Option<String>,
    /// For which theme it is, such as `dark`.
    pub theme: Option<String>,
}

/// A tool that a manifest names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolClaim {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
}

/// A prompt that a manifest names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptClaim {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The names of its arguments.
    pub arguments: Vec<String>,
    /// Its text, with `${arguments.NAME}`.
    pub text: Option<String>,
}

/// Where a bundle runs. What is absent restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Compatibility {
    /// The platforms, as Node names them: `darwin`, `win32`, `linux`.
    pub platforms: Option<Vec<String>>,
    /// Ranges of versions of runtimes, by name: `node`, `python`.
    pub runtimes: BTreeMap<String, String>,
    /// Ranges of versions of other hosts, by name. None of them is a reason to refuse.
    pub clients: BTreeMap<String, String>,
}

/// The reason why a manifest can't be used. The texts are safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// It is not JSON, or no object.
    #[error("it is not a JSON object: {0}")]
    NotJson(String),
    /// A field that is needed is missing or of another type.
    #[error("{} is missing, or is not {expected}", visible(.field))]
    Field {
        /// The path of the field.
        field: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A field of which every letter counts is too long, or there are too many.
    #[error("{} is too long", visible(.0))]
    TooLong(String),
    /// A path that leads out of the bundle.
    #[error("{} is no path in the bundle", visible(.0))]
    Path(String),
    /// A kind of server that nobody knows how to start.
    #[error("the server is of the type {:?}, which is not known", visible(.0))]
    ServerKind(String),
}
