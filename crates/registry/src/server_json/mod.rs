//! `server.json` and the answers of a registry that hold it, read within bounds. Fields that are not known are left out; forms from before
//! 2025-09-16 are refused. Source: `docs/reference/server-json` and `docs/reference/api` of modelcontextprotocol/registry, schema 2025-12-11.
//!
//! Texts that are only shown are safe to print as they stand here. What is run or sent is as the registry gave it.

pub(crate) mod bounded;
mod input;
pub(crate) mod read;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use bounded::{exact, list, map, needed, shown};
use domain::Millis;

pub use input::{ArgumentKind, DescribedArgument, Input, InputFormat, NamedInput, TemplateInput};
pub use read::{EntryError, Page, UnreadableEntry, read_entry, read_page};

/// The longest name of a server, in bytes.
pub const MAX_NAME: usize = 200;
/// The longest version, in bytes.
pub const MAX_VERSION: usize = 255;
/// The longest text that is only shown, in bytes. The schema allows descriptions of 100 characters; older ones are longer.
pub const MAX_SHOWN: usize = 4_000;
/// The longest name of a variable, argument or header, in bytes.
pub const MAX_LABEL: usize = 200;
/// The longest value, in bytes.
pub const MAX_VALUE: usize = installs::MAX_VALUE;
/// The longest URL or identifier, in bytes.
pub const MAX_ADDRESS: usize = 2_000;
/// The most packages of a server, and the most remotes.
pub const MAX_TARGETS: usize = 50;
/// The most arguments, headers or variables of the environment in one list.
pub const MAX_VALUES: usize = 200;
/// The most variables of one value.
pub const MAX_VARIABLES: usize = 100;
/// The most choices of one input.
pub const MAX_CHOICES: usize = 500;
/// The most icons, steps after installing, or further members of `_meta`.
pub const MAX_EXTRAS: usize = 20;
/// The deepest JSON.
pub const MAX_DEPTH: usize = 32;
/// The largest entry, in bytes.
pub const MAX_ENTRY: usize = 256 * 1024;
/// The most entries of one page.
pub const MAX_PAGE: usize = 1_000;

/// A server in a certain version, as a registry lists it (`ServerResponse`).
#[derive(Debug, Clone, PartialEq)]
pub struct RegistryEntry {
    /// What its publisher says.
    pub server: ServerJson,
    /// What the registry says; none if it says nothing that is known here.
    pub listing: Option<Listing>,
    /// Further members of `_meta` by name, such as ratings: claims of this registry, to be shown as such.
    pub claims: IndexMap<String, Value>,
}

/// What a registry says of one version (`_meta`, `io.modelcontextprotocol.registry/official`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Listing {
    /// Whether it is offered.
    pub status: Status,
    /// Why it has this status.
    #[serde(deserialize_with = "shown::<_, MAX_SHOWN>")]
    pub status_message: Option<String>,
    /// When it got its status.
    #[serde(deserialize_with = "read::time")]
    pub status_changed_at: Option<Millis>,
    /// When it was published.
    #[serde(deserialize_with = "read::time")]
    pub published_at: Option<Millis>,
    /// When its entry changed.
    #[serde(deserialize_with = "read::time")]
    pub updated_at: Option<Millis>,
    /// True if the registry holds it for the newest version.
    pub is_latest: bool,
}

/// Whether a version is offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is.
    #[default]
    Active,
    /// It is, and should not be used any more.
    Deprecated,
    /// It was taken out, mostly for spam or malware.
    Deleted,
    /// It has a status that is not known here.
    #[serde(other)]
    Unknown,
}

/// What a publisher says of a server (`ServerDetail`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerJson {
    /// `namespace/name`: ASCII letters, digits, `.`, `-` and, behind the slash, `_`.
    #[serde(deserialize_with = "needed::<_, MAX_NAME>")]
    pub name: String,
    /// What it does.
    #[serde(default, deserialize_with = "shown::<_, MAX_SHOWN>")]
    pub description: Option<String>,
    /// The version. Any text without control characters and invisible ones.
    #[serde(deserialize_with = "needed::<_, MAX_VERSION>")]
    pub version: String,
    /// A name for people, which nobody checked: never shown without `name`.
    #[serde(default, deserialize_with = "shown::<_, MAX_SHOWN>")]
    pub title: Option<String>,
    /// Its home page.
    #[serde(default, deserialize_with = "shown::<_, MAX_ADDRESS>")]
    pub website_url: Option<String>,
    /// Where its source is said to be.
    #[serde(default)]
    pub repository: Option<Repository>,
    /// Icons. Nothing of them is loaded here.
    #[serde(default, deserialize_with = "list::<_, _, MAX_EXTRAS>")]
    pub icons: Vec<IconLink>,
    /// Programs to install; any one of them is the server.
    #[serde(default, deserialize_with = "list::<_, _, MAX_TARGETS>")]
    pub packages: Vec<Package>,
    /// Addresses where it runs already.
    #[serde(default, deserialize_with = "list::<_, _, MAX_TARGETS>")]
    pub remotes: Vec<Remote>,
}

