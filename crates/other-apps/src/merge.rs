//! Merges the servers found in several apps, and compares them with the configured ones. Equal servers are merged into
//! one, and different ones get different names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use ports::server_config::{AuthConfig, ImportNote, ImportNoteKind, ServerConfig, ServerEntry, ServerTransport};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use crate::apps::find_source_app;
use crate::bridged_servers::program_name;
use crate::found_server::{FoundServer, ImportStatus, MAX_SERVER_NOTES, PendingSecret, ValueSource};
use crate::notes::{printable_note, quoted_text};
use crate::server_names::TakenNames;

/// Words by which notes about differences between merged servers refer to the sign-in settings.
const SIGN_IN_DIFFERENCE_TEXT: &str = "how to sign in";

/// The data that two found servers must have in common to be merged: program name, arguments, working directory and
/// variable names of a local server, or the URL of a remote one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ServerIdentity {
    Local { program: String, args: Vec<String>, cwd: Option<PathBuf>, variables: BTreeSet<String> },
    Remote(String),
}

fn server_identity<'n>(config: &ServerConfig, variables: impl Iterator<Item = &'n String>) -> ServerIdentity {
    match &config.transport {
        ServerTransport::Stdio(config) => {
            let program = program_name(&config.command).to_lowercase();
            // The option to load a package without confirmation is not part of the comparison.
            let is_consent = |word: &&String| program == "npx" && matches!(word.as_str(), "-y" | "--yes");
            let args = config.args.iter().filter(|word| !is_consent(word)).cloned().collect();
            ServerIdentity::Local { args, cwd: config.cwd.clone(), variables: variables.cloned().collect(), program }
        }
        ServerTransport::Http(config) => {
            let address = Url::parse(&config.url).map_or_else(|_| config.url.clone(), |url| url.to_string());
            ServerIdentity::Remote(address.trim_end_matches('/').to_owned())
        }
    }
}

/// Merges those of the found servers that are equal, and sets the status of each by comparing it with the configured
/// servers. The order in which the servers were found is retained.
pub(crate) fn merge_servers(found: Vec<FoundServer>, configured: &[ServerEntry]) -> Vec<FoundServer> {
    // Each configured server matches only one found server, since of two accounts one may not be configured yet.
    let mut known: HashMap<ServerIdentity, Vec<&ServerEntry>> = HashMap::new();
    for entry in configured {
        let nothing = Default::default();
        let variables = entry.config.as_stdio().map_or(&nothing, |config| &config.env);
        known.entry(server_identity(&entry.config, variables.keys())).or_default().push(entry);
    }
    let mut rows: Vec<FoundServer> = Vec::new();
    let mut by_identity: HashMap<ServerIdentity, Vec<usize>> = HashMap::new();
    for server in found {
        if server.status == ImportStatus::Unsupported {
            rows.push(server);
            continue;
        }
        let identity = server_identity(&server.config, server.env.keys());
        let equal = by_identity.entry(identity).or_default();
        match equal.iter().copied().find(|row| is_same_server(&rows[*row], &server)) {
            Some(row) => merge_equal_servers(&mut rows[row], server),
            None => {
                equal.push(rows.len());
                rows.push(server);
            }
        }
    }
    // First matches servers with the same name, then any server with the same visible values.
    for by_name in [true, false] {
        for row in rows.iter_mut().filter(|row| row.status == ImportStatus::New) {
            let Some(equal) = known.get_mut(&server_identity(&row.config, row.env.keys())) else { continue };
            if let Some(at) = equal.iter().position(|entry| match by_name {
                true => entry.name == row.name,
                false => matches_configured(row, entry),
            }) {
                row.status = ImportStatus::Same;
                let name = &equal.remove(at).name;
                let note =
                    ImportNote::new(ImportNoteKind::SetUpHere, format!("it is set up here as {}", quoted_text(name)));
                row.notes.push(printable_note(&note.with_names([name])));
            }
        }
    }
    let here = TakenNames::new(configured.iter().map(|entry| &entry.name));
    let mut taken = TakenNames::new(configured.iter().map(|entry| &entry.name));
    for row in rows.iter_mut().filter(|row| row.status == ImportStatus::New) {
        let name = taken.reserve(&row.name);
        if name != row.name {
            let is_set_up = here.contains(&row.name);
            if is_set_up {
                row.status = ImportStatus::Conflict;
            }
            let (kind, whose) = match is_set_up {
                true => (ImportNoteKind::NameTaken, "here"),
                false => (ImportNoteKind::NameShared, "in another place"),
            };
            let note = ImportNote::new(kind, format!("{} is another server {whose}", quoted_text(&row.name)));
            row.notes.push(printable_note(&note.with_names([&row.name])));
        }
        row.name = name;
    }
    rows
}

