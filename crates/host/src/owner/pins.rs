//! What the user has seen of each server: pinned when it is approved or reviewed, kept in `pins.json`, and compared with what
//! is there now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use credentials::sign_in::SignInEndpoint;
use mcp_proto::types::Tool;
use offers::review::{Identity, Kind, Pins, ServerPins};
use packages::LoadedPackage;
use policy::{Hash, Standing};
use ports::Document;
use ports::server_config::{AuthConfig, AuthField, HttpConfig, SandboxConfig, ServerTransport, StdioConfig};
use ports::time::now;
use process::{FileState, LaunchFile, LaunchFiles};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::Owner;
use super::audit::Decided;
use crate::view::HostEvent;

/// A definition that the user has looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// A tool or a prompt.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The hash of what was shown.
    pub hash: String,
}

/// Why a review could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReviewError {
    /// There is no such server.
    #[error("there is no server \"{0}\"")]
    NotFound(String),
    /// It does not run.
    #[error("{0} is not running, so what it offers is not known; start it first")]
    NotRunning(String),
    /// Something is not as it was shown.
    #[error("not as it was shown any more: {}; look at it again", .0.join(", "))]
    Stale(Vec<String>),
    /// There are as many pinned definitions as may be.
    #[error("more definitions of {0} are kept than may be; those that are new go on asking")]
    Full(String),
    /// The decision could not be written down.
    #[error("the audit log can't be written, so nothing was reviewed")]
    Audit,
}

impl Owner {
    /// A server is started, or connected to, as it was approved: that is what the user has seen of it.
    pub(super) fn pin_identity(&mut self, server: &str, approved: &Hash) {
        let Some(record) = self.servers.records.get_mut(server) else { return };
        record.offer.identity = Some(approved.clone());
        let parts = match &record.config.transport {
            ServerTransport::Stdio(config) => {
                let Some((program, _)) = &record.launch.found else { return };
                let command = record.launch.command.as_ref().unwrap_or(config);
                command_parts(command, program, record.launch.files.as_ref(), record.launch.package.as_ref())
            }
            ServerTransport::Http(config) => address_parts(config),
        };
        let pinned = self.reviews.pins.get(server).and_then(|pins| pins.identity.as_ref());
        if pinned.is_none_or(|pinned| pinned.hash != *approved || pinned.parts != parts) {
            let identity = Identity { hash: approved.clone(), parts, at: now() };
            self.change_pins(server, self.is_of_a_person(), move |pins| pins.pin_identity(identity.clone()));
        }
    }

    /// A call of a tool was approved: the user has seen its definition.
    pub(super) fn pin_tool(&mut self, server: &str, tool: &Tool) {
        self.pin(server, Kind::Tool, &tool.name, &json!(tool));
    }

    /// Who issues the tokens for a server was approved.
    pub(super) fn pin_issuer(&mut self, server: &str, issuer: &str) {
        if self.reviews.pins.get(server).and_then(|pins| pins.issuer.as_deref()) != Some(issuer) {
            let issuer = issuer.to_owned();
            self.change_pins(server, self.is_of_a_person(), move |pins| pins.pin_issuer(&issuer));
        }
    }

    /// Where the credentials and tokens of a sign-in go was approved.
    pub(super) fn pin_endpoints(&mut self, server: &str, endpoints: &[SignInEndpoint]) {
        let endpoints = endpoint_parts(endpoints);
        if self.reviews.pins.get(server).is_none_or(|pins| pins.endpoints != endpoints) {
            let lasts = self.is_of_a_person();
            self.change_pins(server, lasts, move |pins| pins.endpoints.clone_from(&endpoints));
        }
    }

    /// Whether there was room.
    fn pin(&mut self, server: &str, kind: Kind, name: &str, definition: &Value) -> bool {
        let identity = self.servers.records.get(server).and_then(|record| record.offer.identity.clone());
        let hash = Hash::of(definition);
        if let Some(pins) = self.reviews.pins.get(server)
            && pins.standing(kind, name, &hash, identity.as_ref()) == Standing::Reviewed
        {
            return true;
        }
        let (at, lasts) = (now(), self.is_of_a_person());
        let (name, definition) = (name.to_owned(), definition.clone());
        self.change_pins(server, lasts, move |pins| pins.pin(kind, &name, &definition, identity.as_ref(), at))
    }

    /// Whether what is approved was seen by a person. What a script answers holds while the script runs.
    fn is_of_a_person(&self) -> bool {
        self.options.decides == "user"
    }

