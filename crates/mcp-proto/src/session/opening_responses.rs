//! Evaluates the responses to the probe and to `initialize`.
//!
//! Sources: `basic/versioning` and `basic/transports/streamable-http` of 2026-07-28, `basic/lifecycle` of the earlier
//! revisions.

use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use crate::jsonrpc::{RawJson, RpcError, code, escape};
use crate::revision::Revision;
use crate::types::{Implementation, Map, ServerCapabilities};

use super::opening::SessionPhase;
use super::request_table::RequestPurpose;
use super::{CallError, DeliveryFault, OpeningFault, OpeningMode, ServerFacts, Session, TransportKind, meta, results};

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
    pub(super) fn probe_answered(&mut self, answer: Result<RawJson, RpcError>, now: Instant) {
        match answer {
            Ok(raw) => match results::object(&raw).and_then(results::read::<DiscoverResult>) {
                Ok(found) if found.result_type.as_deref().is_none_or(|kind| kind == "complete") => {
                    self.on_discover_result(found, now);
                }
                Ok(_) => self.fall_back("its answer to `server/discover` is not complete", now),
                Err(cause) => self.fall_back(&format!("its answer to `server/discover` does not fit: {cause}"), now),
            },
            Err(error) if error.code == code::UNSUPPORTED_VERSION => {
                let versions = supported(&error).unwrap_or_default();
                let again = matches!(self.phase, SessionPhase::Probing { again: true, .. });
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

    fn on_discover_result(&mut self, found: DiscoverResult, now: Instant) {
        if !found.supported_versions.iter().any(|version| version == Revision::NEWEST.as_str()) {
            return self.settle_for_legacy(&found.supported_versions, None, now);
        }
        let server = found.meta.and_then(|mut meta| meta.shift_remove(meta::SERVER));
        let facts = ServerFacts {
            revision: Revision::NEWEST,
            // An unverified claim for display, so an invalid one does not fail the opening.
            server: server.and_then(|info| serde_json::from_value(info).ok()),
            capabilities: found.capabilities,
            instructions: found.instructions,
        };
        self.ready(facts, now);
    }

    /// Handles a modern server that does not support our modern revision: tries the newest common legacy revision.
    fn settle_for_legacy(&mut self, versions: &[String], error: Option<&RpcError>, now: Instant) {
        let best = best_legacy(versions);
        match (self.config.opening, best) {
            (OpeningMode::Probe | OpeningMode::Initialize, Some(revision)) => self.initialize(revision, true, now),
            _ => {
                let said = error.map(|error| format!("; its error: {}", quote(error))).unwrap_or_default();
                self.fail_opening(format!("{}{said}", no_common_version(versions, self.config.opening)));
            }
        }
    }

    pub(super) fn initialize_answered(&mut self, answer: Result<RawJson, RpcError>, now: Instant) {
        let SessionPhase::Initializing { offered, again, .. } = self.phase else { return };
        let pinned = matches!(self.config.opening, OpeningMode::Pinned(_));
        let found = match answer {
            Ok(raw) => results::object(&raw).and_then(results::read::<InitializeResult>),
            Err(error) => {
                let versions = supported(&error);
                let other = versions.as_deref().and_then(best_legacy).filter(|best| *best != offered);
                return match (other, versions) {
                    (Some(revision), _) if !again && !pinned => self.initialize(revision, true, now),
                    (_, Some(versions)) => {
                        let none = no_common_version(&versions, self.config.opening);
                        let cause = format!("{none}; its error: {}", quote(&error));
                        if versions.iter().any(|version| version == Revision::NEWEST.as_str()) && !pinned {
                            self.probe_after_timeout(cause, now);
                        } else {
                            self.initialize_failed(cause, OpeningFault::Refused, now);
                        }
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
                    ServerFacts {
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
            DeliveryFault::Unreachable { .. } | DeliveryFault::Redirected { .. } => {
                self.opening_failed(fault.to_string(), OpeningFault::Unreachable);
            }
            // Legacy servers fail in many ways on an unknown method.
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
            DeliveryFault::Status { code: 400..=499, .. } if self.config.carrier == TransportKind::StreamableHttp => {
                self.initialize_failed(cause, OpeningFault::NotStreamable, now);
            }
            DeliveryFault::Unreachable { .. } | DeliveryFault::Redirected { .. } => {
                self.opening_failed(cause, OpeningFault::Unreachable);
            }
            DeliveryFault::Status { .. } | DeliveryFault::Unusable { .. } => {
                self.initialize_failed(cause, OpeningFault::Refused, now);
            }
        }
    }

    /// Handles a response to the probe or `initialize` that cannot be decoded.
    pub(super) fn opening_unreadable(&mut self, purpose: RequestPurpose, error: &CallError, now: Instant) {
        if purpose == RequestPurpose::Probe {
            self.fall_back(&error.to_string(), now);
        } else {
            self.fail_opening(format!("the answer to `initialize`: {error}"));
        }
    }
}

/// Returns `true` for errors that only a server of 2026-07-28 sends.
fn is_modern(error: &RpcError) -> bool {
    matches!(error.code, code::UNSUPPORTED_VERSION | code::MISSING_CAPABILITY | code::HEADER_MISMATCH)
}

/// Returns `data.supported` of an unsupported version error.
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

fn no_common_version(theirs: &[String], opening: OpeningMode) -> String {
    let theirs = if theirs.is_empty() { "no version".into() } else { escape(&theirs.join(", "), 300) };
    let ours = match opening {
        OpeningMode::Pinned(revision) => revision.to_string(),
        OpeningMode::Probe | OpeningMode::Initialize => Revision::ALL.map(Revision::as_str).join(", "),
    };
    format!("no common protocol version: it speaks {theirs}; this client speaks {ours}")
}
