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

use bounded::{deserialize_display, deserialize_exact, deserialize_list, deserialize_map, deserialize_required};
use domain::Millis;

pub use input::{ArgumentKind, DescribedArgument, InputDefinition, InputFormat, NamedInput, TemplateInput};
pub use read::{EntryError, EntryPage, UnreadableEntry, read_entry, read_page};

/// Maximum length of a server's name, in bytes.
pub const MAX_NAME: usize = 200;
/// Maximum length of a version, in bytes.
pub const MAX_VERSION: usize = 255;
/// Maximum length of a text for display, in bytes. The schema allows descriptions of 100 characters; older ones are
/// longer.
pub const MAX_SHOWN: usize = 4_000;
/// Maximum length of the name of a variable, argument or header, in bytes.
pub const MAX_LABEL: usize = 200;
/// Maximum length of a value, in bytes.
pub const MAX_VALUE: usize = installs::MAX_VALUE;
/// Maximum length of a URL or identifier, in bytes.
pub const MAX_ADDRESS: usize = 2_000;
/// Maximum number of packages of a server, and of its remotes.
pub const MAX_TARGETS: usize = 50;
/// Maximum number of arguments, headers or environment variables in one list.
pub const MAX_VALUES: usize = 200;
/// Maximum number of variables of one value.
pub const MAX_VARIABLES: usize = 100;
/// Maximum number of choices of one input.
pub const MAX_CHOICES: usize = 500;
/// Maximum number of icons, of post-install steps, and of further members of `_meta`.
pub const MAX_EXTRAS: usize = 20;
/// Maximum nesting depth of JSON.
pub const MAX_DEPTH: usize = 32;
/// Maximum size of an entry, in bytes.
pub const MAX_ENTRY: usize = 256 * 1024;
/// Maximum number of entries per page.
pub const MAX_PAGE: usize = 1_000;

/// A server in one version, as listed by a registry (`ServerResponse`).
#[derive(Debug, Clone, PartialEq)]
pub struct RegistryEntry {
    /// Description by the publisher.
    pub server: ServerJson,
    /// Status by the registry, or `None` if it provides none in a known form.
    pub listing: Option<ListingMetadata>,
    /// Further members of `_meta` by name, such as ratings: claims of this registry, to be shown as such.
    pub claims: IndexMap<String, Value>,
}

/// The registry's metadata of one version (`_meta`, `io.modelcontextprotocol.registry/official`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListingMetadata {
    /// Availability of the version.
    pub status: ListingStatus,
    /// Reason for the status.
    #[serde(deserialize_with = "deserialize_display::<_, MAX_SHOWN>")]
    pub status_message: Option<String>,
    /// Time of the last change of the status, in milliseconds since 1970.
    #[serde(deserialize_with = "read::deserialize_time")]
    pub status_changed_at: Option<Millis>,
    /// Time of publication, in milliseconds since 1970.
    #[serde(deserialize_with = "read::deserialize_time")]
    pub published_at: Option<Millis>,
    /// Time of the last change of the entry, in milliseconds since 1970.
    #[serde(deserialize_with = "read::deserialize_time")]
    pub updated_at: Option<Millis>,
    /// Set if the registry considers this the newest version.
    pub is_latest: bool,
}

/// The availability of a version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ListingStatus {
    /// The version is available.
    #[default]
    Active,
    /// The version is available, but should no longer be used.
    Deprecated,
    /// The version was removed, usually for spam or malware.
    Deleted,
    /// The status is unknown.
    #[serde(other)]
    Unknown,
}

/// A publisher's description of a server (`ServerDetail`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerJson {
    /// `namespace/name`: ASCII letters, digits, `.`, `-` and, after the slash, `_`.
    #[serde(deserialize_with = "deserialize_required::<_, MAX_NAME>")]
    pub name: String,
    /// Description of the server.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_SHOWN>")]
    pub description: Option<String>,
    /// Version: any text without control or invisible characters.
    #[serde(deserialize_with = "deserialize_required::<_, MAX_VERSION>")]
    pub version: String,
    /// Display name, which nobody verified: never shown without `name`.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_SHOWN>")]
    pub title: Option<String>,
    /// URL of the home page.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_ADDRESS>")]
    pub website_url: Option<String>,
    /// Source repository that the entry claims.
    #[serde(default)]
    pub repository: Option<Repository>,
    /// Icons. None of them is loaded by this crate.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_EXTRAS>")]
    pub icons: Vec<IconLink>,
    /// Packages to install; any one of them provides the server.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_TARGETS>")]
    pub packages: Vec<Package>,
    /// Addresses at which the server already runs.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_TARGETS>")]
    pub remotes: Vec<RemoteTransport>,
}

