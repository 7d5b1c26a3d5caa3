//! The rules: read, watched, changed, and asked what they would say. Whatever can't be read makes everything ask.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use domain::StoreError;
use domain::question::QuestionId;
use mcp_proto::types::Tool;
use offers::catalog::List;
use offers::definitions::claims_of;
use offers::review::Kind;
use policy::{
    Act, By, Claims, Decision, Hash, PathFacts, PolicyFile, PolicyRule, Preset, RuleRef, RuleScope, RuleSet,
    RuleSource, SamplingUse, Standing, Subject, canonical_json,
};
use ports::Document;
use ports::server_config::{ServerTransport, config_hash};
use ports::time::now;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Owner;
use super::audit::Decided;
use super::document_writer::ReadDocument;
use super::links::{follow, not_followed};
use super::pins::standing_of;
use super::questions::Pending;
use crate::rules::{DryRun, DryRunResult, RuleFile, RulesError, RulesView, Trust, read_rules};
use crate::view::{HostEvent, QuestionBody, ServerState};

/// The two files of rules, as they were read last.
#[derive(Debug, Default)]
pub(super) struct RuleFiles {
    user: RuleFile,
    managed: RuleFile,
    /// Whether they were read once. What changed before that nobody can say.
    were_read: bool,
}

/// The most rules that are written down one by one when a file changed.
const MOST_TOLD: usize = 20;

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

    /// Writes down what another program changed in the files of rules: a rule lets things cross, whoever wrote it.
    fn write_down_changes(&mut self, before: &RulesView, after: &RulesView) {
        let mut lines: Vec<(String, &'static str)> = Vec::new();
        let presets =
            [("preset", before.preset, after.preset), ("managed preset", before.managed_preset, after.managed_preset)];
        for (what, was, is) in presets {
            if was != is {
                lines.push((canonical_json(&json!({ what: is })), "changed"));
            }
        }
        for (of, others, decision) in [(after, before, "added"), (before, after, "removed")] {
            let changed = of.rules.iter().filter(|rule| !others.rules.contains(rule));
            lines.extend(
                changed.map(|(source, rule)| (canonical_json(&json!({ "of": source, "rule": rule })), decision)),
            );
        }
        if lines.is_empty() {
            return;
        }
        let of_user = |view: &RulesView| -> Vec<PolicyRule> {
            view.rules.iter().filter(|(source, _)| *source == RuleSource::User).map(|(_, rule)| rule.clone()).collect()
        };
        if before.preset != after.preset || of_user(before) != of_user(after) {
            self.permissions.rule_files.user.changed = Some(now());
        }
        let more = lines.len().saturating_sub(MOST_TOLD);
        if more > 0 {
            lines.truncate(MOST_TOLD);
            lines.push((format!("and {more} more changes of rules"), "changed"));
        }
        for (subject, decision) in lines {
            let hash = Hash::of_bytes(subject.as_bytes());
            let (kind, by) = ("rule", "another program");
            let entry = Decided {
                kind,
                subject: &subject,
                decision,
                by,
                asker: "file",
                hash: hash.as_str(),
                ..Decided::default()
            };
            self.note(entry);
        }
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
        let kept_out: Vec<String> = self
            .servers
            .records
            .iter()
            .filter(|(name, record)| runs(&record.state) && self.permissions.keeps_out(name, &record.config))
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

    /// Adds a rule, or puts it in the place of the one with its number. Rules that do not last are kept in memory.
    pub(crate) fn set_rule(&mut self, rule: PolicyRule, reply: oneshot::Sender<Result<RuleRef, RulesError>>) {
        if let Err(error) = RuleSet::compile(RuleSource::User, vec![rule.clone()]) {
            // Whoever asked may have gone away, here and below.
            let _ = reply.send(Err(error.into()));
            return;
        }
        self.audit_rule(&rule.clone(), "allowed", move |owner, written| {
            if let Err(error) = written {
                let _ = reply.send(Err(error.into()));
            } else if rule.scope == RuleScope::Always {
                let change = move |file: &mut PolicyFile| put_rule(file, &rule);
                owner.change_rules(change, move |_, set| {
                    let _ = reply.send(set.map(|id| RuleRef { source: RuleSource::User, id }));
                });
            } else {
                let set = owner.set_session_rule(rule);
                let _ = reply.send(set.map(|id| RuleRef { source: RuleSource::Session, id }));
            }
        });
    }

    fn set_session_rule(&mut self, rule: PolicyRule) -> Result<u64, RulesError> {
        if rule.id != 0 && !self.permissions.policy.session_mut().remove_if(|own| own.id == rule.id) {
            return Err(RulesError::NoSuchRule);
        }
        let id = self.permissions.policy.session_mut().add(rule)?;
        self.rules_changed();
        Ok(id)
    }

    /// Removes a rule of the user's.
    pub(crate) fn remove_rule(&mut self, rule: RuleRef, reply: oneshot::Sender<Result<(), RulesError>>) {
        let own = self.permissions.policy.rules(rule.source).find(|own| own.id == rule.id).cloned();
        let Some(own) = own.filter(|_| rule.source != RuleSource::Managed) else {
            let _ = reply.send(Err(RulesError::NoSuchRule));
            return;
        };
        self.audit_rule(&own, "denied", move |owner, written| {
            if let Err(error) = written {
                let _ = reply.send(Err(error.into()));
            } else if rule.source == RuleSource::Session {
                owner.permissions.policy.session_mut().remove_if(|own| own.id == rule.id);
                owner.rules_changed();
                let _ = reply.send(Ok(()));
            } else {
                let change = move |file: &mut PolicyFile| {
                    file.rules.retain(|own| own.id != rule.id);
                    Ok(())
                };
                owner.change_rules(change, move |_, removed| drop(reply.send(removed)));
            }
        });
    }

    /// Chooses how much is asked about.
    pub(crate) fn set_preset(&mut self, preset: Preset, reply: oneshot::Sender<Result<(), RulesError>>) {
        let subject = canonical_json(&json!({ "preset": preset }));
        self.audit_policy(&subject, "allowed", move |owner, written| {
            if let Err(error) = written {
                let _ = reply.send(Err(error.into()));
                return;
            }
            let change = move |file: &mut PolicyFile| {
                file.preset = preset;
                Ok(())
            };
            owner.change_rules(change, move |_, set| drop(reply.send(set)));
        });
    }

    /// Trusts a server with calls of its tools, or no longer does.
    pub(crate) fn trust(&mut self, server: &str, trust: Trust, reply: oneshot::Sender<Result<(), RulesError>>) {
        if !self.servers.records.contains_key(server) {
            let _ = reply.send(Err(RulesError::NoSuchServer(server.to_owned())));
            return;
        }
        let (rule, server) = (PolicyRule::trusting(server), server.to_owned());
        let decision = if trust == Trust::No { "denied" } else { "allowed" };
        self.audit_rule(&rule, decision, move |owner, written| match written {
            Ok(()) => owner.set_trust(server, trust, reply),
            Err(error) => drop(reply.send(Err(error.into()))),
        });
    }

    fn set_trust(&mut self, server: String, trust: Trust, reply: oneshot::Sender<Result<(), RulesError>>) {
        // First what needs no file: to end it must not wait for one that can't be used.
        if trust == Trust::Run {
            if let Err(error) = self.permissions.policy.trust_for_run(&server) {
                let _ = reply.send(Err(error.into()));
                return;
            }
        } else {
            self.permissions.policy.end_trust(&server);
        }
        let stands = self.permissions.policy.rules(RuleSource::User).any(|rule| rule.trusts(&server));
        if stands == (trust == Trust::Always) && !self.documents.writer.is_written_later(Document::Policy) {
            self.emit_server(&server);
            self.rules_changed();
            let _ = reply.send(Ok(()));
            return;
        }
        self.rules_changed();
        let name = server.clone();
        let change = move |file: &mut PolicyFile| {
            file.rules.retain(|rule| !rule.trusts(&name));
            if trust == Trust::Always {
                put_rule(file, &PolicyRule::trusting(&name))?;
            }
            Ok(())
        };
        self.change_rules(change, move |owner, set| {
            owner.emit_server(&server);
            let _ = reply.send(set);
        });
    }

    /// For how long a server is trusted.
    pub(crate) fn trust_in(&self, server: &str) -> Trust {
        if self.permissions.policy.rules(RuleSource::User).any(|rule| rule.trusts(server) && !has_expired(rule)) {
            Trust::Always
        } else if self.permissions.policy.is_trusted_for_run(server) {
            Trust::Run
        } else {
            Trust::No
        }
    }

    /// The server's name no longer stands for what was trusted.
    pub(super) fn forget_trust(&mut self, server: &str) {
        if !self.permissions.policy.rules(RuleSource::User).any(|rule| rule.trusts(server)) {
            return;
        }
        let name = server.to_owned();
        let change = move |file: &mut PolicyFile| {
            file.rules.retain(|rule| !rule.trusts(&name));
            Ok(())
        };
        self.change_rules(change, |_, forgotten| {
            if let Err(error) = forgotten {
                tracing::error!(%error, "the trust in a removed server could not be taken out of the rules");
            }
        });
    }

    /// Changes the user's file, as it is on disk then, takes it over, and goes on with `then`.
    fn change_rules<T: Send + 'static>(
        &mut self,
        change: impl Fn(&mut PolicyFile) -> Result<T, RulesError> + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T, RulesError>) + Send + 'static,
    ) {
        let managed = Arc::clone(&self.ports.managed);
        let change = move |kept: Option<Value>| {
            let changed = changed(kept.clone(), &change);
            let unchanged = || kept.clone().unwrap_or_else(|| json!(PolicyFile::default()));
            let value = changed.as_ref().map_or_else(|_| unchanged(), |(file, _)| json!(file));
            (value, (managed.read(), kept, changed))
        };
        self.change_document(Document::Policy, change, move |owner, written| {
            let given = written.map_err(RulesError::from).and_then(|(managed, before, changed)| {
                // What another program wrote meanwhile is not to pass for a change of ours.
                owner.take_rules(managed, Ok(before));
                let (file, given) = changed?;
                owner.permissions.policy.set_user(file)?;
                owner.permissions.rule_files.user.exists = true;
                owner.permissions.rule_files.user.problem = None;
                owner.rules_changed();
                Ok(given)
            });
            then(owner, given);
        });
    }

    fn audit_rule(
        &mut self,
        rule: &PolicyRule,
        decision: &'static str,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        self.audit_policy(&canonical_json(&json!(rule)), decision, then);
    }

    /// A rule lets things cross, so it is written down as they are.
    fn audit_policy(
        &mut self,
        subject: &str,
        decision: &'static str,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let hash = Hash::of_bytes(subject.as_bytes());
        let by = self.options.decides;
        let entry = Decided { kind: "rule", subject, decision, by, hash: hash.as_str(), ..Decided::default() };
        self.audit(entry, then);
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

    /// Refuses a question that a rule denies now, unless it was answered and what it is about has left. To refuse one may have
    /// ended others.
    fn refuse_if_denied(&mut self, id: QuestionId) {
        let at = self.consent.pending.iter().position(|pending| pending.view.id == id && pending.can_be_refused());
        if let Some((at, by)) = at.and_then(|at| Some((at, self.denied_now(at)?))) {
            self.refuse_by_rule(at, by);
        }
    }

    /// What denies a question as it is now: rules may have changed since it was asked, and so may what would cross.
    pub(super) fn denied_now(&self, at: usize) -> Option<By> {
        match self.decide_again(self.consent.pending.get(at)?) {
            Decision::Deny { by, .. } => Some(by),
            _ => None,
        }
    }

    fn decide_again(&self, pending: &Pending) -> Decision {
        let (server, hash) = (pending.view.server.as_str(), &pending.view.hash);
        let conversation = self.calls.conversation_of(&pending.view.why);
        let act = match &pending.view.body {
            QuestionBody::StartServer { .. } => Act::StartServer { server, command: hash },
            QuestionBody::ConnectServer { .. } => Act::ConnectServer { server, address: hash },
            QuestionBody::Tool { tool, arguments, .. } => Act::CallTool {
                server,
                tool: &tool.name,
                // What denies does not rest on these.
                definition: hash,
                standing: Standing::New,
                after_untrusted: false,
                claims: claims_of(tool),
                arguments,
                paths: &pending.paths,
                conversation: conversation.as_deref(),
            },
            QuestionBody::Read { .. } | QuestionBody::Result { .. } => {
                Act::ReadAtUsersWish { server, conversation: conversation.as_deref() }
            }
            QuestionBody::Sampling { .. } => Act::Sample { server, would_use: SamplingUse::default() },
            QuestionBody::Form { .. } => Act::FillForm { server },
            QuestionBody::Url { .. } => Act::OpenUrl { server },
            QuestionBody::Roots => Act::ShareRoots { server, decided: false },
            QuestionBody::SignIn { .. } | QuestionBody::ClientId { .. } => Act::SignIn { server, steps_up: false },
        };
        self.permissions.policy.decide(&act, now())
    }

    /// The paths in a question about a call that rules ask about.
    pub(super) fn paths_in_question(&self, pending: &Pending) -> BTreeSet<String> {
        match &pending.view.body {
            QuestionBody::Tool { tool, arguments, .. } => {
                self.paths_in_call(&pending.view.server, &tool.name, arguments)
            }
            _ => BTreeSet::new(),
        }
    }

    /// What would happen, and which rules say so. Nothing does.
    pub(crate) fn dry_run(
        &mut self,
        server: String,
        asked: DryRun,
        reply: oneshot::Sender<Result<DryRunResult, RulesError>>,
    ) {
        let paths = match &asked {
            DryRun::Call { tool, arguments, .. } => self.paths_in_call(&server, tool, arguments),
            _ => BTreeSet::new(),
        };
        if paths.is_empty() {
            let facts =
                self.servers.records.get(&server).map(|record| not_followed(&record.config)).unwrap_or_default();
            // Whoever asked may have gone away, here and below.
            let _ = reply.send(self.dry_run_with(&server, &asked, &facts));
            return;
        }
        self.beside(follow(paths), move |owner, facts| {
            let _ = reply.send(owner.dry_run_with(&server, &asked, &facts));
        });
    }

    fn dry_run_with(&mut self, server: &str, asked: &DryRun, paths: &PathFacts) -> Result<DryRunResult, RulesError> {
        if let DryRun::Call { tool, arguments, conversation, after_untrusted } = asked
            && self.servers.records.contains_key(server)
        {
            let known = self.known_definition(server, tool)?;
            return Ok(self.permissions.dry_call(
                server,
                (tool, arguments, paths),
                known,
                conversation.as_deref(),
                *after_untrusted,
            ));
        }
        let record = self.servers.records.get(server).ok_or_else(|| RulesError::NoSuchServer(server.to_owned()))?;
        let approved = self.permissions.policy.grants().find(server, &Subject::Command);
        // The hash of a local command has the file that it leads to, which only a start looks for.
        let approved = approved.filter(|_| self.is_approved(server, &record.config));
        let hash = approved.map_or_else(|| config_hash(&record.config), |grant| grant.rests_on.clone());
        let act = match asked {
            DryRun::Call { .. } | DryRun::Read => Act::ReadAtUsersWish { server, conversation: None },
            DryRun::Start if record.config.as_http().is_some() => Act::ConnectServer { server, address: &hash },
            DryRun::Start => Act::StartServer { server, command: &hash },
            DryRun::Sampling => Act::Sample { server, would_use: self.models.sampling.would_use(server, 0) },
            DryRun::Form => Act::FillForm { server },
            DryRun::Url => Act::OpenUrl { server },
            DryRun::Roots => Act::ShareRoots { server, decided: self.shared_roots(server).is_some() },
            DryRun::SignIn => Act::SignIn { server, steps_up: false },
        };
        let assumed_unchanged = matches!(act, Act::StartServer { .. }) && approved.is_some();
        Ok(DryRunResult {
            explanation: self.permissions.policy.explain(&act, now()),
            assumed_unchanged,
            standing: None,
        })
    }

    /// A tool as its server defines it now or, while that does not run, as the user saw it last.
    fn known_definition(&mut self, server: &str, tool: &str) -> Result<KnownTool, RulesError> {
        let no_tool = || RulesError::NoSuchTool { server: server.to_owned(), tool: tool.to_owned() };
        let record = self.servers.records.get_mut(server).ok_or_else(|| RulesError::NoSuchServer(server.to_owned()))?;
        if record.state == ServerState::Ready {
            let (pins, identity) = (&self.reviews.pins, record.offer.identity.as_ref());
            let seen = |own: &Hash| standing_of(pins, server, tool, own, identity);
            let own =
                record.offer.definitions.get(&record.config, &record.offer.catalog, tool, seen).ok_or_else(no_tool)?;
            let (definition, claims) = (own.approval.clone(), own.claims);
            let standing = record.offer.catalog.standing_now(List::Tools, own.standing);
            return Ok(KnownTool { definition, standing, claims, assumed_unchanged: false });
        }
        let approved = self.permissions.policy.grants().find(server, &Subject::Tool(tool.to_owned()));
        let definition = approved.map_or_else(|| Hash::of_bytes(b""), |grant| grant.rests_on.clone());
        let pin = self.reviews.pins.get(server).and_then(|pins| pins.of(Kind::Tool).get(tool));
        let seen = pin.and_then(|pin| serde_json::from_value::<Tool>(pin.definition.clone()?).ok());
        let standing = self.standing_unseen(server, tool);
        let claims = seen.map(|tool| claims_of(&tool)).unwrap_or_default();
        Ok(KnownTool { definition, standing, claims, assumed_unchanged: true })
    }
}

