//! `server.json` and the registry responses that contain it, parsed within bounds. Unknown members are ignored; forms
//! from before 2025-09-16 are refused. Source: `docs/reference/server-json` and `docs/reference/api` of
//! modelcontextprotocol/registry, schema 2025-12-11.
//!
//! Texts for display are safe to print as stored here. Values that are executed or sent are verbatim.

pub(crate) mod bounded;
mod input;
pub(crate) mod read;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use bounded::{
    deserialize_display_text, deserialize_list, deserialize_map, deserialize_required_text, deserialize_unchanged,
};
use domain::Millis;

pub use input::{ArgumentKind, DescribedArgument, InputDefinition, InputFormat, NamedInput, TemplateInput};
pub use read::{EntryError, EntryPage, UnreadableEntry, read_entry, read_page};

/// Maximum length of a server's name in a registry, in bytes.
pub const MAX_SERVER_NAME_BYTES: usize = 200;
/// Maximum length of the version of a server or package, in bytes.
pub const MAX_VERSION_BYTES: usize = 255;
/// Maximum length of a text for display, in bytes. The schema allows 100 characters for descriptions, but older ones
/// are longer.
pub const MAX_DISPLAYED_TEXT_BYTES: usize = 4_000;
/// Maximum length of the name of a variable, argument or header, in bytes.
pub const MAX_LABEL_BYTES: usize = 200;
/// Maximum length of the value of an input, in bytes.
pub const MAX_INPUT_VALUE_BYTES: usize = installs::MAX_ENTERED_VALUE_BYTES;
/// Maximum length of a URL, or of a package's name, in bytes.
pub const MAX_ADDRESS_BYTES: usize = 2_000;
/// Maximum number of packages, and of remote endpoints, of one server.
pub const MAX_INSTALL_TARGETS: usize = 50;
/// Maximum number of arguments, headers or environment variables in one list.
pub const MAX_ARGUMENTS_OR_VARIABLES: usize = 200;
/// Maximum number of variables that one value may refer to.
pub const MAX_VALUE_VARIABLES: usize = 100;
/// Maximum number of values that the user can choose from for one input.
pub const MAX_INPUT_CHOICES: usize = 500;
/// Maximum number of elements in each of these lists: icons, steps after the installation, and additional members of
/// `_meta`.
pub const MAX_SUPPLEMENTARY_ELEMENTS: usize = 20;
/// Maximum nesting depth of the JSON of a registry entry.
pub const MAX_JSON_DEPTH: usize = 32;
/// Maximum size of the JSON of a registry entry, in bytes.
pub const MAX_ENTRY_BYTES: usize = 256 * 1024;
/// Maximum number of entries in a page of a registry's list.
pub const MAX_PAGE_ENTRIES: usize = 1_000;

/// One version of a server, as the registry lists it (`ServerResponse`).
#[derive(Debug, Clone, PartialEq)]
pub struct RegistryEntry {
    /// The publisher's description of the server.
    pub server: ServerJson,
    /// The registry's metadata of this version, or `None` if the entry has none in the known format.
    pub listing: Option<ListingMetadata>,
    /// Additional members of `_meta`, such as ratings, by name. They are displayed as unverified claims.
    pub claims: IndexMap<String, Value>,
}

/// Metadata that the registry adds to a version (`_meta`, `io.modelcontextprotocol.registry/official`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListingMetadata {
    /// Availability of the version in the registry.
    pub status: ListingStatus,
    /// The registry's reason for the version's status.
    #[serde(deserialize_with = "deserialize_display_text::<_, MAX_DISPLAYED_TEXT_BYTES>")]
    pub status_message: Option<String>,
    /// Time of the last change of the status, in milliseconds since 1970.
    #[serde(deserialize_with = "read::deserialize_time")]
    pub status_changed_at: Option<Millis>,
    /// Time at which the version was published, in milliseconds since 1970.
    #[serde(deserialize_with = "read::deserialize_time")]
    pub published_at: Option<Millis>,
    /// Time of the last change of the version's entry, in milliseconds since 1970.
    #[serde(deserialize_with = "read::deserialize_time")]
    pub updated_at: Option<Millis>,
    /// Set if the registry marks this version as the newest one.
    pub is_latest: bool,
}

/// Availability of a server's version in the registry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ListingStatus {
    /// The version is available in the registry.
    #[default]
    Active,
    /// The version is available in the registry, but its use is discouraged.
    Deprecated,
    /// The version was removed from the registry, usually for spam or malware.
    Deleted,
    /// The registry reports a status that this version of Drawbridge does not know.
    #[serde(other)]
    Unknown,
}

