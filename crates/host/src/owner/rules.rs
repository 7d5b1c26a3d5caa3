//! Policy rules: reading, watching and changing them, and dry runs. While a rule file can't be read, everything
//! requires consent.

mod dry_run;
mod edits;
mod pending;
mod trust;

use std::path::Path;
use std::sync::Arc;

use host_state::parse_rule_file;
use ports::Document;
use ports::server_config::ServerTransport;

use super::Owner;
use super::path_links::resolve_links;
use super::state::DocumentReadResult;
use crate::view::{HostEvent, ServerState};

impl Owner {
    /// Reads the rules again after another process may have changed a rule file.
    pub(crate) fn reload_rules(&mut self) {
        let managed = Arc::clone(&self.ports.managed);
        self.run_on_writer_thread(
            move |documents| (managed.read(), documents.read(Document::Policy)),
            |owner, read| match read {
                Ok((managed, user)) => owner.apply_rules(managed, user),
                Err(cause) => tracing::error!(cause, "the rules could not be read again"),
            },
        );
    }

    /// Reads the system-wide rules and the user's rules. Called once, before the host accepts commands.
    pub(super) fn read_rules(&mut self) {
        let (managed, user) = (self.ports.managed.read(), self.ports.documents.read(Document::Policy));
        self.apply_rules(managed, user);
    }

    /// Applies the content of both rule files, and refuses pending consent requests that a rule now denies.
    fn apply_rules(&mut self, managed: DocumentReadResult, user: DocumentReadResult) {
        let before = self.permissions.rules_view();
        self.permissions.apply_managed_rules(parse_rule_file(managed), self.ports.managed.path());
        let path = self.ports.documents.path().join(Document::Policy.file_name());
        self.permissions.apply_user_rules(parse_rule_file(user), path);
        let after = self.permissions.rules_view();
        if after != before {
            if self.permissions.rule_files.were_read {
                self.audit_rule_changes(&before, &after);
            }
            self.on_rules_changed();
        }
        self.permissions.rule_files.were_read = true;
    }

    /// Sets the command line or URL of a server with which the conditions of rules are compared, and the path of its
    /// program before and after resolving symbolic links, if known.
    pub(super) fn set_server_identity_for_rules(&mut self, server: &str, program: Option<(&Path, Option<&Path>)>) {
        let Some(record) = self.servers.records.get(server) else { return };
        let mut words = match &record.config.transport {
            ServerTransport::Stdio(config) => {
                [config.command_line(), config.command.clone()].into_iter().chain(config.args.iter().cloned()).collect()
            }
            ServerTransport::Http(config) => vec![config.url.clone()],
        };
        if let Some((program, real)) = program {
            words.push(program.display().to_string());
            words.extend(real.map(|real| real.display().to_string()));
        }
        self.permissions.policy.set_server_identity(server, words);
    }

    /// Stops running servers that a rule now denies.
    fn stop_denied_servers(&mut self) {
        let runs = |state: &ServerState| {
            !matches!(state, ServerState::Stopped | ServerState::Stopping | ServerState::Failed(_))
        };
        let now = self.now();
        let denied: Vec<String> = self
            .servers
            .records
            .iter()
            .filter(|(name, record)| runs(&record.state) && self.permissions.denies_start(name, &record.config, now))
            .map(|(name, _)| name.clone())
            .collect();
        for name in denied {
            // The start is denied by the rule, which displays the reason.
            if let Err(error) = self.restart(&name) {
                tracing::error!(%error, "a server that a rule denies could not be stopped");
            }
        }
    }

    /// Applies changed rules to pending consent requests, running servers and sampling, and notifies observers.
    fn on_rules_changed(&mut self) {
        self.permissions.version += 1;
        // A rule may have denied a call that an earlier approval would allow again once the rule is removed.
        self.permissions.approved_calls.clear();
        // While the host is being created, its writer can't report back.
        if self.permissions.drop_uses_of_changed_rules() && self.permissions.rule_files.were_read {
            self.write_uses();
        }
        let requests: Vec<_> =
            self.consent.pending.iter().map(|pending| (pending.view.id, self.paths_to_resolve(pending))).collect();
        for (id, paths) in requests {
            if paths.is_empty() {
                self.refuse_request_if_rule_denies(id);
            } else {
                self.run_concurrently(resolve_links(paths), move |owner, facts| {
                    if let Some(pending) = owner.consent.pending.iter_mut().find(|pending| pending.view.id == id) {
                        pending.paths = facts;
                    }
                    owner.refuse_request_if_rule_denies(id);
                });
            }
        }
        self.stop_denied_servers();
        self.end_disallowed_sampling();
        self.events.emit(HostEvent::RulesChanged);
    }
}
