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
use super::transmit::Extra;
use super::wire::Purpose;
use super::{
    CallError, Carrier, CloseReason, DeliveryFault, Facts, Opening, OpeningFault, Session, SessionEvent, meta, results,
};

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

/// What an opening has tried.
#[derive(Debug, Default)]
pub(super) struct Tried {
    probed: bool,
    /// How the probe failed, if `initialize` came after it.
    probe_said: Option<String>,
    /// How `initialize` failed, if the probe came after it.
    refused: Option<(String, OpeningFault)>,
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
        let sse = self.config.carrier == Carrier::HttpSse;
        match self.config.opening {
            Opening::Pinned(revision) if revision.is_modern() && sse => {
                self.fail_opening(format!("it has to speak {revision}, which HTTP+SSE does not carry"));
            }
            Opening::Pinned(revision) if revision.is_modern() => self.probe(false, now),
            Opening::Pinned(revision) => self.initialize(revision, false, now),
            // HTTP+SSE is older than the probe.
            Opening::Probe if sse || self.known_legacy() => self.initialize(Revision::NEWEST_LEGACY, false, now),
            Opening::Probe => self.probe(false, now),
            Opening::Initialize => self.initialize(Revision::NEWEST_LEGACY, false, now),
        }
    }

    fn known_legacy(&self) -> bool {
        self.config.known.is_some_and(|revision| !revision.is_modern())
    }

    /// The session is opened a second time, in the era that it had.
    pub(super) fn initialize_anew(&mut self, now: Instant) {
        self.tried = Tried::default();
        match self.config.opening {
            Opening::Pinned(revision) => self.initialize(revision, false, now),
            Opening::Probe | Opening::Initialize => self.initialize(Revision::NEWEST_LEGACY, false, now),
        }
    }

    /// The session is opened a second time, and nothing is taken as known.
    pub(super) fn probe_anew(&mut self, now: Instant) {
        self.tried = Tried::default();
        match self.config.opening {
            Opening::Pinned(_) => self.open(now),
            Opening::Probe | Opening::Initialize => self.probe(false, now),
        }
    }

    fn probe(&mut self, again: bool, now: Instant) {
        self.tried.probed = true;
        let params = json!({ "_meta": meta::request_meta(&self.config, Revision::NEWEST, None, None, None) });
        let id = self.wire.open(Purpose::Probe);
        self.phase = Phase::Probing { id, until: later(now, self.config.timeouts.probe), again };
        self.send_request(id, "server/discover", Some(&params), Extra::default());
    }

    fn initialize(&mut self, offered: Revision, again: bool, now: Instant) {
        let params = meta::initialize_params(&self.config, offered);
        let id = self.wire.open(Purpose::Initialize);
        self.phase = Phase::Initializing { id, offered, until: later(now, self.config.timeouts.initialize), again };
        self.send_request(id, "initialize", Some(&params), Extra::default());
    }

    /// The server does not know the probe. Any error but the modern ones means that, and so does silence.
    fn fall_back(&mut self, because: &str, now: Instant) {
        match (self.config.opening, self.tried.refused.take()) {
            (Opening::Pinned(revision), _) => self.fail_opening(format!("it has to speak {revision}, but {because}")),
            // `initialize` came first, because it was the way the last time.
            (_, Some((cause, fault))) => self.opening_failed(format!("{cause}; and {because}"), fault),
            (Opening::Probe | Opening::Initialize, None) => {
                self.tried.probe_said = Some(because.to_owned());
                self.initialize(Revision::NEWEST_LEGACY, false, now);
            }
        }
    }

    /// The server did not take `initialize`. If that was tried first because it is how the server was
    /// spoken to before, the probe comes now: it may be a newer server.
    fn initialize_failed(&mut self, mut cause: String, fault: OpeningFault, now: Instant) {
        let pinned = matches!(self.config.opening, Opening::Pinned(_));
        let was_guess = self.is_reopening() || (self.config.opening == Opening::Probe && self.known_legacy());
        if !pinned && was_guess && !self.tried.probed && self.config.carrier != Carrier::HttpSse {
            self.tried.refused = Some((cause, fault));
            return self.probe(false, now);
        }
        if let Some(said) = self.tried.probe_said.take().filter(|_| self.config.carrier == Carrier::StreamableHttp) {
            cause = format!("{cause}; before, {said}");
        }
        self.opening_failed(cause, fault);
    }

    pub(super) fn probe_undelivered(&mut self, fault: &DeliveryFault, now: Instant) {
        match fault {
            DeliveryFault::Status { code: 401 | 403, .. } => {
                self.opening_failed(fault.to_string(), OpeningFault::Unauthorized);
            }
            DeliveryFault::Status { error: Some(error), .. } if is_modern(error) => {
                self.probe_answered(Err(error.clone()), now);
            }
            DeliveryFault::Status { code: 408 | 425 | 429 | 502..=504, .. } => {
                self.opening_failed(fault.to_string(), OpeningFault::ServerError);
            }
            DeliveryFault::Unreachable { .. } => {
                self.opening_failed(fault.to_string(), OpeningFault::Unreachable);
            }
            // Old servers fail in many ways on what they do not know.
            fault => self.fall_back(&format!("`server/discover` failed: {fault}"), now),
        }
    }

    pub(super) fn initialize_undelivered(&mut self, fault: &DeliveryFault, now: Instant) {
        let cause = format!("`initialize` failed: {fault}");
        match fault {
            DeliveryFault::Status { code: 401 | 403, .. } => self.opening_failed(cause, OpeningFault::Unauthorized),
            DeliveryFault::Status { error: Some(error), .. } if supported(error).is_some() => {
                self.initialize_answered(Err(error.clone()), now);
            }
            DeliveryFault::Status { code: 408 | 425 | 429 | 500..=599, .. } | DeliveryFault::Lost { .. } => {
                self.opening_failed(cause, OpeningFault::ServerError);
            }
            DeliveryFault::Status { code: 400..=499, .. } if self.config.carrier == Carrier::StreamableHttp => {
                self.initialize_failed(cause, OpeningFault::NotStreamable, now);
            }
            DeliveryFault::Unreachable { .. } => self.opening_failed(cause, OpeningFault::Unreachable),
            DeliveryFault::Status { .. } | DeliveryFault::Unusable { .. } => {
                self.initialize_failed(cause, OpeningFault::Refused, now);
            }
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
            Err(error) if is_modern(&error) => {
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
                    (_, Some(versions)) => {
                        let none = no_common_version(&versions, self.config.opening);
                        let cause = format!("{none}; it said: {}", quote(&error));
                        self.initialize_failed(cause, OpeningFault::Refused, now);
                    }
                    (_, None) => {
                        let cause = format!("it refused `initialize`: {}", quote(&error));
                        self.initialize_failed(cause, OpeningFault::Refused, now);
                    }
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
        let modern = facts.revision.is_modern();
        self.phase = Phase::Ready;
        self.facts = Some(facts.clone());
        if !modern {
            self.tell("notifications/initialized", None);
        }
        self.last_output = None;
        // A modern server over HTTP holds no connection that could die.
        let stateless = self.config.carrier == Carrier::StreamableHttp && self.revision().is_modern();
        self.liveness.start(self.config.timeouts.ping_interval.filter(|_| !stateless), now);
        match self.reopening.take() {
            None => {
                self.events.push(SessionEvent::Ready(Box::new(facts)));
                self.restore_subscriptions();
            }
            Some(reopening) => {
                self.events.push(SessionEvent::Reopened(Box::new(facts)));
                self.resume(reopening, now);
            }
        }
        if modern && !self.listen.is_open() {
            self.listen_anew(now);
        }
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
                if self.config.carrier == Carrier::StreamableHttp {
                    self.abort(id);
                }
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
            let local = self.config.carrier == Carrier::Stdio;
            let on_probe = probing && local && self.config.opening == Opening::Probe;
            let fault = if on_probe { OpeningFault::ExitedOnProbe } else { OpeningFault::Exited };
            self.opening_failed(format!("{reason} before it answered `{asked}`"), fault);
        }
    }
}

/// Errors that only a server of 2026-07-28 sends.
fn is_modern(error: &RpcError) -> bool {
    matches!(error.code, code::UNSUPPORTED_VERSION | code::MISSING_CAPABILITY | code::HEADER_MISMATCH)
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
