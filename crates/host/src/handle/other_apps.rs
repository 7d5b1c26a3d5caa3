//! Servers of other apps: they are looked for beside those that are set up, and imported with the rules that deny what their apps deny.
//! Callers: the commands of `api` and of the command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::other_apps::{FoundServer, From, ImportNoteKind, ImportStatus, Report, Surroundings, look, project_files};
use policy::{Effect, PolicyRule, RuleRef, RuleSource};
use ports::SecretKept;
use ports::server_config::{ConfigProblem, ServerEntry};

use super::{Host, HostClosed, SetupError};
use crate::rules::RulesError;

/// Why servers of other apps can't be looked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// There is no such app or file.
    #[error("{}", .0.message)]
    Source(ConfigProblem),
    /// No server may know of this folder.
    #[error("{} is not a folder that a server may know of", .0.display())]
    NoProject(PathBuf),
    /// The host ends.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

/// Why a server of another app can't be imported.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ImportServerError {
    /// Its entry can't be used, for this reason.
    #[error("{0}")]
    Unsupported(String),
    /// Another server has its name.
    #[error("there is a server {0:?} already")]
    NameTaken(String),
    /// A tool that its app denies can't be denied.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// It can't be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl Host {
    /// Looks for servers in the settings of other apps, and compares them with those that are set up. Nothing is started or written.
    ///
    /// # Errors
    /// If there is no such app or file.
    pub async fn look_for_servers(&self, from: From, surroundings: Arc<Surroundings>) -> Result<Report, ImportError> {
        let servers = self.snapshot().await?.servers.into_iter();
        let set_up: Vec<ServerEntry> =
            servers.map(|server| ServerEntry { name: server.name, config: server.config }).collect();
        // The files may lie on a slow disk.
        let looked = tokio::task::spawn_blocking(move || look(&from, &surroundings, &set_up)).await.map_err(|error| {
            tracing::error!(%error, "the thread that looks for servers of other apps ended without a result");
            HostClosed
        });
        looked?.map_err(ImportError::Source)
    }

    /// Looks for servers in the files of a project, which is one of the folders that the user lets a server know of.
    ///
    /// # Errors
    /// If it is no such folder.
    pub async fn look_in_project(
        &self,
        folder: PathBuf,
        surroundings: Arc<Surroundings>,
    ) -> Result<Report, ImportError> {
        self.check_project(&folder).await?;
        self.look_for_servers(From::Path(folder), surroundings).await
    }

    /// The files with servers that a project has, by their paths below its folder. They are not read.
    ///
    /// # Errors
    /// If the folder is none that a server may know of.
    pub async fn project_files(&self, folder: PathBuf) -> Result<Vec<&'static str>, ImportError> {
        self.check_project(&folder).await?;
        // The folder may lie on a slow disk.
        Ok(tokio::task::spawn_blocking(move || project_files(&folder)).await.map_err(|_| HostClosed)?)
    }

    /// Only a folder that a server may know of is looked into: those are listed on the server's page, so that the user sees which.
    async fn check_project(&self, folder: &Path) -> Result<(), ImportError> {
        let servers = self.snapshot().await?.servers;
        let is_root = servers.iter().filter_map(|server| server.roots.as_ref()).flatten().any(|root| root == folder);
        if is_root { Ok(()) } else { Err(ImportError::NoProject(folder.to_owned())) }
    }

    /// Imports a server of another app under its name. Its secrets go to the keychain; a pending one is named in the settings and missing in
    /// the keychain. Tools that its app denies are denied by rules, which hold before the server is there to be called. Nothing is
    /// started or approved.
    ///
    /// # Errors
    /// If it can't be used, its name is taken, or the rules, the settings or the secrets can't be written. Then neither the server nor a
    /// new rule stays.
    pub async fn import_server(&self, server: &FoundServer) -> Result<SecretKept, ImportServerError> {
        if server.status == ImportStatus::Unsupported {
            let reason = server.notes.iter().rfind(|note| note.kind == ImportNoteKind::Reason);
            return Err(ImportServerError::Unsupported(reason.map(|note| note.text.clone()).unwrap_or_default()));
        }
        let setup = self.begin_setup().await.map_err(SetupError::from)?;
        if setup.config(&server.name).is_ok() {
            return Err(ImportServerError::NameTaken(server.name.clone()));
        }
        let mut added = Vec::new();
        let imported = match self.deny_tools(server, &mut added).await {
            Ok(()) => setup.add_new(server.new_server()).await.map_err(ImportServerError::from),
            Err(error) => Err(error.into()),
        };
        if imported.is_err() {
            for rule in added {
                // The first error says more than one about a rule that denies the calls of no server.
                drop(self.remove_rule(rule).await);
            }
        }
        imported
    }

    /// Adds the rules that deny the tools that its app denies, unless an equal rule is there. `added` gets those that were added, also
    /// where a later one fails.
    async fn deny_tools(&self, server: &FoundServer, added: &mut Vec<RuleRef>) -> Result<(), RulesError> {
        let is_users = |(source, _): &(RuleSource, PolicyRule)| *source == RuleSource::User;
        let there = self.rules().await?.rules.into_iter().filter(is_users);
        let there: Vec<PolicyRule> = there.map(|(_, rule)| PolicyRule { id: 0, ..rule }).collect();
        for tool in &server.denied_tools {
            let rule = deny(&server.name, tool);
            if !there.contains(&rule) {
                added.push(self.set_rule(rule).await?);
            }
        }
        Ok(())
    }
}

/// A rule that denies calls of one tool.
fn deny(server: &str, tool: &str) -> PolicyRule {
    PolicyRule {
        // Some apps deny by patterns. A star that is meant as a star in a name denies more, never less.
        tool: Some(tool.replace('\\', r"\\")),
        note: "from another app".to_owned(),
        ..PolicyRule::new(Effect::Deny, policy::exactly(server))
    }
}
