//! How the revision is found: the probe, `initialize`, and what a server may answer to them.
//!
//! Sources: `basic/versioning` of 2026-07-28 (stdio), `basic/lifecycle` of the older revisions.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::jsonrpc::{RawJson, RpcError, code, escape};
use crate::revision::Revision;
use crate::types::{Implementation, Map, ServerCapabilities};

use super::timers::{due, later};
use super::wire::Purpose;
use super::{CallError, CloseReason, Facts, Opening, OpeningFault, Session, SessionEvent, meta, results};

/// Where the session is in its life.
#[derive(Debug)]
pub(super) enum Phase {
    /// `server/discover` waits for its answer.
    Probing { id: i64, until: Option<Instant>, again: bool },
    /// `initialize` waits for its answer.
    Initializing { id: i64, offered: Revision, until: Option<Instant>, again: bool },
    /// Calls can be made.
    Ready,
    /// No common ground was found, for this cause.
    Failed(String),
    /// It is over.
    Closed(CloseReason),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DiscoverResult {
    supported_versions: Vec<String>,
    capabilities: ServerCapabilities,
    instructions: Option<String>,
    result_type: Option<String>,
    #[serde(rename = "_meta", default)]
    meta: Option<Map>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult {
    protocol_version: String,
    capabilities: Option<ServerCapabilities>,
    server_info: Option<Implementation>,
    instructions: Option<String>,
}

impl Session {
    pub(super) fn open(&mut self, now: Instant) {
        match self.config.opening {
            Opening::Probe => self.probe(false, now),
            Opening::Initialize => self.initialize(Revision::NEWEST_LEGACY, false, now),
            Opening::Pinned(revision) if revision.is_modern() => self.probe(false, now),
            Opening::Pinned(revision) => self.initialize(revision, false, now),
        }
    }

    fn probe(&mut self, again: bool, now: Instant) {
        let params = json!({ "_meta": meta::request_meta(&self.config, Revision::NEWEST, None, None) });
        let id = self.request(Purpose::Probe, "server/discover", Some(&params));
        self.phase = Phase::Probing { id, until: later(now, self.config.timeouts.probe), again };
    }

    fn initialize(&mut self, offered: Revision, again: bool, now: Instant) {
        let params = meta::initialize_params(&self.config, offered);
        let id = self.request(Purpose::Initialize, "initialize", Some(&params));
        self.phase = Phase::Initializing { id, offered, until: later(now, self.config.timeouts.initialize), again };
    }

    /// The server does not know the probe. Any error but the modern ones means that, and so does silence.
    fn fall_back(&mut self, because: &str, now: Instant) {
        match self.config.opening {
            Opening::Pinned(revision) => self.fail_opening(format!("it has to speak {revision}, but {because}")),
            Opening::Probe | Opening::Initialize => self.initialize(Revision::NEWEST_LEGACY, false, now),
        }
    }

    pub(super) fn probe_answered(&mut self, answer: Result<RawJson, RpcError>, now: Instant) {
        match answer {
            Ok(raw) => match results::object(&raw).and_then(results::read::<DiscoverResult>) {
                Ok(found) if found.result_type.as_deref().is_none_or(|kind| kind == "complete") => {
                    self.discovered(found, now);
                }
                Ok(_) => self.fall_back("its answer to `server/discover` is not complete", now),
                Err(cause) => self.fall_back(&format!("its answer to `server/discover` does not fit: {cause}"), now),
            },
            Err(error) if error.code == code::UNSUPPORTED_VERSION => {
                let versions = supported(&error).unwrap_or_default();
                let again = matches!(self.phase, Phase::Probing { again: true, .. });
                if !again && versions.iter().any(|version| version == Revision::NEWEST.as_str()) {
                    self.probe(true, now);
                } else {
                    self.settle_for_legacy(&versions, Some(&error), now);
                }
            }
            Err(error) if matches!(error.code, code::MISSING_CAPABILITY | code::HEADER_MISMATCH) => {
                self.fail_opening(format!("it refused `server/discover`: {}", quote(&error)));
            }
            Err(error) => self.fall_back(&format!("it does not know `server/discover`: {}", quote(&error)), now),
        }
    }

    fn discovered(&mut self, found: DiscoverResult, now: Instant) {
        if !found.supported_versions.iter().any(|version| version == Revision::NEWEST.as_str()) {
            return self.settle_for_legacy(&found.supported_versions, None, now);
        }
        let server = found.meta.and_then(|mut meta| meta.shift_remove(meta::SERVER));
        let facts = Facts {
            revision: Revision::NEWEST,
            // A claim for display; one of the wrong shape is no reason to refuse the server.
            server: server.and_then(|info| serde_json::from_value(info).ok()),
            capabilities: found.capabilities,
            instructions: found.instructions,
        };
        self.ready(facts, now);
        self.listen_anew();
    }

    /// A modern server that does not speak our modern revision: perhaps an older one that we share.
    fn settle_for_legacy(&mut self, versions: &[String], error: Option<&RpcError>, now: Instant) {
        let best = best_legacy(versions);
        match (self.config.opening, best) {
            (Opening::Probe | Opening::Initialize, Some(revision)) => self.initialize(revision, true, now),
            _ => {
                let said = error.map(|error| format!("; it said: {}", quote(error))).unwrap_or_default();
                self.fail_opening(format!("{}{said}", no_common_version(versions, self.config.opening)));
            }
        }
    }

    pub(super) fn initialize_answered(&mut self, answer: Result<RawJson, RpcError>, now: Instant) {
        let Phase::Initializing { offered, again, .. } = self.phase else { return };
        let pinned = matches!(self.config.opening, Opening::Pinned(_));
        let found = match answer {
            Ok(raw) => results::object(&raw).and_then(results::read::<InitializeResult>),
            Err(error) => {
                let versions = supported(&error);
                let other = versions.as_deref().and_then(best_legacy).filter(|best| *best != offered);
                return match (other, versions) {
                    (Some(revision), _) if !again && !pinned => self.initialize(revision, true, now),
                    (_, Some(versions)) => self.fail_opening(format!(
                        "{}; it said: {}",
                        no_common_version(&versions, self.config.opening),
                        quote(&error)
                    )),
                    (_, None) => self.fail_opening(format!("it refused `initialize`: {}", quote(&error))),
                };
            }
        };
        let found = match found {
            Ok(found) => found,
            Err(cause) => return self.fail_opening(format!("its answer to `initialize` does not fit: {cause}")),
        };
        let agreed = found.protocol_version.parse().ok().filter(|revision: &Revision| !revision.is_modern());
        match agreed {
            Some(revision) if !pinned || revision == offered => {
                self.ready(
                    Facts {
                        revision,
                        server: found.server_info,
                        capabilities: found.capabilities.unwrap_or_default(),
                        instructions: found.instructions,
                    },
                    now,
                );
            }
            _ => self.fail_opening(no_common_version(&[found.protocol_version], self.config.opening)),
        }
    }

    fn ready(&mut self, facts: Facts, now: Instant) {
        if !facts.revision.is_modern() {
            self.tell("notifications/initialized", None);
        }
        self.phase = Phase::Ready;
        self.facts = Some(facts.clone());
        self.events.push(SessionEvent::Ready(facts));
        self.last_output = None;
        self.liveness.start(self.config.timeouts.ping_interval, now);
    }

    /// The probe or `initialize` got an answer that cannot be read.
    pub(super) fn opening_unreadable(&mut self, purpose: Purpose, error: &CallError, now: Instant) {
        if purpose == Purpose::Probe {
            self.fall_back(&error.to_string(), now);
        } else {
            self.fail_opening(format!("the answer to `initialize`: {error}"));
        }
    }

    pub(super) fn expire_opening(&mut self, now: Instant) {
        match self.phase {
            Phase::Probing { id, until, .. } if due(until, now) => {
                // Not cancelled: nothing but pings may come before the answer to `initialize`.
                self.wire.give_up(id);
                let waited = self.config.timeouts.probe;
                self.fall_back(&format!("it gave no answer to `server/discover` within {waited:?}"), now);
            }
            Phase::Initializing { id, until, .. } if due(until, now) => {
                self.wire.give_up(id);
                let waited = self.config.timeouts.initialize;
                let cause = format!("no answer to `initialize` within {waited:?}");
                self.opening_failed(cause, OpeningFault::NoAnswer);
            }
            _ => {}
        }
    }

    fn fail_opening(&mut self, cause: String) {
        self.opening_failed(cause, OpeningFault::Refused);
    }

    fn opening_failed(&mut self, mut cause: String, fault: OpeningFault) {
        if let Some(output) = self.last_output.take() {
            cause = format!("{cause}. The last it wrote was {output}");
        }
        self.phase = Phase::Failed(cause.clone());
        self.events.push(SessionEvent::OpeningFailed { cause: cause.clone(), fault });
        self.end_all_calls(&CloseReason::OpeningFailed(cause));
    }

    /// The connection ended while it was opening.
    pub(super) fn closed_while_opening(&mut self, reason: &CloseReason) {
        let (asked, probing) = match self.phase {
            Phase::Probing { .. } => ("server/discover", true),
            Phase::Initializing { .. } => ("initialize", false),
            Phase::Ready | Phase::Failed(_) | Phase::Closed(_) => return,
        };
        if *reason != CloseReason::StoppedByUser {
            let on_probe = probing && self.config.opening == Opening::Probe;
            let fault = if on_probe { OpeningFault::ExitedOnProbe } else { OpeningFault::Exited };
            self.opening_failed(format!("{reason} before it answered `{asked}`"), fault);
        }
    }
}

/// `data.supported` of an error about versions.
fn supported(error: &RpcError) -> Option<Vec<String>> {
    let versions = error.data.as_ref()?.get("supported")?.as_array()?;
    Some(versions.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn best_legacy(versions: &[String]) -> Option<Revision> {
    versions.iter().filter_map(|version| version.parse().ok()).filter(|revision: &Revision| !revision.is_modern()).max()
}

fn quote(error: &RpcError) -> String {
    escape(&error.to_string(), 500)
}

fn no_common_version(theirs: &[String], opening: Opening) -> String {
    let theirs = if theirs.is_empty() { "no version that it names".into() } else { escape(&theirs.join(", "), 300) };
    let ours = match opening {
        Opening::Pinned(revision) => revision.to_string(),
        Opening::Probe | Opening::Initialize => Revision::ALL.map(Revision::as_str).join(", "),
    };
    format!("no common protocol version: it speaks {theirs}; this client speaks {ours}")
}
