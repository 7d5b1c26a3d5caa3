//! The configured servers: adding, changing and removing them, together with all data that is stored under their names.

use std::sync::Arc;

use domain::StoreError;
use launches::approvals::approval_text;
use policy::{Grant, GrantSubject};
use ports::server_config::{ConfigProblem, ServerConfig, ServerEntry, ServerTransport, address_hash};
use ports::{Document, ServerSettings};
use serde_json::Value;
use supervision::activity::ActivityLog;
use tokio::sync::oneshot;

use super::sign_in::TokenDeletionReply;
use super::state::ServerError;
use super::{Owner, ServerRecord};
use crate::view::{ConsentRequestBody, HostEvent, ServerState};

/// Sender for the result of adding, changing or removing a server.
type ServerChangeReply = oneshot::Sender<Result<(), ServerError>>;

/// Content of the settings file with the servers, as read from disk.
struct ServersDocument {
    entries: Result<Vec<ServerEntry>, ConfigProblem>,
    is_there: bool,
}

fn read_servers(settings: &dyn ServerSettings) -> ServersDocument {
    ServersDocument { entries: settings.load(), is_there: settings.path().exists() }
}

impl Owner {
    /// Reads the servers' settings file again after another process changed it.
    pub(crate) fn reload_servers(&mut self) {
        let settings = Arc::clone(&self.ports.servers);
        self.run_on_writer_thread(
            move |_| read_servers(settings.as_ref()),
            |owner, read| match read {
                Ok(read) => owner.apply_servers(read),
                Err(cause) => tracing::error!(cause, "the settings could not be read again"),
            },
        );
    }

    /// Reads the servers' settings file at startup, before the host accepts commands.
    pub(super) fn read_servers(&mut self) {
        let read = read_servers(self.ports.servers.as_ref());
        self.apply_servers(read);
    }

    /// Changes the servers' settings file, applies the resulting content, and calls `then`.
    fn change_servers(
        &mut self,
        change: impl FnOnce(&dyn ServerSettings) -> Result<(), ServerError> + Send + 'static,
        then: impl FnOnce(&mut Self, Result<ServersDocument, ServerError>) + Send + 'static,
    ) {
        let settings = Arc::clone(&self.ports.servers);
        let file = settings.path().display().to_string();
        self.run_on_writer_thread(
            move |_| change(settings.as_ref()).map(|()| read_servers(settings.as_ref())),
            move |owner, changed| {
                let no_room = |cause: &str| {
                    Err(ConfigProblem { file: Some(file), line: None, column: None, message: cause.to_owned() }.into())
                };
                then(owner, changed.unwrap_or_else(no_room));
            },
        );
    }

    /// Applies the content of the settings file. Servers that were removed or have another command are stopped. An
    /// invalid file has no effect.
    fn apply_servers(&mut self, ServersDocument { entries, is_there }: ServersDocument) {
        let entries = match entries {
            Ok(entries) if entries.is_empty() && !self.servers.records.is_empty() && !is_there => {
                // Some programs remove the file for a moment while they write it.
                let path = self.ports.servers.path();
                self.set_config_problem(Some(ConfigProblem {
                    file: Some(path.display().to_string()),
                    line: None,
                    column: None,
                    message: "the file was removed; the servers stay unchanged until it exists again".to_owned(),
                }));
                return;
            }
            Ok(entries) => entries,
            Err(problem) => {
                self.set_config_problem(Some(problem));
                return;
            }
        };
        self.set_config_problem(None);
        let removed: Vec<String> =
            self.servers.records.keys().filter(|name| !entries.iter().any(|e| e.name == **name)).cloned().collect();
        // Grants are retained, since they are bound to the exact command. Editors may remove a server and re-add it.
        for name in removed {
            self.remove_server_record(&name);
        }
        for (at, ServerEntry { name, config }) in entries.into_iter().enumerate() {
            let before = self.servers.records.get(&name).map(|record| Arc::clone(&record.config));
            if let Some(before) = before.filter(|before| before.tools != config.tools) {
                self.audit_tool_filter_change(&name, &before.tools, &config.tools);
            }
            match self.servers.records.get(&name) {
                None => {
                    self.servers.records.insert(
                        name.clone(),
                        Box::new(ServerRecord::new(
                            config,
                            ActivityLog::with_shared_total_size(&self.servers.activity_size),
                            Arc::clone(&self.ports.clock),
                        )),
                    );
                    self.set_server_identity_for_rules(&name, None);
                    self.emit_server_change(&name);
                }
                Some(record) if record.config.differs_without_restart(&config) => {
                    self.change_without_restart(&name, config)
                }
                Some(record) if *record.config != config => self.change_config(&name, config),
                Some(_) => {}
            }
            if let Some(from) = self.servers.records.get_index_of(&name) {
                self.servers.records.move_index(from, at.min(self.servers.records.len() - 1));
            }
        }
    }

