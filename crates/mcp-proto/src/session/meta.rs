//! Client information and capabilities in the form that each revision requires.

use serde_json::{Value, json};

use crate::jsonrpc::{JsonObjectWriter, serialize_members};
use crate::revision::Revision;
use crate::types::{ClientCapabilities, ElicitationCapability, LogLevel, Map};

use super::{SessionConfig, TraceContext, tasks};

/// Key in `_meta` of requests for the protocol version. This and the following keys are of 2026-07-28 (`basic`, section
/// on `_meta`).
const PROTOCOL_VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";
/// Key in `_meta` of change notifications for the id of their `subscriptions/listen` request.
pub(super) const SUBSCRIPTION_ID_KEY: &str = "io.modelcontextprotocol/subscriptionId";
/// Key in `_meta` of results for the name and version of the server.
pub(super) const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Returns those of the client's capabilities that exist in `revision`.
pub(super) fn capabilities_in_revision(all: &ClientCapabilities, revision: Revision) -> ClientCapabilities {
    let mut offered = all.clone();
    if let Some(roots) = &mut offered.roots
        && !revision.has_roots_list_changed()
    {
        roots.list_changed = None;
    }
    if let Some(sampling) = &mut offered.sampling {
        sampling.context = sampling.context.take().filter(|_| revision.has_sampling_context());
        sampling.tools = sampling.tools.take().filter(|_| revision.has_sampling_tools());
    }
    offered.elicitation = offered.elicitation.filter(|_| revision.has_elicitation());
    if !revision.has_elicitation_modes() {
        offered.elicitation =
            offered.elicitation.filter(supports_form_elicitation).map(|_| ElicitationCapability::default());
    }
    if revision.has_subscriptions_listen() {
        // The session itself implements this extension.
        offered.extensions.get_or_insert_with(Map::new).insert(tasks::TASKS_EXTENSION.into(), json!({}));
    }
    offered
}

/// Returns `true` if the client supports form elicitation. An empty capability includes forms (`client/elicitation`).
pub(super) fn supports_form_elicitation(elicitation: &ElicitationCapability) -> bool {
    elicitation.form.is_some() || elicitation.url.is_none()
}

/// Returns the parameters of `initialize`.
pub(super) fn initialize_params(config: &SessionConfig, revision: Revision) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": capabilities_in_revision(&config.capabilities, revision),
        "clientInfo": config.client,
    })
}

/// Cache of the `_meta` members that are the same in all requests of a session, in serialized form.
#[derive(Debug, Default)]
pub(super) struct CommonRequestMeta(Option<(Revision, Box<str>)>);

impl CommonRequestMeta {
    /// Returns the common members of `_meta`, serialized without braces. Empty in revisions without request metadata.
    pub(super) fn serialized_for_revision(&mut self, config: &SessionConfig, revision: Revision) -> &str {
        if !revision.has_request_meta() {
            return "";
        }
        if self.0.as_ref().is_none_or(|(of, _)| *of != revision) {
            self.0 = Some((revision, serialize_common_request_meta(config, revision)));
        }
        self.0.as_ref().map_or("", |(_, members)| members)
    }
}

fn serialize_common_request_meta(config: &SessionConfig, revision: Revision) -> Box<str> {
    serialize_members(|meta| {
        meta.put(PROTOCOL_VERSION_KEY, &revision);
        meta.put(CLIENT_INFO_KEY, &config.client);
        meta.put(CLIENT_CAPABILITIES_KEY, &capabilities_in_revision(&config.capabilities, revision));
    })
}

/// Members of `_meta` that differ between the requests of a session.
#[derive(Debug, Default)]
pub(super) struct RequestMeta<'a> {
    pub(super) log_level: Option<LogLevel>,
    pub(super) trace: Option<&'a TraceContext>,
    pub(super) progress_token: Option<i64>,
}

impl RequestMeta<'_> {
    /// Writes `_meta` into `params` unless it is empty. `common` is the result of
    /// [`CommonRequestMeta::serialized_for_revision`].
    pub(super) fn write(&self, common: &str, params: &mut JsonObjectWriter<'_>) {
        params.put_object("_meta", |meta| {
            if !common.is_empty() {
                meta.put_serialized_members(common);
                if let Some(level) = self.log_level {
                    meta.put(LOG_LEVEL_KEY, &level);
                }
                if let Some(trace) = self.trace {
                    trace.write(meta);
                }
            }
            if let Some(token) = self.progress_token {
                meta.put("progressToken", &token);
            }
        });
    }
}