    /// Changes what is kept of a server, here and, if it lasts, in the file. What else is in the file stays: another host (the app beside a
    /// terminal) may have written it.
    pub(super) fn change_pins<T>(
        &mut self,
        server: &str,
        lasts: bool,
        mut change: impl FnMut(&mut ServerPins) -> T + Send + 'static,
    ) -> T {
        let changed = change(Arc::make_mut(self.reviews.pins.entry(server.to_owned()).or_default()));
        if let Some(record) = self.servers.records.get_mut(server) {
            record.offer.definitions = Default::default();
            record.offer.pinned_names = Default::default();
        }
        self.permissions.judgement += 1;
        if !lasts {
            return changed;
        }
        let server = server.to_owned();
        let failure = "pins could not be written; they hold until Drawbridge ends";
        self.write_later(Document::Pins, failure, move |kept| {
            let mut kept: Map<String, Value> =
                kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default();
            let own = kept.get(&server).and_then(|own| serde_json::from_value(own.clone()).ok());
            let mut own: ServerPins = own.unwrap_or_default();
            change(&mut own);
            if let Ok(own) = serde_json::to_value(&own) {
                kept.insert(server.clone(), own);
            }
            kept.into()
        });
        changed
    }

    pub(super) fn forget_pins(&mut self, server: &str) {
        if self.reviews.pins.remove(server).is_some() {
            self.write_entry_later(Document::Pins, "the pins of a removed server could not be removed", server, None);
        }
    }

    /// The user has looked at these definitions: they are pinned, if all are as they were shown.
    pub(crate) fn review(&mut self, server: &str, seen: &[Seen], reply: oneshot::Sender<Result<(), ReviewError>>) {
        let definitions = match self.as_shown(server, seen) {
            Ok(definitions) => definitions,
            Err(error) => {
                // Whoever asked may have gone away, here and below.
                let _ = reply.send(Err(error));
                return;
            }
        };
        let words: Vec<String> = seen.iter().map(|seen| format!("{} {}", seen.kind.words(), seen.name)).collect();
        let (subject, hash) = (words.join(", "), Hash::of(&json!(definitions)));
        let decided = Decided {
            server,
            kind: "review",
            subject: &subject,
            decision: "allowed",
            by: self.options.decides,
            hash: hash.as_str(),
            ..Decided::default()
        };
        let (identity, at) = (self.servers.records.get(server).and_then(|record| record.offer.identity.clone()), now());
        let reviewed: Vec<(Kind, String, Value)> =
            seen.iter().zip(definitions).map(|(seen, definition)| (seen.kind, seen.name.clone(), definition)).collect();
        let server = server.to_owned();
        self.audit(decided, move |owner, written| {
            if written.is_err() {
                let _ = reply.send(Err(ReviewError::Audit));
                return;
            }
            // Whoever says this means it, also in a script.
            let has_room = owner.change_pins(&server, true, move |pins| {
                reviewed.iter().all(|(kind, name, definition)| pins.pin(*kind, name, definition, identity.as_ref(), at))
            });
            owner.mark_questions_again(&server);
            owner.events.emit(HostEvent::CatalogChanged(server.clone()));
            let _ = reply.send(if has_room { Ok(()) } else { Err(ReviewError::Full(server)) });
        });
    }

    /// These definitions, if all are as they were shown.
    fn as_shown(&self, server: &str, seen: &[Seen]) -> Result<Vec<Value>, ReviewError> {
        let record = self.servers.records.get(server).ok_or_else(|| ReviewError::NotFound(server.to_owned()))?;
        if record.session.connection.is_none() {
            return Err(ReviewError::NotRunning(server.to_owned()));
        }
        let catalog = Arc::clone(&record.offer.catalog);
        let definitions: Vec<Option<Value>> = seen
            .iter()
            .map(|seen| match seen.kind {
                Kind::Tool => catalog.tool(&seen.name).map(|tool| json!(tool)),
                Kind::Prompt => catalog.prompt(&seen.name).map(|prompt| json!(prompt)),
            })
            .collect();
        let is_same = |seen: &Seen, now: &Option<Value>| {
            now.as_ref().is_some_and(|definition| Hash::of(definition).as_str() == seen.hash)
        };
        let pairs = seen.iter().zip(&definitions);
        let stale: Vec<String> =
            pairs.filter(|(seen, now)| !is_same(seen, now)).map(|(seen, _)| seen.name.clone()).collect();
        if stale.is_empty() { Ok(definitions.into_iter().flatten().collect()) } else { Err(ReviewError::Stale(stale)) }
    }

    /// What is kept of what the user saw.
    pub(crate) const fn pins(&self) -> &Pins {
        &self.reviews.pins
    }

    /// The hash of a prompt as it is now, and whether the user has seen it so; none if there is no such prompt.
    pub(super) fn prompt_now(&self, server: &str, prompt: &str) -> Option<(Hash, Standing)> {
        let record = self.servers.records.get(server)?;
        let hash = Hash::of(&json!(record.offer.catalog.prompt(prompt)?));
        let pins = self.reviews.pins.get(server).cloned().unwrap_or_default();
        let standing = pins.standing(Kind::Prompt, prompt, &hash, record.offer.identity.as_ref());
        Some((hash, standing))
    }