    fn set_config_problem(&mut self, problem: Option<ConfigProblem>) {
        if self.settings.config_problem != problem {
            self.settings.config_problem.clone_from(&problem);
            self.events.emit(HostEvent::ConfigProblem(self.displayed_config_problem()));
        }
    }

    pub(crate) fn add_server(&mut self, entry: ServerEntry, reply: ServerChangeReply) {
        if let Err(error) = self.servers.check_new_server(&entry) {
            // The caller may have stopped waiting, here and below.
            let _ = reply.send(Err(error));
            return;
        }
        let (name, added) = (entry.name.clone(), entry.name.clone());
        self.change_servers(
            move |settings| {
                let cause = "another server has it";
                let is_put = settings.put_if_unchanged(&entry, None)?;
                if is_put { Ok(()) } else { Err(ServerError::BadName { name: added, cause: cause.to_owned() }) }
            },
            move |owner, put| {
                let added = put.map(|read| {
                    // If a server with this name was removed from the settings by hand, its record still exists. It
                    // doesn't apply to the new server.
                    owner.forget_former_install_record(&name);
                    owner.apply_servers(read);
                });
                let _ = reply.send(added);
            },
        );
    }

    /// Changes the name or settings of a server. If `before` is given and the settings file contains another
    /// configuration of the server at the time of the write, nothing is changed.
    pub(crate) fn update_server(
        &mut self,
        was: &str,
        entry: ServerEntry,
        before: Option<ServerConfig>,
        forgotten: TokenDeletionReply,
        reply: ServerChangeReply,
    ) {
        if let Err(error) = self.servers.check_changed_server(was, &entry) {
            let _ = reply.send(Err(error));
            return;
        }
        let rename_sandbox_home = self.launches.sandbox_home_rename_task(was, &entry);
        let (was, written, old) = (was.to_owned(), entry.clone(), was.to_owned());
        self.change_servers(
            move |settings| {
                match before {
                    Some(before) if !settings.put_if_unchanged(&written, Some(&before))? => {
                        return Err(ServerError::Changed(old));
                    }
                    Some(_) => {}
                    None => settings.put(&written, Some(&old))?,
                }
                if let Some(rename_sandbox_home) = rename_sandbox_home {
                    rename_sandbox_home();
                }
                Ok(())
            },
            move |owner, put| {
                let updated = put.map(|read| {
                    owner.forget_tokens(&was, &entry, forgotten);
                    owner.servers.discard_cached_secrets(&was);
                    let renamed = owner.servers.records.get(&was).filter(|_| entry.name != was);
                    let tools_before = renamed.map(|record| record.config.tools.clone());
                    if entry.name != was {
                        owner.rename_shared_roots(&was, &entry.name);
                        owner.rename_data_flow(&was, &entry.name);
                        owner.rename_sampling_record(&was, &entry.name);
                        owner.forget_install_record(&entry.name);
                        owner.rename_install_record(&was, &entry.name);
                        owner.remove_server_record(&was);
                        owner.forget_server(&was);
                    }
                    owner.apply_servers(read);
                    if let Some(before) = tools_before {
                        owner.audit_tool_filter_change_at_rename(&entry.name, &before);
                    }
                });
                owner.reply_after_earlier_writes(reply, updated);
            },
        );
    }

    pub(crate) fn remove_server(&mut self, name: &str, forgotten: TokenDeletionReply, reply: ServerChangeReply) {
        if !self.servers.records.contains_key(name) {
            let _ = reply.send(Err(ServerError::NotFound(name.to_owned())));
            return;
        }
        let (name, removed) = (name.to_owned(), name.to_owned());
        self.change_servers(
            move |settings| Ok(settings.remove(&removed)?),
            move |owner, left| {
                let removed = left.map(|_| {
                    owner.delete_sandbox_home(&name);
                    owner.forget_sign_in(&name, forgotten);
                    owner.remove_server_record(&name);
                    owner.forget_server(&name);
                });
                owner.reply_after_earlier_writes(reply, removed);
            },
        );
    }