/// The claimed source repository of a server. Registries don't verify it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Repository {
    /// URL of the remote endpoint.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_ADDRESS>")]
    pub url: Option<String>,
    /// Hosting service, such as `github`.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_LABEL>")]
    pub source: Option<String>,
    /// Id of the repository at the service: another id under the same URL is another repository.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_LABEL>")]
    pub id: Option<String>,
    /// Folder within the repository.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_ADDRESS>")]
    pub subfolder: Option<String>,
}

/// An icon of the server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IconLink {
    /// URL of the icon.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_ADDRESS>")]
    pub src: Option<String>,
    /// Media type that the entry claims.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_LABEL>")]
    pub mime_type: Option<String>,
}

/// A package to install (`Package`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// `npm`, `pypi`, `nuget`, `oci`, `mcpb` or another kind.
    #[serde(deserialize_with = "deserialize_required::<_, MAX_LABEL>")]
    pub registry_type: String,
    /// Package registry, if it is not the default one.
    #[serde(default, deserialize_with = "deserialize_exact::<_, MAX_ADDRESS>")]
    pub registry_base_url: Option<String>,
    /// Name of the package, image, or URL of a bundle.
    #[serde(deserialize_with = "deserialize_required::<_, MAX_ADDRESS>")]
    pub identifier: String,
    /// Version of the package; that of an image is part of `identifier`.
    #[serde(default, deserialize_with = "deserialize_exact::<_, MAX_VERSION>")]
    pub version: Option<String>,
    /// SHA-256 of the package's file, in hexadecimal.
    #[serde(default, deserialize_with = "deserialize_exact::<_, MAX_LABEL>")]
    pub file_sha256: Option<String>,
    /// Program that runs the package.
    #[serde(default, deserialize_with = "deserialize_exact::<_, MAX_LABEL>")]
    pub runtime_hint: Option<String>,
    /// Transport; stdio if missing.
    #[serde(default)]
    pub transport: Option<RemoteTransport>,
    /// Arguments for the program that runs the package.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_VALUES>")]
    pub runtime_arguments: Vec<DescribedArgument>,
    /// Arguments for the package itself.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_VALUES>")]
    pub package_arguments: Vec<DescribedArgument>,
    /// Environment variables of the server's process.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_VALUES>")]
    pub environment_variables: Vec<NamedInput>,
    /// Steps that the publisher asks for after the installation: shown, never run.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_EXTRAS>")]
    pub post_install_instructions: Vec<PostInstallStep>,
}

/// A step that a publisher asks for after the installation (draft of the schema).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PostInstallStep {
    /// Description of the step.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_SHOWN>")]
    pub description: Option<String>,
    /// Command for the step.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_SHOWN>")]
    pub command: Option<String>,
}

/// A transport: the address of a remote server, or the transport of a package (`RemoteTransport`, `LocalTransport`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RemoteTransport {
    /// `streamable-http`, `sse`, or `stdio` for a package.
    #[serde(rename = "type", deserialize_with = "deserialize_required::<_, MAX_LABEL>")]
    pub kind: String,
    /// URL, with `{name}` for variables.
    #[serde(default, deserialize_with = "deserialize_exact::<_, MAX_ADDRESS>")]
    pub url: Option<String>,
    /// Headers of each request.
    #[serde(default, deserialize_with = "deserialize_list::<_, _, MAX_VALUES>")]
    pub headers: Vec<NamedInput>,
    /// Variables of the URL, by name.
    #[serde(default, deserialize_with = "deserialize_map::<_, _, MAX_VARIABLES>")]
    pub variables: IndexMap<String, InputDefinition>,
}
