//! Which tools models and apps may call at all: the user's lists in a server's settings, and the server's declaration
//! of who may call a tool. Used by `servers.rs` when the settings file was read, by `server_start/launch.rs` for each
//! start, and by `calls/decision.rs` and `app_tools.rs` for each call of a model or an app.

use std::sync::Arc;

use host_state::AuditedDecision;
use mcp_apps::ToolMetadata;
use policy::{Hash, canonical_json};
use ports::server_config::{ServerConfig, ToolFilter};
use serde_json::{Value, json};

use super::Owner;
use super::state::{CallOrigin, PendingRequest};

/// Reason for refusing a model's call of a tool whose server reserves it for its apps.
const TOOL_ONLY_FOR_APPS_REASON: &str = "because the server offers the tool only to its apps";
/// Reason for refusing an app's call of a tool whose server doesn't offer it to apps.
const TOOL_NOT_FOR_APPS_REASON: &str = "because the server doesn't offer the tool to its apps";
/// Reason for refusing a call by a model or an app of a tool that the user turned off.
pub(super) const TOOL_TURNED_OFF_REASON: &str = "because the tool is turned off for models and apps in the settings";

/// Checks if `origin` may call a tool according to the user's settings and the server's declaration for whom it is. If
/// not, returns the source of the restriction and the reason for refusing the call. The user may call every tool.
pub(super) fn tool_filter_refusal(
    origin: &CallOrigin,
    filter: &ToolFilter,
    tool: &str,
    meta: &ToolMetadata,
) -> Option<(&'static str, &'static str)> {
    match origin {
        CallOrigin::User { .. } | CallOrigin::CommandLine => None,
        CallOrigin::Model { .. } | CallOrigin::App { .. } if !filter.admits(tool) => {
            Some(("settings", TOOL_TURNED_OFF_REASON))
        }
        CallOrigin::Model { .. } => (!meta.is_visible_to_model()).then_some(("visibility", TOOL_ONLY_FOR_APPS_REASON)),
        CallOrigin::App { .. } => (!meta.is_callable_by_app()).then_some(("visibility", TOOL_NOT_FOR_APPS_REASON)),
    }
}

impl Owner {
    /// Changes settings of a server that need no restart: which tools are available to models, and whether it starts
    /// with Drawbridge. Pending consent requests
    /// for calls of tools that are now turned off are refused, as if a rule denied them.
    pub(super) fn change_without_restart(&mut self, server: &str, config: ServerConfig) {
        if let Some(record) = self.servers.records.get_mut(server) {
            record.config = Arc::new(config);
            self.permissions.version += 1;
        }
        let is_refused = |pending: &PendingRequest| {
            pending.view.server == server && pending.can_be_denied() && self.servers.is_for_disabled_tool(pending)
        };
        let refused: Vec<_> =
            self.consent.pending.iter().filter(|pending| is_refused(pending)).map(|pending| pending.view.id).collect();
        for id in refused {
            // Refusing one request may remove others.
            if let Some(at) = self.consent.position_of(id) {
                self.refuse_disabled_tool(at);
            }
        }
        self.emit_server_change(server);
    }

    /// Records a change of a server's tool filter by any program, since it can allow models to call more tools.
    pub(super) fn audit_tool_filter_change(&mut self, server: &str, before: &ToolFilter, now: &ToolFilter) {
        // The keys are sorted by name, so that truncating a long subject removes the end of the earlier lists.
        self.audit_tool_lists(server, &json!({ "after": now, "before": before }));
    }

    /// Records a change of a server's tool filter that was made together with a change of the server's name.
    pub(super) fn audit_tool_filter_change_at_rename(&mut self, server: &str, before: &ToolFilter) {
        let Some(record) = self.servers.records.get(server).filter(|record| record.config.tools != *before) else {
            return;
        };
        let now = record.config.tools.clone();
        self.audit_tool_filter_change(server, before, &now);
    }

    /// Records in the audit log with which tool filter a server starts, since the filter may have changed while
    /// Drawbridge was not running. A start without such an entry offers all tools to models.
    pub(super) fn audit_tool_filter_at_start(&mut self, server: &str) {
        let Some(record) = self.servers.records.get(server).filter(|record| !record.config.tools.admits_all_tools())
        else {
            return;
        };
        let lists = json!({ "started": record.config.tools });
        self.audit_tool_lists(server, &lists);
    }

    fn audit_tool_lists(&mut self, server: &str, lists: &Value) {
        let subject = canonical_json(lists);
        let hash = Hash::of_bytes(subject.as_bytes());
        self.audit_without_waiting(AuditedDecision {
            server,
            kind: "tools",
            subject: &subject,
            decision: "noted",
            by: "policy",
            asker: "host",
            hash: hash.as_str(),
            ..AuditedDecision::default()
        });
    }
}
