//! The data of `manifest.json`, versions 0.1 to 0.4. Parsed by [`Bundle`](crate::Bundle), and turned into a command
//! by [`plan`](crate::plan()). See <https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md>.
//!
//! All texts come from the publisher: bounded, and otherwise verbatim. They must be shown as plain text.

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

/// A bundle's description of itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Version of the manifest format, verbatim; empty if missing.
    pub manifest_version: String,
    /// Machine-readable name of the bundle.
    pub name: String,
    /// Display name of the bundle.
    pub display_name: Option<String>,
    /// Version of the server.
    pub version: String,
    /// Description in one sentence.
    pub description: String,
    /// Long description in Markdown.
    pub long_description: Option<String>,
    /// Author of the bundle.
    pub author: Author,
    /// URL of the source code.
    pub repository: Option<String>,
    /// URL of the home page.
    pub homepage: Option<String>,
    /// URL of the documentation.
    pub documentation: Option<String>,
    /// URL for support by the publisher.
    pub support: Option<String>,
    /// Licence of the bundle's contents.
    pub license: Option<String>,
    /// Keywords for searching the bundle.
    pub keywords: Vec<String>,
    /// URLs of the privacy policies of services that the server uses.
    pub privacy_policies: Vec<String>,
    /// Icons in the bundle.
    pub icons: Vec<Icon>,
    /// Paths of screenshots in the bundle.
    pub screenshots: Vec<String>,
    /// Program that runs the server.
    pub server: Server,
    /// Claimed tools; the running server decides which ones exist.
    pub tools: Vec<ToolClaim>,
    /// Set if the server has further tools.
    pub tools_generated: bool,
    /// Prompts that the manifest claims.
    pub prompts: Vec<PromptClaim>,
    /// Set if the server has further prompts.
    pub prompts_generated: bool,
    /// Platforms and versions that the bundle requires.
    pub compatibility: Compatibility,
    /// Location of the translations.
    pub localization: Localization,
    /// Values that the user fills in, in the order of the manifest.
    pub user_config: Vec<UserConfig>,
}

/// The author of a bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Author {
    /// Name; empty if missing.
    pub name: String,
    /// E-mail address of the author.
    pub email: Option<String>,
    /// URL of a page.
    pub url: Option<String>,
}

/// An icon in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Icon {
    /// Path in the bundle.
    pub path: String,
    /// Size, such as `128x128`.
    pub size: Option<String>,
    /// Theme that the icon is meant for, such as `dark`.
    pub theme: Option<String>,
}

/// A tool that a manifest claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolClaim {
    /// Name of the tool.
    pub name: String,
    /// Description of the tool.
    pub description: Option<String>,
}

/// A prompt that a manifest claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptClaim {
    /// Name of the prompt.
    pub name: String,
    /// Description of the prompt.
    pub description: Option<String>,
    /// Names of the arguments.
    pub arguments: Vec<String>,
    /// Text of the prompt, with `${arguments.NAME}`.
    pub text: Option<String>,
}

/// The platforms and versions that a bundle requires. Missing members impose no restriction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Compatibility {
    /// Platforms by their names in Node: `darwin`, `win32`, `linux`.
    pub platforms: Option<Vec<String>>,
    /// Version ranges of runtimes, by name: `node`, `python`.
    pub runtimes: BTreeMap<String, String>,
    /// Version ranges of other hosts, by name. They are never a reason to refuse a bundle.
    pub clients: BTreeMap<String, String>,
}

/// The error for an invalid manifest. The texts are safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The manifest is not JSON, or not an object.
    #[error("it is not a JSON object: {0}")]
    NotJson(String),
    /// A required member is missing or of another type.
    #[error("{} is missing, or is not {expected}", visible(.field))]
    Field {
        /// Path of the member.
        field: String,
        /// Description of the expected value.
        expected: &'static str,
    },
    /// A member that must not be truncated is too long, or there are too many.
    #[error("{} is too long", visible(.0))]
    TooLong(String),
    /// A path leads out of the bundle.
    #[error("{} is not a path in the bundle", visible(.0))]
    Path(String),
    /// The type of the server is unknown.
    #[error("the server is of the type {:?}, which is not known", visible(.0))]
    ServerKind(String),
}