/// Where the source of a server is said to be. Registries do not check it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Repository {
    /// Its URL.
    #[serde(default, deserialize_with = "shown::<_, MAX_ADDRESS>")]
    pub url: Option<String>,
    /// The service that hosts it, such as `github`.
    #[serde(default, deserialize_with = "shown::<_, MAX_LABEL>")]
    pub source: Option<String>,
    /// The service's id of it: another one under the same URL is another repository.
    #[serde(default, deserialize_with = "shown::<_, MAX_LABEL>")]
    pub id: Option<String>,
    /// The folder in it.
    #[serde(default, deserialize_with = "shown::<_, MAX_ADDRESS>")]
    pub subfolder: Option<String>,
}

/// An icon.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IconLink {
    /// Its URL.
    #[serde(default, deserialize_with = "shown::<_, MAX_ADDRESS>")]
    pub src: Option<String>,
    /// Its media type, as claimed.
    #[serde(default, deserialize_with = "shown::<_, MAX_LABEL>")]
    pub mime_type: Option<String>,
}

/// A program to install (`Package`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// `npm`, `pypi`, `nuget`, `oci`, `mcpb` or another kind.
    #[serde(deserialize_with = "needed::<_, MAX_LABEL>")]
    pub registry_type: String,
    /// The registry of packages, where it is not the usual one.
    #[serde(default, deserialize_with = "exact::<_, MAX_ADDRESS>")]
    pub registry_base_url: Option<String>,
    /// The package's name, an image, or the address of a bundle.
    #[serde(deserialize_with = "needed::<_, MAX_ADDRESS>")]
    pub identifier: String,
    /// The package's version; that of an image stands in `identifier`.
    #[serde(default, deserialize_with = "exact::<_, MAX_VERSION>")]
    pub version: Option<String>,
    /// SHA-256 of the package's file, in hexadecimal.
    #[serde(default, deserialize_with = "exact::<_, MAX_LABEL>")]
    pub file_sha256: Option<String>,
    /// The program that runs it.
    #[serde(default, deserialize_with = "exact::<_, MAX_LABEL>")]
    pub runtime_hint: Option<String>,
    /// The transport; stdio if none is given.
    #[serde(default)]
    pub transport: Option<Remote>,
    /// Arguments for the program that runs it.
    #[serde(default, deserialize_with = "list::<_, _, MAX_VALUES>")]
    pub runtime_arguments: Vec<DescribedArgument>,
    /// Arguments for itself.
    #[serde(default, deserialize_with = "list::<_, _, MAX_VALUES>")]
    pub package_arguments: Vec<DescribedArgument>,
    /// Variables of its environment.
    #[serde(default, deserialize_with = "list::<_, _, MAX_VALUES>")]
    pub environment_variables: Vec<NamedInput>,
    /// What its publisher wants done after installing: shown, never run.
    #[serde(default, deserialize_with = "list::<_, _, MAX_EXTRAS>")]
    pub post_install_instructions: Vec<PostInstallStep>,
}

/// What a publisher wants done after installing (draft of the schema).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PostInstallStep {
    /// What to do.
    #[serde(default, deserialize_with = "shown::<_, MAX_SHOWN>")]
    pub description: Option<String>,
    /// The command for it.
    #[serde(default, deserialize_with = "shown::<_, MAX_SHOWN>")]
    pub command: Option<String>,
}

/// A transport: the address of a remote server, or how a package is talked to (`RemoteTransport`, `LocalTransport`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Remote {
    /// `streamable-http`, `sse`, or `stdio` for a package.
    #[serde(rename = "type", deserialize_with = "needed::<_, MAX_LABEL>")]
    pub kind: String,
    /// The URL, with `{name}` for variables.
    #[serde(default, deserialize_with = "exact::<_, MAX_ADDRESS>")]
    pub url: Option<String>,
    /// Headers of each request.
    #[serde(default, deserialize_with = "list::<_, _, MAX_VALUES>")]
    pub headers: Vec<NamedInput>,
    /// Variables of the URL, by name.
    #[serde(default, deserialize_with = "map::<_, _, MAX_VARIABLES>")]
    pub variables: IndexMap<String, Input>,
}