    /// Sends the outcome to the caller after all earlier document writes, such as those that remove a server's data.
    fn reply_after_earlier_writes(&mut self, reply: ServerChangeReply, outcome: Result<(), ServerError>) {
        self.run_on_writer_thread(|_| (), move |_, _| drop(reply.send(outcome)));
    }

    /// Deletes all data that is stored under the name of a removed server.
    fn forget_server(&mut self, name: &str) {
        self.permissions.policy.forget_server(name);
        self.write_grants(name, None, |_, written| {
            if let Err(error) = written {
                tracing::error!(%error, "the grants of a removed server could not be removed");
            }
        });
        self.consent.throttles.remove(name);
        self.forget_shared_roots(name);
        self.forget_data_flow(name);
        self.forget_sampling_record(name);
        self.remove_last_session_facts(name);
        self.forget_pins(name);
        self.forget_approved_package(name);
        self.forget_install_record(name);
        self.forget_trust(name);
        self.permissions.uses.forget_server(name);
        self.write_uses();
        self.permissions.revoked.forget_server(name);
    }

    /// Removes the in-memory record of a server.
    fn remove_server_record(&mut self, name: &str) {
        self.stop(name);
        self.withdraw_requests_if(|p| p.view.server == name);
        if self.servers.records.shift_remove(name).is_some() {
            self.events.emit(HostEvent::ServerRemoved(name.to_owned()));
        }
    }

    fn change_config(&mut self, name: &str, config: ServerConfig) {
        self.stop(name);
        let is_start = |body: &ConsentRequestBody| {
            matches!(body, ConsentRequestBody::StartServer { .. } | ConsentRequestBody::ConnectServer { .. })
        };
        self.withdraw_requests_if(|p| p.view.server == name && is_start(&p.view.body));
        // The known transport and revision depend on the configured revision.
        if self.servers.records.get(name).is_some_and(|record| record.config.revision != config.revision) {
            self.remove_last_session_facts(name);
        }
        if let Some(record) = self.servers.records.get_mut(name) {
            record.sign_in.apply_settings(config.as_http());
            record.config = Arc::new(config);
            record.start_again = false;
            if record.session.connection.is_none() {
                record.set_state(ServerState::Stopped);
            }
        }
        self.set_server_identity_for_rules(name, None);
        self.emit_server_change(name);
    }

    /// Returns `true` if a grant allows starting this command or address. Commands are compared by their readable
    /// texts, which are equal even if values of variables or program files have changed. A start itself compares hashes
    /// that cover those values and files, and requires consent if they differ. The result is therefore used only for
    /// display and to choose the servers that start with the app.
    pub(crate) fn is_approved(&self, name: &str, config: &ServerConfig) -> bool {
        let grant = self.permissions.policy.grants().find(name, &GrantSubject::Command);
        grant.filter(|grant| !grant.has_expired(self.now())).is_some_and(|grant| match &config.transport {
            ServerTransport::Stdio(_) => {
                grant.words == approval_text(&self.launches.with_approved_package(name, config))
            }
            ServerTransport::Http(config) => grant.rests_on == address_hash(config),
        })
    }

    /// Writes the grants of a server to the file, or only those for the given subjects, and calls `then`. Other entries
    /// of the file are retained, since another process may have written them.
    pub(super) fn write_grants(
        &mut self,
        server: &str,
        subjects: Option<&[GrantSubject]>,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let (server, subjects) = (server.to_owned(), subjects.map(<[GrantSubject]>::to_vec));
        let concerns =
            move |grant: &Grant| grant.server == server && subjects.as_ref().is_none_or(|s| s.contains(&grant.subject));
        let own: Vec<Grant> =
            self.permissions.policy.grants().persistent_grants().into_iter().filter(&concerns).collect();
        let change = move |stored: Option<Value>| {
            let mut stored: Vec<Grant> =
                stored.and_then(|stored| serde_json::from_value(stored).ok()).unwrap_or_default();
            stored.retain(|grant| !concerns(grant));
            stored.extend(own.iter().cloned());
            (serde_json::to_value(stored).unwrap_or_default(), ())
        };
        self.change_document(Document::Grants, change, then);
    }
}
