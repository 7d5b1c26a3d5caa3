//! Who we are and what we offer, as each revision wants to be told.

use serde_json::{Value, json};

use crate::revision::Revision;
use crate::types::{ClientCapabilities, ElicitationCapability, LogLevel, Map};

use super::{SessionConfig, TraceContext, tasks};

/// Keys in `_meta` of 2026-07-28 (`basic`, section on `_meta`).
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// On change notifications: the id of the `subscriptions/listen` that wanted them.
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// On results: what the server calls itself.
pub(super) const SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// What of our capabilities exists in `revision`.
pub(super) fn offered(all: &ClientCapabilities, revision: Revision) -> ClientCapabilities {
    let mut offered = all.clone();
    if let Some(roots) = &mut offered.roots
        && !revision.has_roots_list_changed()
    {
        roots.list_changed = None;
    }
    if let Some(sampling) = &mut offered.sampling
        && !revision.has_sampling_context()
    {
        sampling.context = None;
    }
    offered.elicitation = offered.elicitation.filter(|_| revision.has_elicitation());
    if !revision.has_elicitation_modes() {
        offered.elicitation = offered.elicitation.filter(has_forms).map(|_| ElicitationCapability::default());
    }
    if revision.has_listen() {
        // The session itself does what this promises.
        offered.extensions.get_or_insert_with(Map::new).insert(tasks::EXTENSION.into(), json!({}));
    }
    offered
}

/// An empty capability means forms (`client/elicitation`).
pub(super) fn has_forms(elicitation: &ElicitationCapability) -> bool {
    elicitation.form.is_some() || elicitation.url.is_none()
}

/// Parameters of `initialize`.
pub(super) fn initialize_params(config: &SessionConfig, revision: Revision) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": offered(&config.capabilities, revision),
        "clientInfo": config.client,
    })
}

/// `_meta` of a request.
pub(super) fn request_meta(
    config: &SessionConfig,
    revision: Revision,
    log_level: Option<LogLevel>,
    progress_token: Option<i64>,
    trace: Option<&TraceContext>,
) -> Map {
    let mut meta = Map::new();
    if revision.has_request_meta() {
        meta.insert(VERSION.into(), json!(revision));
        meta.insert(CLIENT.into(), json!(config.client));
        meta.insert(CAPABILITIES.into(), json!(offered(&config.capabilities, revision)));
        if let Some(level) = log_level {
            meta.insert(LOG_LEVEL.into(), json!(level));
        }
        if let Some(trace) = trace {
            trace.add_to(&mut meta);
        }
    }
    if let Some(token) = progress_token {
        meta.insert("progressToken".into(), json!(token));
    }
    meta
}