/// A publisher's description of a server (`ServerDetail`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerJson {
    /// Name in the form `namespace/name`: ASCII letters, digits, `.`, `-` and, after the slash, `_`.
    #[serde(deserialize_with = "deserialize_required_text::<_, MAX_SERVER_NAME_BYTES>")]
    pub name: String,
    /// Short description of the server by its publisher, for display.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_DISPLAYED_TEXT_BYTES>")]
    pub description: Option<String>,
    /// Version of the server. It need not be a semantic version, but has no control or invisible characters.
    #[serde(deserialize_with = "deserialize_required_text::<_, MAX_VERSION_BYTES>")]
    pub version: String,
    /// Display name, which is not verified and therefore displayed only together with `name`.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_DISPLAYED_TEXT_BYTES>")]
    pub title: Option<String>,
    /// URL of the server's home page, as the publisher claims.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_ADDRESS_BYTES>")]
    pub website_url: Option<String>,
    /// Source code repository of the server, as the publisher claims.
    #[serde(default)]
    pub repository: Option<Repository>,
    /// Icons of the server. This crate does not download them.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_SUPPLEMENTARY_ELEMENTS>")]
    pub icons: Vec<IconLink>,
    /// Packages that can be installed. Each of them provides the server.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_INSTALL_TARGETS>")]
    pub packages: Vec<Package>,
    /// Remote endpoints at which the server is already running.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_INSTALL_TARGETS>")]
    pub remotes: Vec<RemoteTransport>,
}

/// Source code repository that a publisher claims. Registries don't verify it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Repository {
    /// URL of the repository, as the publisher claims.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_ADDRESS_BYTES>")]
    pub url: Option<String>,
    /// Hosting service of the repository, such as `github`.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_LABEL_BYTES>")]
    pub source: Option<String>,
    /// Identifier of the repository at the hosting service. It shows if the URL now leads to another repository than
    /// before.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_LABEL_BYTES>")]
    pub id: Option<String>,
    /// Path of the server's folder in the repository.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_ADDRESS_BYTES>")]
    pub subfolder: Option<String>,
}

/// Link to an icon of the server, which this crate does not download.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IconLink {
    /// URL of the icon.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_ADDRESS_BYTES>")]
    pub src: Option<String>,
    /// Media type of the icon, as the publisher claims.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_LABEL_BYTES>")]
    pub mime_type: Option<String>,
}

/// A package that provides the server (`Package`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// Kind of package: `npm`, `pypi`, `nuget`, `oci`, `mcpb` or another one.
    #[serde(deserialize_with = "deserialize_required_text::<_, MAX_LABEL_BYTES>")]
    pub registry_type: String,
    /// URL of the package registry, or `None` for the default one.
    #[serde(default, deserialize_with = "deserialize_unchanged::<_, MAX_ADDRESS_BYTES>")]
    pub registry_base_url: Option<String>,
    /// Name of the package or image, or URL of the bundle.
    #[serde(deserialize_with = "deserialize_required_text::<_, MAX_ADDRESS_BYTES>")]
    pub identifier: String,
    /// Version of the package. For an image, the version is part of `identifier`.
    #[serde(default, deserialize_with = "deserialize_unchanged::<_, MAX_VERSION_BYTES>")]
    pub version: Option<String>,
    /// SHA-256 of the package's file in hexadecimal.
    #[serde(default, deserialize_with = "deserialize_unchanged::<_, MAX_LABEL_BYTES>")]
    pub file_sha256: Option<String>,
    /// Name of the launcher that the publisher suggests, such as `npx`.
    #[serde(default, deserialize_with = "deserialize_unchanged::<_, MAX_LABEL_BYTES>")]
    pub runtime_hint: Option<String>,
    /// Transport of the server. `None` for stdio.
    #[serde(default)]
    pub transport: Option<RemoteTransport>,
    /// Arguments for the launcher that runs the package, before the package's name.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_ARGUMENTS_OR_VARIABLES>")]
    pub runtime_arguments: Vec<DescribedArgument>,
    /// Arguments for the server in the package.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_ARGUMENTS_OR_VARIABLES>")]
    pub package_arguments: Vec<DescribedArgument>,
    /// Environment variables to set for the server's process.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_ARGUMENTS_OR_VARIABLES>")]
    pub environment_variables: Vec<NamedInput>,
    /// Steps that the publisher asks the user to do after the installation. They are displayed and never executed.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_SUPPLEMENTARY_ELEMENTS>")]
    pub post_install_instructions: Vec<PostInstallStep>,
}

/// A step that the publisher asks the user to do after the installation (from the draft of the schema).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PostInstallStep {
    /// Description of the publisher's step for the user.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_DISPLAYED_TEXT_BYTES>")]
    pub description: Option<String>,
    /// Command line of the publisher's step, for display only.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_DISPLAYED_TEXT_BYTES>")]
    pub command: Option<String>,
}

/// Transport of the server in a package, or remote endpoint of a server (`LocalTransport`, `RemoteTransport`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RemoteTransport {
    /// Kind of transport: `streamable-http`, `sse`, or `stdio` for a package.
    #[serde(rename = "type", deserialize_with = "deserialize_required_text::<_, MAX_LABEL_BYTES>")]
    pub kind: String,
    /// URL of the endpoint, with `{name}` for variables.
    #[serde(default, deserialize_with = "deserialize_unchanged::<_, MAX_ADDRESS_BYTES>")]
    pub url: Option<String>,
    /// Headers to send with each request to the endpoint.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_ARGUMENTS_OR_VARIABLES>")]
    pub headers: Vec<NamedInput>,
    /// Definitions of the variables in the endpoint's URL, by name.
    #[serde(default, deserialize_with = "deserialize_map::<_, _, MAX_VALUE_VARIABLES>")]
    pub variables: IndexMap<String, InputDefinition>,
}
