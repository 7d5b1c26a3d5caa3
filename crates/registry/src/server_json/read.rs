//! Parses registry responses: a single entry, or a page of entries.

use chrono::DateTime;
use domain::Millis;
use foreign::escape_invisible;
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::bounded::{deserialize_list, deserialize_map, deserialize_unchanged, is_within_depth, one_line};
use super::{
    ListingMetadata, MAX_ADDRESS_BYTES, MAX_ENTRY_BYTES, MAX_JSON_DEPTH, MAX_LABEL_BYTES, MAX_PAGE_ENTRIES,
    MAX_SERVER_NAME_BYTES, MAX_SUPPLEMENTARY_ELEMENTS, MAX_VERSION_BYTES, RegistryEntry, ServerJson,
};

/// Key of the registry's own metadata about a version, in the member `_meta`.
const OFFICIAL_META_KEY: &str = "io.modelcontextprotocol.registry/official";
/// Members that only `server.json` files from before 2025-09-16 have, at the top level or in a package or remote.
const LEGACY_SERVER_JSON_MEMBERS: [&str; 12] = [
    "version_detail",
    "website_url",
    "registry_type",
    "registry_name",
    "registry_base_url",
    "file_sha256",
    "runtime_hint",
    "runtime_arguments",
    "package_arguments",
    "environment_variables",
    "transport_type",
    "is_latest",
];

/// Reason why a registry entry or page can't be used. Messages are escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The data is not JSON, or does not have the expected members. Contains the parser's message.
    #[error("it can't be read: {0}")]
    Unreadable(String),
    /// The JSON or text is larger than this limit in bytes.
    #[error("it is larger than {0} bytes")]
    TooLarge(usize),
    /// The JSON is nested deeper than [`MAX_JSON_DEPTH`](super::MAX_JSON_DEPTH).
    #[error("its JSON is deeper than {MAX_JSON_DEPTH} levels")]
    TooDeep,
    /// The registry entry has this member, which only `server.json` files from before 2025-09-16 have.
    #[error("it has a form from before 2025-09-16 ({0}), which is not read; its publisher has to publish it anew")]
    LegacyFormat(String),
    /// The contained text is not a valid server name of the form `namespace/name`.
    #[error("{0} is not a server name; expected namespace/name")]
    Name(String),
    /// The contained text is not a valid version: it is empty, too long, or contains spaces or invisible characters.
    #[error("{0} is not a version")]
    Version(String),
}

/// A page of a registry's list of servers, or the list of all versions of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryPage {
    /// Valid entries of the page, in the order of the registry.
    pub entries: Vec<RegistryEntry>,
    /// Entries that could not be parsed, each with the reason.
    pub unreadable: Vec<UnreadableEntry>,
    /// Cursor of the next page, or `None` on the last page.
    pub next_cursor: Option<String>,
}

/// An entry of a page that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableEntry {
    /// Name of the server if it can be read, escaped for display.
    pub name: Option<String>,
    /// Reason why the registry entry can't be used.
    pub cause: EntryError,
}

/// Parses a registry's response with one entry (`ServerResponse`).
///
/// # Errors
/// Returns [`EntryError`] if the entry exceeds a limit, has an old or unknown form, or if its name or version is not
/// valid.
pub fn read_entry(json: &[u8]) -> Result<RegistryEntry, EntryError> {
    if json.len() > MAX_ENTRY_BYTES {
        return Err(EntryError::TooLarge(MAX_ENTRY_BYTES));
    }
    if !is_within_depth(json, MAX_JSON_DEPTH) {
        return Err(EntryError::TooDeep);
    }
    let value: Value = serde_json::from_slice(json).map_err(|error| unreadable_error(&error))?;
    if let Some(old) = find_legacy_member(&value) {
        return Err(EntryError::LegacyFormat(old.to_owned()));
    }
    let response: EntryResponse = parse_value(&value)?;
    check_server_name(&response.server.name)?;
    check_server_version(&response.server.version)?;
    let mut claims = response.meta;
    let listing =
        claims.shift_remove(OFFICIAL_META_KEY).map(|official| parse_value::<ListingMetadata>(&official)).transpose()?;
    Ok(RegistryEntry { server: response.server, listing, claims })
}

/// Parses a registry's response with a page of entries (`{servers, metadata}`). Invalid entries are returned
/// separately.
///
/// # Errors
/// Returns [`EntryError`] if the data is not a page, is nested too deeply, or has more than [`MAX_PAGE_ENTRIES`]
/// entries.
pub fn read_page(json: &[u8]) -> Result<EntryPage, EntryError> {
    if !is_within_depth(json, MAX_JSON_DEPTH) {
        return Err(EntryError::TooDeep);
    }
    let read: PageResponse<'_> = serde_json::from_slice(json).map_err(|error| unreadable_error(&error))?;
    let mut page = EntryPage {
        next_cursor: read.metadata.next_cursor.filter(|cursor| !cursor.is_empty()),
        ..EntryPage::default()
    };
    for raw in read.servers {
        match read_entry(raw.get().as_bytes()) {
            Ok(entry) => page.entries.push(entry),
            Err(cause) => page.unreadable.push(UnreadableEntry { name: invalid_entry_name(raw.get()), cause }),
        }
    }
    Ok(page)
}

