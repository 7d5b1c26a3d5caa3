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

pub(crate) use compatibility::is_version_in_range;
pub use localization::Localization;
pub(crate) use server::normalized_bundle_path;
pub use server::{Command, CommandOverride, Server, ServerKind};
pub use user_config::{UserConfig, UserConfigKind};

use std::collections::BTreeMap;

use foreign::escape_invisible;
use serde::Serialize;

/// Contents of a bundle's `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Version of the manifest format, as written. Empty if missing.
    pub manifest_version: String,
    /// Machine-readable name of the bundle.
    pub name: String,
    /// Human-readable name of the bundle, or `None` to show [`Self::name`].
    pub display_name: Option<String>,
    /// Version of the bundle's server, as the publisher wrote it.
    pub version: String,
    /// Short description of the bundle, in plain text.
    pub description: String,
    /// Long description of the bundle in Markdown.
    pub long_description: Option<String>,
    /// Author of the bundle, as the manifest claims.
    pub author: Author,
    /// URL of the server's source code.
    pub repository: Option<String>,
    /// URL of the bundle's home page.
    pub homepage: Option<String>,
    /// URL of the server's documentation.
    pub documentation: Option<String>,
    /// URL where users get support from the publisher.
    pub support: Option<String>,
    /// Licence of the bundle's contents, as the publisher states it.
    pub license: Option<String>,
    /// Keywords by which users can find the bundle.
    pub keywords: Vec<String>,
    /// URLs of the privacy policies of external services that the bundle's server uses.
    pub privacy_policies: Vec<String>,
    /// Icons of the server that are files in the bundle.
    pub icons: Vec<Icon>,
    /// Paths of the screenshots that are files in the bundle.
    pub screenshots: Vec<String>,
    /// Type of the server, and the command that starts it on each platform.
    pub server: Server,
    /// Tools that the manifest claims the server provides. The tools that a session can call are those that the running
    /// server lists.
    pub tools: Vec<DeclaredTool>,
    /// Set if the manifest says that the server may have tools that the manifest does not name.
    pub tools_generated: bool,
    /// Prompts that the manifest claims the server provides.
    pub prompts: Vec<DeclaredPrompt>,
    /// Set if the manifest says that the server may have prompts that the manifest does not name.
    pub prompts_generated: bool,
    /// Platforms and versions that the bundle requires.
    pub compatibility: Compatibility,
    /// Paths of the translations in the bundle, and the language of the manifest's texts.
    pub localization: Localization,
    /// Settings that the user fills in, in the order of the manifest.
    pub user_config: Vec<UserConfig>,
}

/// The author of a bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Author {
    /// Name of the bundle's author. Empty if missing.
    pub name: String,
    /// E-mail address of the bundle's author.
    pub email: Option<String>,
    /// URL of the author's home page, as the manifest claims.
    pub url: Option<String>,
}

/// An icon that is a file in the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Icon {
    /// Path of the icon's image file in the bundle.
    pub path: String,
    /// Size of the icon in pixels, such as `128x128`.
    pub size: Option<String>,
    /// Theme that the icon is designed for, such as `dark`.
    pub theme: Option<String>,
}

/// A tool that a manifest claims the server provides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeclaredTool {
    /// Name of the tool, as the manifest claims.
    pub name: String,
    /// Description of the tool, as the manifest claims.
    pub description: Option<String>,
}

/// A prompt that a manifest claims the server provides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeclaredPrompt {
    /// Name of the prompt, as the manifest claims.
    pub name: String,
    /// Description of the prompt, as the manifest claims.
    pub description: Option<String>,
    /// Names of the arguments that the prompt takes.
    pub arguments: Vec<String>,
    /// Text of the prompt, with references such as `${arguments.NAME}`.
    pub text: Option<String>,
}

/// Platforms and versions of other programs that a bundle requires. A missing member means no restriction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Compatibility {
    /// Platforms that the bundle supports, named as in Node: `darwin`, `win32`, `linux`.
    pub platforms: Option<Vec<String>>,
    /// Required versions of runtimes, as version ranges by the name of the runtime: `node` or `python`.
    pub runtimes: BTreeMap<String, String>,
    /// Required versions of MCP clients, as version ranges by the name of the client. Drawbridge ignores them.
    pub clients: BTreeMap<String, String>,
}

/// Reason why a manifest is invalid. Messages are escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The manifest is not JSON, or not an object.
    #[error("it is not a JSON object: {0}")]
    NotJson(String),
    /// A required member is missing, or a member has the wrong type.
    #[error("{} is missing, or is not {expected}", escape_invisible(.field))]
    Field {
        /// Path of the member in the manifest, such as `server.mcp_config`.
        field: String,
        /// Description of the expected value, for the message.
        expected: &'static str,
    },
    /// A list has too many items, or a text that must not be truncated is too long. Contains the path of the member.
    #[error("{} is too long", escape_invisible(.0))]
    TooLong(String),
    /// This path in the manifest leads out of the bundle.
    #[error("{} is not a path in the bundle", escape_invisible(.0))]
    Path(String),
    /// The type of the server is unknown. Contains the type as written.
    #[error("the type {:?} of the server is unknown", escape_invisible(.0))]
    ServerKind(String),
}