/// Returns `true` if a found server and a configured one have variables and headers of the same names, with equal
/// values. Values that are secret are not compared.
fn matches_configured(row: &FoundServer, entry: &ServerEntry) -> bool {
    let there = transport_values(&entry.config);
    let names: BTreeSet<&String> = row.env.keys().chain(row.headers.keys()).collect();
    names == there.keys().collect()
        && transport_values(&row.config).iter().all(|(name, value)| there.get(name) == Some(value))
}

fn transport_values(config: &ServerConfig) -> &BTreeMap<String, String> {
    match &config.transport {
        ServerTransport::Stdio(config) => &config.env,
        ServerTransport::Http(config) => &config.headers,
    }
}

/// Returns `true` if two found servers with the same [`ServerIdentity`] are to be merged. If they are in the same file,
/// both their names and their values must be equal, since the file may contain one server for each of several projects.
/// Otherwise either is enough: if both differ, they are two accounts.
fn is_same_server(row: &FoundServer, server: &FoundServer) -> bool {
    let is_one_file = row.origins.iter().any(|one| server.origins.iter().any(|other| one.file == other.file));
    let is_one_name = row.origins.iter().any(|one| server.origins.iter().any(|other| one.name == other.name));
    if is_one_file { is_one_name && has_same_values(row, server) } else { is_one_name || has_same_values(row, server) }
}

/// A value of a variable or header, which can be compared with the value in another found server.
#[derive(Debug)]
enum ComparableValue<'f> {
    Plain(&'f str),
    Secret(&'f SecretString),
    Pending(&'f PendingSecret),
}

impl PartialEq for ComparableValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Plain(one), Self::Plain(other)) => one == other,
            (Self::Secret(one), Self::Secret(other)) => one.expose_secret() == other.expose_secret(),
            (Self::Pending(one), Self::Pending(other)) => one == other,
            _ => false,
        }
    }
}

/// A variable or header, which can be compared with that of another found server.
#[derive(Debug)]
struct ComparableEntry<'f> {
    name: &'f String,
    value: ComparableValue<'f>,
    source: Option<&'f ValueSource>,
}

impl ComparableEntry<'_> {
    /// Returns `true` if the values are equal, and the places from which an import can take them don't differ.
    fn has_same_value(&self, other: &Self) -> bool {
        let sources = self.source.zip(other.source);
        self.value == other.value && sources.is_none_or(|(source, other)| source.has_value_of(other))
    }
}

/// Returns the values of all variables and headers of a server by name, with header names in lower case, since they are
/// case-insensitive.
fn comparable_values(server: &FoundServer) -> BTreeMap<String, ComparableEntry<'_>> {
    let is_remote = matches!(server.config.transport, ServerTransport::Http(_));
    let key = |name: &String| if is_remote { name.to_ascii_lowercase() } else { name.clone() };
    let plain = transport_values(&server.config).iter().map(|(name, value)| (name, ComparableValue::Plain(value)));
    let secrets = server.secrets.iter().map(|(name, value)| (name, ComparableValue::Secret(value)));
    let pending = server.pending.iter().map(|(name, value)| (name, ComparableValue::Pending(value)));
    let values = plain.chain(secrets).chain(pending);
    values.map(|(name, value)| (key(name), ComparableEntry { name, value, source: server.sources.get(name) })).collect()
}

fn has_same_values(one: &FoundServer, other: &FoundServer) -> bool {
    let (one_given, other_given) = (comparable_values(one), comparable_values(other));
    one_given.len() == other_given.len()
        && one_given.iter().all(|(key, entry)| other_given.get(key).is_some_and(|other| entry.has_same_value(other)))
        && auth_config(one) == auth_config(other)
        && one.client_secret.as_ref().map(SecretString::expose_secret)
            == other.client_secret.as_ref().map(SecretString::expose_secret)
}