    /// The user gets a prompt: they have seen its definition.
    pub(super) fn pin_prompt(&mut self, server: &str, prompt: &str) {
        let definition = self.servers.records.get(server).and_then(|record| record.offer.catalog.prompt(prompt));
        if let Some(definition) = definition {
            self.pin(server, Kind::Prompt, prompt, &json!(definition));
        }
    }
}

/// Whether the user has seen a tool's definition, which has this hash, on this server.
pub(super) fn standing_of(pins: &Pins, server: &str, tool: &str, own: &Hash, identity: Option<&Hash>) -> Standing {
    let standing = |pins: &ServerPins| pins.standing(Kind::Tool, tool, own, identity);
    pins.get(server).map_or(Standing::New, |pins| standing(pins))
}

/// A command in words. Values of variables are often keys, so only their names are in it; that one is another shows in the
/// hash.
pub(super) fn command_parts(
    config: &StdioConfig,
    program: &Path,
    files: Option<&LaunchFiles>,
    package: Option<&LoadedPackage>,
) -> Map<String, Value> {
    let mut parts = Map::new();
    parts.insert("command".to_owned(), json!(config.command));
    parts.insert("program".to_owned(), json!(program.to_string_lossy()));
    parts.insert("file".to_owned(), json!(files.and_then(|files| files.iter().next()).map(program_words)));
    let scripts: Map<String, Value> =
        files.into_iter().flat_map(|files| files.iter().skip(1)).map(file_words).collect();
    if !scripts.is_empty() {
        parts.insert("scripts".to_owned(), Value::Object(scripts));
    }
    parts.insert("arguments".to_owned(), json!(config.args));
    parts.insert("variables".to_owned(), json!(config.env.keys().collect::<Vec<_>>()));
    parts.insert("folder".to_owned(), json!(config.cwd.as_ref().map(|folder| folder.to_string_lossy())));
    if let Some(package) = package {
        parts.insert("package".to_owned(), package.in_json());
    }
    parts.insert("sandbox".to_owned(), json!(config.sandbox.as_ref().map(SandboxConfig::in_json)));
    parts
}

/// The endpoints of a sign-in by what they are for.
pub(super) fn endpoint_parts(endpoints: &[SignInEndpoint]) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::new();
    for endpoint in endpoints {
        let urls: &mut String = parts.entry(format!("endpoint.{}", endpoint.purpose.name())).or_default();
        if !urls.is_empty() {
            urls.push(' ');
        }
        urls.push_str(&endpoint.url);
    }
    parts
}

/// The files that are not as they were in what was approved last, or were not among its files.
pub(super) fn changed_files(pins: &ServerPins, files: &LaunchFiles) -> Vec<PathBuf> {
    let Some(Identity { parts, .. }) = &pins.identity else { return Vec::new() };
    let nothing = Value::Null;
    let (program, scripts) = (parts.get("file").unwrap_or(&nothing), parts.get("scripts").unwrap_or(&nothing));
    let is_changed = |(at, file): &(usize, &LaunchFile)| {
        if *at == 0 {
            return *program != json!(program_words(file));
        }
        let (path, words) = file_words(file);
        scripts.get(&path) != Some(&words)
    };
    files.iter().enumerate().filter(is_changed).map(|(_, file)| file.path.clone()).collect()
}

/// A program by where it really lies, and as it is.
fn program_words(program: &LaunchFile) -> String {
    format!("{}, {}", program.real.display(), state_words(program))
}

/// A script by its path, and as it is.
fn file_words(file: &LaunchFile) -> (String, Value) {
    (file.path.display().to_string(), json!(state_words(file)))
}

fn state_words(file: &LaunchFile) -> String {
    match &file.state {
        FileState::Content(hash) => format!("SHA-256 {hash}"),
        FileState::Stamp(stamp) => format!("{} bytes, changed at {}", stamp.bytes, stamp.modified),
    }
}

/// An address in words, without the values of headers.
pub(super) fn address_parts(config: &HttpConfig) -> Map<String, Value> {
    let mut parts = Map::new();
    parts.insert("url".to_owned(), json!(config.shown_url()));
    parts.insert("headers".to_owned(), json!(config.headers.keys().collect::<Vec<_>>()));
    parts.insert("transport".to_owned(), json!(config.kind.map(ports::server_config::HttpKind::name)));
    // The key of the issuer is always there, as in what was pinned before the other settings were.
    parts.insert(AuthField::Issuer.key().to_owned(), Value::Null);
    parts.extend(config.auth.as_ref().map(AuthConfig::terms_by_key).unwrap_or_default());
    parts
}