/// Checks that a text is a valid server name of the form `namespace/name`.
///
/// # Errors
///
/// Returns [`EntryError::Name`] if it is not.
pub(crate) fn check_server_name(name: &str) -> Result<(), EntryError> {
    let allowed = |text: &str, more: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let parts = name.split_once('/');
    let fits = parts.is_some_and(|(namespace, own)| allowed(namespace, ".-") && allowed(own, "._-"));
    if fits && name.len() <= MAX_SERVER_NAME_BYTES { Ok(()) } else { Err(EntryError::Name(quote_untrusted_text(name))) }
}

/// Checks that a text is a valid version. `.` and `..` are invalid, since they would change the path of a request.
///
/// # Errors
/// Returns [`EntryError::Version`] if it is not.
pub(crate) fn check_server_version(version: &str) -> Result<(), EntryError> {
    let is_plain = !version.is_empty() && version.len() <= MAX_VERSION_BYTES && escape_invisible(version) == version;
    let fits = is_plain && !version.contains(char::is_whitespace) && !matches!(version, "." | "..");
    if fits { Ok(()) } else { Err(EntryError::Version(quote_untrusted_text(version))) }
}

/// Quotes an untrusted text for a message, truncated to 80 characters.
pub(crate) fn quote_untrusted_text(text: &str) -> String {
    format!("\"{}\"", shorten_untrusted_text(text))
}

/// Truncates an untrusted text to 80 characters, and escapes its invisible characters.
pub(crate) fn shorten_untrusted_text(text: &str) -> String {
    const MAX_SHOWN_CHARS: usize = 80;
    let mut short: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    escape_invisible(&short).into_owned()
}

/// Deserializes an RFC 3339 time. Invalid times become `None`, since nothing depends on the time alone.
pub(super) fn deserialize_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Millis>, D::Error> {
    let text = deserialize_unchanged::<D, MAX_LABEL_BYTES>(deserializer)?.unwrap_or_default();
    Ok(DateTime::parse_from_rfc3339(&text).ok().and_then(|time| u64::try_from(time.timestamp_millis()).ok()))
}

#[derive(Deserialize)]
struct EntryResponse {
    server: ServerJson,
    #[serde(rename = "_meta", default, deserialize_with = "deserialize_map::<_, _, MAX_SUPPLEMENTARY_ELEMENTS>")]
    meta: IndexMap<String, Value>,
}

#[derive(Deserialize)]
struct PageResponse<'j> {
    #[serde(borrow, deserialize_with = "deserialize_list::<_, _, MAX_PAGE_ENTRIES>")]
    servers: Vec<&'j RawValue>,
    #[serde(default)]
    metadata: PageMetadata,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PageMetadata {
    #[serde(deserialize_with = "deserialize_unchanged::<_, MAX_ADDRESS_BYTES>")]
    next_cursor: Option<String>,
}

fn parse_value<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T, EntryError> {
    serde_path_to_error::deserialize(value).map_err(|error| unreadable_error(&error))
}

fn unreadable_error(error: &dyn std::fmt::Display) -> EntryError {
    EntryError::Unreadable(one_line(&error.to_string()).chars().take(300).collect())
}

/// Returns the name of a member that only registry entries from before 2025-09-16 have, if `entry` has one.
fn find_legacy_member(entry: &Value) -> Option<&'static str> {
    let Some(server) = entry.get("server") else {
        return entry.get("name").map(|_| "the members of the server are outside of \"server\"");
    };
    let inner = ["packages", "remotes"].into_iter().filter_map(|list| server[list].as_array()).flatten();
    let mut places = std::iter::once(server).chain(inner).filter_map(Value::as_object);
    places
        .find_map(|place| LEGACY_SERVER_JSON_MEMBERS.into_iter().find(|member| place.contains_key(*member)))
        .or_else(|| server.get("id").map(|_| "id"))
}

/// Returns the server name in the JSON of an invalid entry, or `None` if it can't be read.
fn invalid_entry_name(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct EntryName {
        #[serde(default)]
        name: Option<String>,
        #[serde(default)]
        server: Option<Box<Self>>,
    }
    let named: EntryName = serde_json::from_str(json).ok()?;
    let name = named.server.and_then(|server| server.name).or(named.name)?;
    Some(quote_untrusted_text(&name))
}