/// What is known of a tool that a dry run is about.
pub(in crate::owner) struct KnownTool {
    pub(in crate::owner) definition: Hash,
    pub(in crate::owner) standing: Standing,
    pub(in crate::owner) claims: Claims,
    /// Whether its server is taken to offer it still as it did.
    pub(in crate::owner) assumed_unchanged: bool,
}

/// What a file holds, and whether there is one.
fn parsed(read: Result<Option<Value>, StoreError>) -> Result<(bool, PolicyFile), String> {
    match read.map_err(|error| error.cause)? {
        None => Ok((false, PolicyFile::default())),
        Some(value) => Ok((true, read_rules(value)?)),
    }
}

/// The user's file, changed, with a number for each rule.
fn changed<T>(
    kept: Option<Value>,
    change: &impl Fn(&mut PolicyFile) -> Result<T, RulesError>,
) -> Result<(PolicyFile, T), RulesError> {
    let (_, mut file) = parsed(Ok(kept)).map_err(RulesError::Unusable)?;
    file.rules = RuleSet::compile(RuleSource::User, file.rules)?.iter().cloned().collect();
    let given = change(&mut file)?;
    RuleSet::compile(RuleSource::User, file.rules.clone())?;
    Ok((file, given))
}

/// Puts a rule in the place of the one with its number, or at the end with a new one.
fn put_rule(file: &mut PolicyFile, rule: &PolicyRule) -> Result<u64, RulesError> {
    if rule.id == 0 {
        let id = file.rules.iter().map(|own| own.id).max().unwrap_or(0) + 1;
        file.rules.push(PolicyRule { id, ..rule.clone() });
        return Ok(id);
    }
    let own = file.rules.iter_mut().find(|own| own.id == rule.id).ok_or(RulesError::NoSuchRule)?;
    own.clone_from(rule);
    Ok(rule.id)
}

fn has_expired(rule: &PolicyRule) -> bool {
    rule.expires_at.is_some_and(|end| end <= now())
}
