//! Evaluates the responses to the probe and to `initialize`.
//!
//! Sources: `basic/versioning` and `basic/transports/streamable-http` of 2026-07-28, `basic/lifecycle` of the earlier
//! revisions.

use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use crate::jsonrpc::{RawJson, RpcError, code, escape_and_truncate};
use crate::revision::Revision;
use crate::types::{Implementation, Map, ServerCapabilities};

use super::handshake::SessionPhase;
use super::request_table::RequestPurpose;
use super::{
    CallError, DeliveryFault, HandshakeFault, HandshakeMode, ServerFacts, Session, TransportKind, meta, results,
};

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
    pub(super) fn on_probe_response(&mut self, answer: Result<RawJson, RpcError>, now: Instant) {
        match answer {
            Ok(raw) => match results::parse_body_object(&raw).and_then(results::deserialize_object::<DiscoverResult>) {
                Ok(found) if found.result_type.as_deref().is_none_or(|kind| kind == "complete") => {
                    self.on_discover_result(found, now);
                }
                Ok(_) => self.fall_back_to_initialize("its answer to `server/discover` is not complete", now),
                Err(cause) => {
                    self.fall_back_to_initialize(&format!("its answer to `server/discover` does not fit: {cause}"), now)
                }
            },
            Err(error) if error.code == code::UNSUPPORTED_PROTOCOL_VERSION => {
                let versions = supported_versions_in_error(&error).unwrap_or_default();
                let again = matches!(self.phase, SessionPhase::Probing { again: true, .. });
                if !again && versions.iter().any(|version| version == Revision::NEWEST.as_str()) {
                    self.send_probe(true, now);
                } else {
                    self.fall_back_to_legacy_handshake(&versions, Some(&error), now);
                }
            }
            Err(error) if is_error_of_modern_server(&error) => {
                self.refuse_handshake(format!("it refused `server/discover`: {}", rpc_error_text(&error)));
            }
            Err(error) => self.fall_back_to_initialize(
                &format!("it does not know `server/discover`: {}", rpc_error_text(&error)),
                now,
            ),
        }
    }

    fn on_discover_result(&mut self, found: DiscoverResult, now: Instant) {
        if !found.supported_versions.iter().any(|version| version == Revision::NEWEST.as_str()) {
            return self.fall_back_to_legacy_handshake(&found.supported_versions, None, now);
        }
        let server = found.meta.and_then(|mut meta| meta.shift_remove(meta::SERVER_INFO_KEY));
        let facts = ServerFacts {
            revision: Revision::NEWEST,
            // An unverified claim for display, so an invalid one does not fail the handshake.
            server: server.and_then(|info| serde_json::from_value(info).ok()),
            capabilities: found.capabilities,
            instructions: found.instructions,
        };
        self.on_handshake_complete(facts, now);
    }

    /// Handles a server that does not support 2026-07-28: sends `initialize` with the newest earlier revision that both
    /// support.
    fn fall_back_to_legacy_handshake(&mut self, versions: &[String], error: Option<&RpcError>, now: Instant) {
        let best = newest_common_legacy_revision(versions);
        match (self.config.handshake, best) {
            (HandshakeMode::Probe | HandshakeMode::Initialize, Some(revision)) => {
                self.send_initialize(revision, true, now)
            }
            _ => {
                let description =
                    error.map(|error| format!("; its error: {}", rpc_error_text(error))).unwrap_or_default();
                self.refuse_handshake(format!(
                    "{}{description}",
                    no_common_version_text(versions, self.config.handshake)
                ));
            }
        }
    }

    pub(super) fn on_initialize_response(&mut self, answer: Result<RawJson, RpcError>, now: Instant) {
        let SessionPhase::Initializing { offered, again, .. } = self.phase else { return };
        let pinned = matches!(self.config.handshake, HandshakeMode::Pinned(_));
        let found = match answer {
            Ok(raw) => results::parse_body_object(&raw).and_then(results::deserialize_object::<InitializeResult>),
            Err(error) => {
                let versions = supported_versions_in_error(&error);
                let other = versions.as_deref().and_then(newest_common_legacy_revision).filter(|best| *best != offered);
                return match (other, versions) {
                    (Some(revision), _) if !again && !pinned => self.send_initialize(revision, true, now),
                    (_, Some(versions)) => {
                        let none = no_common_version_text(&versions, self.config.handshake);
                        let cause = format!("{none}; its error: {}", rpc_error_text(&error));
                        if versions.iter().any(|version| version == Revision::NEWEST.as_str()) && !pinned {
                            self.probe_after_timeout(cause, now);
                        } else {
                            self.on_initialize_failed(cause, HandshakeFault::Refused, now);
                        }
                    }
                    (_, None) => {
                        let cause = format!("it refused `initialize`: {}", rpc_error_text(&error));
                        self.on_initialize_failed(cause, HandshakeFault::Refused, now);
                    }
                };
            }
        };
        let found = match found {
            Ok(found) => found,
            Err(cause) => return self.refuse_handshake(format!("its answer to `initialize` does not fit: {cause}")),
        };
        let agreed = found.protocol_version.parse().ok().filter(|revision: &Revision| !revision.is_modern());
        match agreed {
            Some(revision) if !pinned || revision == offered => {
                self.on_handshake_complete(
                    ServerFacts {
                        revision,
                        server: found.server_info,
                        capabilities: found.capabilities.unwrap_or_default(),
                        instructions: found.instructions,
                    },
                    now,
                );
            }
            _ => self.refuse_handshake(no_common_version_text(&[found.protocol_version], self.config.handshake)),
        }
    }

    pub(super) fn on_probe_undelivered(&mut self, fault: &DeliveryFault, now: Instant) {
        match fault {
            DeliveryFault::Status { code: 401 | 403, .. } => {
                self.fail_handshake(fault.to_string(), HandshakeFault::Unauthorized);
            }
            DeliveryFault::Status { error: Some(error), .. } if is_error_of_modern_server(error) => {
                self.on_probe_response(Err(error.clone()), now);
            }
            DeliveryFault::Status { code: 408 | 425 | 429 | 502..=504, .. } => {
                self.fail_handshake(fault.to_string(), HandshakeFault::ServerError);
            }
            DeliveryFault::Unreachable { .. } | DeliveryFault::Redirected { .. } => {
                self.fail_handshake(fault.to_string(), HandshakeFault::Unreachable);
            }
            // Legacy servers fail in many ways on an unknown method.
            fault => self.fall_back_to_initialize(&format!("`server/discover` failed: {fault}"), now),
        }
    }

    pub(super) fn on_initialize_undelivered(&mut self, fault: &DeliveryFault, now: Instant) {
        let cause = format!("`initialize` failed: {fault}");
        match fault {
            DeliveryFault::Status { code: 401 | 403, .. } => self.fail_handshake(cause, HandshakeFault::Unauthorized),
            DeliveryFault::Status { error: Some(error), .. } if supported_versions_in_error(error).is_some() => {
                self.on_initialize_response(Err(error.clone()), now);
            }
            DeliveryFault::Status { code: 408 | 425 | 429 | 500..=599, .. } | DeliveryFault::Lost { .. } => {
                self.fail_handshake(cause, HandshakeFault::ServerError);
            }
            DeliveryFault::Status { code: 400..=499, .. } if self.config.carrier == TransportKind::StreamableHttp => {
                self.on_initialize_failed(cause, HandshakeFault::NotStreamable, now);
            }
            DeliveryFault::Unreachable { .. } | DeliveryFault::Redirected { .. } => {
                self.fail_handshake(cause, HandshakeFault::Unreachable);
            }
            DeliveryFault::Status { .. } | DeliveryFault::Unusable { .. } => {
                self.on_initialize_failed(cause, HandshakeFault::Refused, now);
            }
        }
    }

    /// Handles a response to `server/discover` or `initialize` that cannot be decoded.
    pub(super) fn on_unreadable_handshake_response(
        &mut self,
        purpose: RequestPurpose,
        error: &CallError,
        now: Instant,
    ) {
        if purpose == RequestPurpose::Probe {
            self.fall_back_to_initialize(&error.to_string(), now);
        } else {
            self.refuse_handshake(format!("the answer to `initialize`: {error}"));
        }
    }
}

