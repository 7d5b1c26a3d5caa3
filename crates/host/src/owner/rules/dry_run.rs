//! Dry runs: the policy's decision about an act that is not executed. Used by `handle/rules.rs`.

use std::collections::BTreeSet;

use mcp_proto::types::Tool;
use offers::catalog::CatalogListKind;
use offers::definitions::{requires_consent_each_call, tool_claims};
use offers::review::DefinitionKind;
use policy::{DecisionReason, DecisionSource, GrantSubject, Hash, PolicyAct, PolicyDecision, ResolvedPaths};
use ports::server_config::config_hash;
use tokio::sync::oneshot;

use crate::owner::Owner;
use crate::owner::path_links::{resolve_links, unresolved_paths};
use crate::owner::state::{DryRunTool, tool_review_state};
use crate::rules::{DryRunAct, DryRunResult, RulesError};
use crate::view::ServerState;

impl Owner {
    /// Returns the policy's decision about an act with its explanation, without executing the act.
    pub(crate) fn dry_run(
        &mut self,
        server: String,
        act: DryRunAct,
        reply: oneshot::Sender<Result<DryRunResult, RulesError>>,
    ) {
        let paths = match &act {
            DryRunAct::Tool { tool, arguments, .. } => self.paths_in_call(&server, tool, arguments),
            _ => BTreeSet::new(),
        };
        if paths.is_empty() {
            let facts =
                self.servers.records.get(&server).map(|record| unresolved_paths(&record.config)).unwrap_or_default();
            // The caller may have stopped waiting, here and below.
            let _ = reply.send(self.dry_run_with_resolved_paths(&server, &act, &facts));
            return;
        }
        self.run_concurrently(resolve_links(paths), move |owner, facts| {
            let _ = reply.send(owner.dry_run_with_resolved_paths(&server, &act, &facts));
        });
    }

    fn dry_run_with_resolved_paths(
        &mut self,
        server: &str,
        request: &DryRunAct,
        paths: &ResolvedPaths,
    ) -> Result<DryRunResult, RulesError> {
        if let DryRunAct::Tool { tool, arguments, conversation, after_untrusted } = request
            && self.servers.records.contains_key(server)
        {
            let known = self.find_dry_run_tool(server, tool)?;
            let turned_off = self.servers.records.get(server).is_some_and(|record| !record.config.tools.admits(tool));
            let mut result = self.permissions.dry_run_call(
                server,
                (tool, arguments, paths),
                known,
                conversation.as_deref(),
                *after_untrusted,
                self.now(),
            );
            result.turned_off = turned_off;
            // Only models make calls after untrusted content.
            if turned_off && *after_untrusted {
                result.explanation.decision =
                    PolicyDecision::Deny { reason: DecisionReason::TurnedOff, by: DecisionSource::BuiltIn };
            }
            return Ok(result);
        }
        let record = self.servers.records.get(server).ok_or_else(|| RulesError::NoSuchServer(server.to_owned()))?;
        let approved = self.permissions.policy.grants().find(server, &GrantSubject::Command);
        // The hash of a local command includes the program file, which is only determined when the server is started.
        let approved = approved.filter(|_| self.is_approved(server, &record.config));
        let hash = approved.map_or_else(|| config_hash(&record.config), |grant| grant.rests_on.clone());
        let act = match request {
            DryRunAct::Tool { .. } | DryRunAct::Read => {
                PolicyAct::Read { needs_no_consent: true, server, conversation: None }
            }
            DryRunAct::Start if record.config.as_http().is_some() => {
                PolicyAct::ConnectServer { server, address: &hash }
            }
            DryRunAct::Start => PolicyAct::StartServer { server, command: &hash },
            DryRunAct::Sampling => {
                PolicyAct::Sample { server, would_use: self.models.sampling.projected_usage(server, 0, self.now()) }
            }
            DryRunAct::Form => PolicyAct::FillForm { server },
            DryRunAct::Url => PolicyAct::OpenUrl { server },
            DryRunAct::Roots => PolicyAct::ShareRoots { server, decided: self.are_roots_decided(server) },
            DryRunAct::SignIn => PolicyAct::SignIn { server, steps_up: false },
        };
        let assumed_unchanged = matches!(act, PolicyAct::StartServer { .. }) && approved.is_some();
        Ok(DryRunResult {
            explanation: self.permissions.policy.explain(&act, self.now()),
            assumed_unchanged,
            review_state: None,
            turned_off: false,
        })
    }

    /// Returns the current definition of a tool, or the last reviewed one if its server is not running.
    fn find_dry_run_tool(&mut self, server: &str, tool: &str) -> Result<DryRunTool, RulesError> {
        let no_tool = || RulesError::NoSuchTool { server: server.to_owned(), tool: tool.to_owned() };
        let record = self.servers.records.get_mut(server).ok_or_else(|| RulesError::NoSuchServer(server.to_owned()))?;
        if record.state == ServerState::Ready {
            let (pins, identity) = (&self.reviews.pins, record.offer.identity.as_ref());
            let review_state_of = |own: &Hash| tool_review_state(pins, server, tool, own, identity);
            let own = record
                .offer
                .definitions
                .get(&record.config, &record.offer.catalog, tool, review_state_of)
                .ok_or_else(no_tool)?;
            let (grant_hash, claims, asks_each_time) = (own.grant_hash.clone(), own.claims, own.asks_each_time);
            let review_state =
                record.offer.catalog.treat_as_changed_if_outdated(CatalogListKind::Tools, own.review_state);
            return Ok(DryRunTool { grant_hash, review_state, claims, asks_each_time, assumed_unchanged: false });
        }
        let approved = self.permissions.policy.grants().find(server, &GrantSubject::Tool(tool.to_owned()));
        let grant_hash = approved.map_or_else(|| Hash::of_bytes(b""), |grant| grant.rests_on.clone());
        let pin = self.reviews.pins.get(server).and_then(|pins| pins.definitions(DefinitionKind::Tool).get(tool));
        let pinned_tool = pin.and_then(|pin| serde_json::from_value::<Tool>(pin.definition.clone()?).ok());
        let review_state = self.offline_review_state(server, tool);
        let asks_each_time = pinned_tool.as_ref().is_some_and(requires_consent_each_call);
        let claims = pinned_tool.map(|tool| tool_claims(&tool)).unwrap_or_default();
        Ok(DryRunTool { grant_hash, review_state, claims, asks_each_time, assumed_unchanged: true })
    }
}