fn auth_config(server: &FoundServer) -> Option<&AuthConfig> {
    server.config.as_http().and_then(|http| http.auth.as_ref())
}

fn quoted_list(names: &[String]) -> String {
    names.iter().map(|name| quoted_text(name)).collect::<Vec<_>>().join(", ")
}

/// Copies to `row` the values and sign-in settings that only the equal server `server` has. Values that `row` has are
/// not replaced.
fn add_missing_values(row: &mut FoundServer, server: &mut FoundServer) {
    let (mut lacking, mut different) = (Vec::new(), Vec::new());
    {
        let there = comparable_values(row);
        for (key, entry) in comparable_values(server) {
            match there.get(&key) {
                None => lacking.push(entry.name.clone()),
                Some(of_row) if !of_row.has_same_value(&entry) => different.push(entry.name.clone()),
                Some(_) => {}
            }
        }
    }
    for name in &lacking {
        let (to, from) = match (&mut row.config.transport, &server.config.transport) {
            (ServerTransport::Stdio(to), ServerTransport::Stdio(from)) => (&mut to.env, &from.env),
            (ServerTransport::Http(to), ServerTransport::Http(from)) => (&mut to.headers, &from.headers),
            _ => return,
        };
        to.extend(from.get(name).map(|value| (name.clone(), value.clone())));
        row.secrets.extend(server.secrets.remove_entry(name));
        row.pending.extend(server.pending.remove_entry(name));
        row.sources.extend(server.sources.remove_entry(name));
        row.env.extend(server.env.remove_entry(name));
        row.headers.extend(server.headers.remove_entry(name));
    }
    if let (ServerTransport::Http(to), ServerTransport::Http(from)) =
        (&mut row.config.transport, &mut server.config.transport)
    {
        if to.auth.is_none() && row.client_secret.is_none() {
            if from.auth.is_some() || server.client_secret.is_some() {
                lacking.push(String::from(SIGN_IN_DIFFERENCE_TEXT));
            }
            to.auth = from.auth.take();
            row.client_secret = server.client_secret.take();
        } else if from.auth.is_some() && to.auth != from.auth {
            different.push(String::from(SIGN_IN_DIFFERENCE_TEXT));
        }
    }
    if !lacking.is_empty() {
        let note = format!("taken from another app, because the first app has no value: {}", quoted_list(&lacking));
        row.notes.push(printable_note(&ImportNote::new(ImportNoteKind::Merged, note).with_names(lacking)));
    }
    if !different.is_empty() {
        let note =
            format!("values differ between its apps ({}); those of the first app are used", quoted_list(&different));
        row.notes.push(printable_note(&ImportNote::new(ImportNoteKind::Different, note).with_names(different)));
    }
}

/// Merges the found server `server` into the equal found server `row`. Only the tools that both lists admit are
/// offered.
fn merge_equal_servers(row: &mut FoundServer, mut server: FoundServer) {
    add_missing_values(row, &mut server);
    for note in server.notes.drain(..) {
        if !row.notes.contains(&note) && row.notes.len() < MAX_SERVER_NOTES {
            row.notes.push(note);
        }
    }
    for origin in server.origins {
        let app = find_source_app(&origin.app).map_or(origin.app.as_str(), |app| app.name);
        // If both were found in the same file, other notes name their projects.
        if !row.origins.contains(&origin) && row.notes.len() < MAX_SERVER_NOTES {
            let note = format!("also in {app} as {}: {}", quoted_text(&origin.name), origin.file);
            let note = ImportNote::new(ImportNoteKind::AlsoIn, note).with_names([app, origin.name.as_str()]);
            row.notes.push(printable_note(&note));
        }
        row.origins.push(origin);
    }
    row.off &= server.off;
    row.config.autostart &= server.config.autostart;
    let tools = &mut row.config.tools;
    tools.restrict(server.config.tools);
    // Shortened lists would offer models more tools than the apps do.
    if let Some(problem) = tools.problem().filter(|_| row.status != ImportStatus::Unsupported) {
        row.status = ImportStatus::Unsupported;
        row.notes.push(ImportNote::new(ImportNoteKind::Reason, format!("the lists of its apps together: {problem}")));
    }
}
