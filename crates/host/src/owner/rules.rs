//! The rules: read, watched, changed, and asked what they would say. Whatever can't be read makes everything ask.

mod dry_run;
mod edits;
mod pending;
mod trust;

pub(super) use dry_run::KnownTool;

use std::path::Path;
use std::sync::Arc;

use domain::StoreError;
use policy::{PolicyFile, RuleSource};
use ports::Document;
use ports::server_config::ServerTransport;
use serde_json::Value;

use super::Owner;
use super::document_writer::ReadDocument;
use super::links::follow;
use crate::rules::{RuleFile, RulesView, read_rules};
use crate::view::{HostEvent, ServerState};

/// The two files of rules, as they were read last.
#[derive(Debug, Default)]
pub(super) struct RuleFiles {
    user: RuleFile,
    managed: RuleFile,
    /// Whether they were read once. What changed before that nobody can say.
    were_read: bool,
}

impl Owner {
    /// Another program may have changed a file of rules.
    pub(crate) fn reload_rules(&mut self) {
        let managed = Arc::clone(&self.ports.managed);
        self.on_disk(
            move |documents| (managed.read(), documents.read(Document::Policy)),
            |owner, read| match read {
                Ok((managed, user)) => owner.take_rules(managed, user),
                Err(cause) => tracing::error!(cause, "the rules could not be read again"),
            },
        );
    }

    /// Reads both files of rules before the first turn.
    pub(super) fn read_rules(&mut self) {
        let (managed, user) = (self.ports.managed.read(), self.ports.documents.read(Document::Policy));
        self.take_rules(managed, user);
    }

    /// Takes over both files of rules, as they were read. Questions that a rule now denies are refused.
    fn take_rules(&mut self, managed: ReadDocument, user: ReadDocument) {
        let before = self.rules_view();
        let changed = self.permissions.rule_files.user.changed;
        let (exists, problem) = match parsed(managed) {
            Ok((exists, file)) => {
                (exists, self.permissions.policy.set_managed(file).err().map(|problem| problem.to_string()))
            }
            Err(cause) => {
                self.permissions.policy.managed_unusable();
                (true, Some(cause))
            }
        };
        self.permissions.rule_files.managed =
            RuleFile { path: self.ports.managed.path(), exists, problem, changed: None };
        let (exists, problem) = match parsed(user) {
            Ok((exists, file)) => {
                (exists, self.permissions.policy.set_user(file).err().map(|problem| problem.to_string()))
            }
            Err(cause) => {
                self.permissions.policy.user_unusable();
                (true, Some(cause))
            }
        };
        let path = self.ports.documents.path().join(Document::Policy.file_name());
        self.permissions.rule_files.user = RuleFile { path, exists, problem, changed };
        let after = self.rules_view();
        if after != before {
            if std::mem::replace(&mut self.permissions.rule_files.were_read, true) {
                self.write_down_changes(&before, &after);
            }
            self.rules_changed();
        }
        self.permissions.rule_files.were_read = true;
    }

    /// Says what a server is, for rules that go by that: its command line or URL, and the program it leads to, as it was found
    /// and with links resolved, once that is found.
    pub(super) fn say_identity(&mut self, server: &str, program: Option<(&Path, Option<&Path>)>) {
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
        self.permissions.policy.set_identity(server, words);
    }

    /// Ends servers that a rule now keeps out, and says why.
    fn end_kept_out(&mut self) {
        let runs = |state: &ServerState| {
            !matches!(state, ServerState::Stopped | ServerState::Stopping | ServerState::Failed(_))
        };
        let now = self.now();
        let kept_out: Vec<String> = self
            .servers
            .records
            .iter()
            .filter(|(name, record)| runs(&record.state) && self.permissions.keeps_out(name, &record.config, now))
            .map(|(name, _)| name.clone())
            .collect();
        for name in kept_out {
            // To start it again is refused, with the reason.
            if let Err(error) = self.restart(&name) {
                tracing::error!(%error, "a server that a rule keeps out could not be ended");
            }
        }
    }

    /// All rules.
    pub(crate) fn rules_view(&self) -> RulesView {
        let of = |source| self.permissions.policy.rules(source).map(move |rule| (source, rule.clone()));
        RulesView {
            preset: self.permissions.policy.preset_of(RuleSource::User),
            managed_preset: self.permissions.policy.preset_of(RuleSource::Managed),
            rules: of(RuleSource::Managed).chain(of(RuleSource::User)).chain(of(RuleSource::Session)).collect(),
            user: self.permissions.rule_files.user.clone(),
            managed: self.permissions.rule_files.managed.clone(),
        }
    }

    fn rules_changed(&mut self) {
        self.permissions.judgement += 1;
        let questions: Vec<_> =
            self.consent.pending.iter().map(|pending| (pending.view.id, self.paths_in_question(pending))).collect();
        for (id, paths) in questions {
            if paths.is_empty() {
                self.refuse_if_denied(id);
            } else {
                self.beside(follow(paths), move |owner, facts| {
                    if let Some(pending) = owner.consent.pending.iter_mut().find(|pending| pending.view.id == id) {
                        pending.paths = facts;
                    }
                    owner.refuse_if_denied(id);
                });
            }
        }
        self.end_kept_out();
        self.end_unallowed();
        self.events.emit(HostEvent::RulesChanged);
    }
}

/// What a file holds, and whether there is one.
fn parsed(read: Result<Option<Value>, StoreError>) -> Result<(bool, PolicyFile), String> {
    match read.map_err(|error| error.cause)? {
        None => Ok((false, PolicyFile::default())),
        Some(value) => Ok((true, read_rules(value)?)),
    }
}