/// Returns `true` if the code of `error` is one that only servers of 2026-07-28 send.
fn is_error_of_modern_server(error: &RpcError) -> bool {
    matches!(error.code, code::UNSUPPORTED_PROTOCOL_VERSION | code::MISSING_CLIENT_CAPABILITY | code::HEADER_MISMATCH)
}

/// Returns the revisions that the server supports, from `data.supported` of an error with code
/// `UNSUPPORTED_PROTOCOL_VERSION`.
fn supported_versions_in_error(error: &RpcError) -> Option<Vec<String>> {
    let versions = error.data.as_ref()?.get("supported")?.as_array()?;
    Some(versions.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn newest_common_legacy_revision(versions: &[String]) -> Option<Revision> {
    versions.iter().filter_map(|version| version.parse().ok()).filter(|revision: &Revision| !revision.is_modern()).max()
}

fn rpc_error_text(error: &RpcError) -> String {
    escape_and_truncate(&error.to_string(), 500)
}

fn no_common_version_text(theirs: &[String], handshake: HandshakeMode) -> String {
    let theirs = if theirs.is_empty() { "no version".into() } else { escape_and_truncate(&theirs.join(", "), 300) };
    let ours = match handshake {
        HandshakeMode::Pinned(revision) => revision.to_string(),
        HandshakeMode::Probe | HandshakeMode::Initialize => Revision::ALL.map(Revision::as_str).join(", "),
    };
    format!("no common protocol version: it speaks {theirs}; this client speaks {ours}")
}
