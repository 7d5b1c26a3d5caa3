//! The sandboxes of local servers: what they reach, the home that each has of its own, and the folders that they are told of.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use ports::Ports;
use ports::server_config::{Access, Folder, SandboxConfig, ServerEntry, StdioConfig};
use process::sandbox::{Plan, Sandbox, SandboxError};
use process::{CommandNotFound, LaunchFile, LaunchFiles, SearchPath, ServerCommand, missing};
use tokio::sync::oneshot;

use super::Owner;
use super::sandbox_home::{home_name, home_name_by_settings};
use crate::view::{SandboxPreview, Writer};

/// Where the homes lie, in the data folder.
const HOMES: &str = "sandbox";
/// The most links on the way to one of Drawbridge's own folders, as the system itself follows.
const MOST_LINKS: usize = 40;
/// The most files of others' sandboxes that are told in one question.
const MOST_WRITERS: usize = 32;

/// Why a server's sandbox is not as it should be, or its command not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPlan {
    /// It has no sandbox.
    #[error("this server has no sandbox; it reaches all that you do")]
    NoSandbox,
    /// Its program is nowhere to be found.
    #[error(transparent)]
    NotFound(#[from] CommandNotFound),
    /// It can't be set up.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// With this folder it could change what holds it.
    #[error(
        "the sandbox's folder {0} holds Drawbridge's own settings, with which a server could let itself out; name a smaller one"
    )]
    OwnFolder(PathBuf),
}

/// Drawbridge's own files: records, history, secrets and the homes of servers in the data folder, and the settings file, in which
/// other servers' keys may stand. A server in a sandbox sees and changes nothing of them.
#[derive(Debug, Clone)]
pub(super) struct OwnFiles {
    data: PathBuf,
    /// The data folder by where it really lay when Drawbridge began.
    real_data: PathBuf,
    config: PathBuf,
    /// The folders as they were found last.
    folders: Arc<RwLock<Vec<PathBuf>>>,
}

impl OwnFiles {
    pub(super) fn new(ports: &Ports) -> Self {
        let (data, config) = (ports.documents.path(), ports.servers.path());
        let real_data = data.canonicalize().unwrap_or_else(|_| data.clone());
        let own = Self { data, real_data, config, folders: Arc::default() };
        own.find();
        own
    }

    /// The folder of the settings file by where it really lies; none if it is not there. The file alone can't be hidden: the next change
    /// puts another one in its place, and with that the system takes away what lies over it.
    fn config_folder(&self) -> Option<PathBuf> {
        let real = self.config.canonicalize().ok();
        let folder = real.as_deref().unwrap_or(&self.config).parent()?;
        folder.canonicalize().ok()
    }

    /// The folders of which a server in a sandbox sees nothing, wherever else it may read, as they lie now. Waits for the disk, so
    /// turns of the owner use [`Self::folders`].
    fn find(&self) -> Vec<PathBuf> {
        let config = self.config_folder().filter(|config| !config.starts_with(&self.real_data));
        let found: Vec<PathBuf> = [self.real_data.clone()].into_iter().chain(config).collect();
        self.folders.write().unwrap_or_else(PoisonError::into_inner).clone_from(&found);
        found
    }

    /// The same folders as they were found last. [`Self::settle`] finds them before each start.
    fn folders(&self) -> Vec<PathBuf> {
        self.folders.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The folder with the homes of servers.
    fn homes(&self) -> PathBuf {
        self.real_data.join(HOMES)
    }

    /// The home that a server has of its own in a sandbox. It lasts, so that the server keeps its data.
    fn home(&self, name: &str, config: &StdioConfig) -> PathBuf {
        self.homes().join(home_name(name, config))
    }

    /// Gives a command the folders of its sandbox by where links lead now. It waits for the disk, beside the owner's turns.
    pub(super) async fn settle(&self, name: &str, config: &StdioConfig, mut command: ServerCommand) -> ServerCommand {
        let Some(sandbox) = &mut command.sandbox else { return command };
        let (own, name, config) = (self.clone(), name.to_owned(), config.clone());
        let finding = tokio::task::spawn_blocking(move || (own.home(&name, &config), own.find()));
        // Where it is interrupted the host ends.
        if let Ok((home, hidden)) = finding.await {
            (sandbox.home, sandbox.hidden) = (home, hidden);
        }
        command
    }

    /// Whether a folder that is named shows some of them though they are hidden. Beside the settings file, whose folder may be any, there
    /// may be folders that are somebody else's.
    fn shows(&self, folder: &Path) -> bool {
        folder.starts_with(&self.real_data) || self.config_folder().is_some_and(|config| folder == config)
    }
}

impl Owner {
    /// How a local server is started.
    pub(super) fn command(&self, name: &str, config: &StdioConfig) -> ServerCommand {
        // By the settings, since the approved command may name an image by nothing but its content.
        let configured = self.servers.records.get(name).and_then(|record| record.config.as_stdio()).unwrap_or(config);
        ServerCommand {
            program: config.command.clone(),
            arguments: config.args.clone(),
            environment: config.env.clone(),
            working_directory: config.cwd.clone(),
            sandbox: config.sandbox.as_ref().map(|sandbox| Sandbox {
                folders: sandbox.folders.clone(),
                network: sandbox.network.clone(),
                home: self.sandbox_home(name, configured),
                hidden: self.launches.own_files.folders(),
                limits: self.settings.current.limits.resources(),
            }),
            approved: None,
            files: None,
        }
    }

    /// The home that a server has of its own in a sandbox, as it was found before the last start. Of a server that was not started
    /// yet links are not followed, as a turn waits for no disk.
    fn sandbox_home(&self, name: &str, config: &StdioConfig) -> PathBuf {
        let plan = self.servers.records.get(name).and_then(|record| record.launch.plan.as_ref());
        match plan {
            Some(plan) => plan.reach.home.clone(),
            None => self.launches.own_files.homes().join(home_name_by_settings(name, config)),
        }
    }

    /// The other servers whose sandbox lets them write to one of these files.
    pub(super) fn writers(&self, name: &str, files: &LaunchFiles) -> Vec<Writer> {
        let mut found = Vec::new();
        for (server, record) in self.servers.records.iter().filter(|(server, _)| *server != name) {
            let Some(stdio) = record.config.as_stdio() else { continue };
            let Some(sandbox) = &stdio.sandbox else { continue };
            let home = Folder { path: self.sandbox_home(server, stdio), access: Access::Write };
            let folders = sandbox.folders.iter().chain([&home]).filter(|folder| folder.access == Access::Write);
            for folder in folders.map(|folder| &folder.path) {
                let reached =
                    files.iter().filter(|file| file.path.starts_with(folder) || file.real.starts_with(folder));
                let writer = |file: &LaunchFile| Writer {
                    server: server.clone(),
                    file: file.path.clone(),
                    folder: folder.clone(),
                };
                found.extend(reached.map(writer));
            }
        }
        found.truncate(MOST_WRITERS);
        found
    }

    /// What a server would reach if it were started now. Nothing is started.
    pub(crate) fn plan_sandbox(&mut self, name: &str, reply: oneshot::Sender<Result<SandboxPreview, NoPlan>>) {
        let stdio = self.servers.records.get(name).and_then(|record| record.config.as_stdio()).cloned();
        let Some(stdio) = stdio.filter(|stdio| stdio.sandbox.is_some()) else {
            let _ = reply.send(Err(NoPlan::NoSandbox));
            return;
        };
        let (command, known, own) =
            (self.command(name, &stdio), self.launches.search_path.clone(), self.launches.own_files.clone());
        let name = name.to_owned();
        tokio::spawn(async move {
            let command = own.settle(&name, &stdio, command).await;
            let (path, found) = super::starting::find(command.clone(), known).await;
            let _ = reply.send(match found {
                Ok(program) => match plan(&command, &program, &path, &stdio, &own).await {
                    Ok(Some(plan)) => Ok(preview(command, program, path, plan).await),
                    Ok(None) => Err(NoPlan::NoSandbox),
                    Err(error) => Err(error),
                },
                Err(error) => Err(error.into()),
            });
        });
    }

    /// The folders that a server is told of: those that its user shared, and of them no more than its sandbox lets it reach.
    pub(super) fn told_roots(&self, server: &str) -> Option<Vec<PathBuf>> {
        Some(self.told_of(server, self.shared_roots(server)?))
    }

    /// What a server is told of these folders: in a sandbox, those that it reaches.
    pub(super) fn told_of(&self, server: &str, shared: Vec<PathBuf>) -> Vec<PathBuf> {
        let config = self.servers.records.get(server).and_then(|record| record.config.as_stdio());
        match config.and_then(|config| config.sandbox.as_ref()) {
            Some(sandbox) => reachable(&shared, sandbox),
            None => shared,
        }
    }

    /// Renames the home of a server that is renamed, if it can have one. It waits for the disk.
    pub(super) fn renaming_of_home(&self, was: &str, entry: &ServerEntry) -> Option<impl FnOnce() + Send + 'static> {
        let stdio = entry.config.as_stdio().filter(|_| entry.name != was)?.clone();
        let (own, was, name) = (self.launches.own_files.clone(), was.to_owned(), entry.name.clone());
        Some(move || rename_home(&own.home(&was, &stdio), &own.home(&name, &stdio)))
    }

    /// Removes the home of a server that its user removed. It may be large.
    pub(super) fn forget_sandbox(&self, name: &str) {
        let config = self.servers.records.get(name).map(|record| &record.config);
        let Some(stdio) = config.and_then(|config| config.as_stdio()).cloned() else { return };
        let (own, name) = (self.launches.own_files.clone(), name.to_owned());
        tokio::task::spawn_blocking(move || {
            let home = own.home(&name, &stdio);
            if let Err(error) = std::fs::remove_dir_all(&home)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!(%error, "the home of a server that is gone could not be removed: {}", home.display());
            }
        });
    }
}

/// Renames the home of a server.
pub(super) fn rename_home(from: &Path, to: &Path) {
    if from.exists()
        && let Err(error) = std::fs::rename(from, to)
    {
        tracing::warn!(%error, "the home of a server could not be renamed: {}", from.display());
    }
}

/// Adds what a command needs and would not reach.
async fn preview(command: ServerCommand, program: PathBuf, path: SearchPath, plan: Plan) -> SandboxPreview {
    let for_reading = plan.clone();
    let looking = tokio::task::spawn_blocking(move || missing(&command, &program, &path, &for_reading));
    // An interruption leaves hints out, and nothing else.
    SandboxPreview { plan, missing: looking.await.unwrap_or_default() }
}

/// What a command would reach; nothing if it has no sandbox.
pub(super) async fn plan(
    command: &ServerCommand,
    program: &Path,
    path: &SearchPath,
    config: &StdioConfig,
    own: &OwnFiles,
) -> Result<Option<Plan>, NoPlan> {
    if let Some(sandbox) = &config.sandbox {
        // Where a link lies on the way there, whoever may write beside it could have it lead elsewhere.
        let own_ways = [&own.data, &own.config].into_iter().flat_map(|file| ways(file));
        let changes = own_ways.into_iter().find_map(|way| sandbox.may_change(&way).cloned());
        if let Some(folder) = changes.or_else(|| sandbox.folders.iter().find(|folder| own.shows(&folder.path)).cloned())
        {
            return Err(NoPlan::OwnFolder(folder.path));
        }
    }
    let plan = Plan::make(command, program, path).await?;
    // What is hidden would hide the program as well.
    let reach = plan.as_ref().map(|plan| &plan.reach);
    match reach.and_then(|reach| reach.program.iter().find(|part| reach.hidden.contains(part))) {
        Some(part) => Err(NoPlan::OwnFolder(part.clone())),
        None => Ok(plan),
    }
}

/// All paths that decide where a path leads: as it is spelled, and as it is after each link on the way.
fn ways(path: &Path) -> Vec<PathBuf> {
    let mut ways = vec![path.to_owned()];
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let mut parts: Vec<&Path> = path.ancestors().collect();
        parts.reverse();
        let link = parts.into_iter().find_map(|part| Some((part.to_owned(), std::fs::read_link(part).ok()?)));
        let Some((link, target)) = link else { break };
        let rest = path.strip_prefix(&link).map(Path::to_owned).unwrap_or_default();
        // A relative target starts where the link lies; `..` in it is resolved there, where no link is left.
        let target = link.parent().unwrap_or(&link).join(target);
        let parent = target.parent().and_then(|parent| parent.canonicalize().ok());
        let next = match (parent, target.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => target.canonicalize().unwrap_or(target),
        };
        path = if rest.as_os_str().is_empty() { next } else { next.join(rest) };
        ways.push(path.clone());
    }
    ways.extend(path.canonicalize());
    ways
}

/// What lies both in the folders that were shared and in those of a sandbox.
fn reachable(shared: &[PathBuf], sandbox: &SandboxConfig) -> Vec<PathBuf> {
    let mut both: Vec<PathBuf> = Vec::new();
    for folder in shared {
        for reached in sandbox.folders.iter().map(|reached| &reached.path) {
            // By whole names: /a/bc does not lie in /a/b.
            let inner = if folder.starts_with(reached) {
                folder
            } else if reached.starts_with(folder) {
                reached
            } else {
                continue;
            };
            if !both.contains(inner) {
                both.push(inner.clone());
            }
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use ports::server_config::Network;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn s10_each_link_on_the_way_to_an_own_folder_counts() {
        use std::fs::create_dir_all;
        use std::os::unix::fs::symlink;

        let ground = tempfile::tempdir().expect("a folder");
        let base = ground.path().canonicalize().expect("it is there");
        for folder in ["home/local", "disk/links", "real/data"] {
            create_dir_all(base.join(folder)).expect("it can be made");
        }
        symlink(base.join("disk/links/share"), base.join("home/local/share")).expect("a link");
        symlink("../../real", base.join("disk/links/share")).expect("a link");
        let spelled = base.join("home/local/share/data");
        let ways = ways(&spelled);
        let wanted = [spelled, base.join("disk/links/share/data"), base.join("real/data")];
        for way in wanted {
            assert!(ways.contains(&way), "{} is one of {ways:?}", way.display());
            let folder = Folder { path: way.parent().expect("it has one").to_owned(), access: Access::Write };
            let sandbox = SandboxConfig { folders: vec![folder], network: Network::None };
            assert!(
                ways.iter().any(|way| sandbox.may_change(way).is_some()),
                "whoever may write there may redirect it"
            );
        }
    }

    #[test]
    fn a_server_is_told_of_what_it_reaches_and_was_shared() {
        let folder = |path: &str| Folder { path: path.into(), access: Access::Read };
        let sandbox =
            SandboxConfig { folders: vec![folder("/a/b"), folder("/c/d/e"), folder("/root")], network: Network::None };
        let told = |shared: &[&str]| {
            let shared: Vec<PathBuf> = shared.iter().map(PathBuf::from).collect();
            reachable(&shared, &sandbox)
        };
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(told(&["/a/b/inner"]), paths(&["/a/b/inner"]), "a shared folder in a reachable one");
        assert_eq!(told(&["/c"]), paths(&["/c/d/e"]), "a reachable folder in a shared one");
        assert_eq!(
            told(&["/x", "/a/bc", "/rootX"]),
            paths(&[]),
            "X29: a name that only begins alike is another folder"
        );
        assert_eq!(told(&["/a", "/a/b"]), paths(&["/a/b"]), "each once");
        assert_eq!(told(&[]), paths(&[]), "nothing was shared");
    }

    #[test]
    fn folders_that_hold_own_files_are_found() {
        let write = |path: &str| Folder { path: path.into(), access: Access::Write };
        let sandbox = SandboxConfig { folders: vec![write("/home/ann")], network: Network::Full };
        let own = Path::new("/home/ann/.local/share/drawbridge");
        assert!(sandbox.may_change(own).is_some(), "a server that may change it could let itself out");
        let read = Folder { access: Access::Read, ..write("/home/ann") };
        assert!(
            SandboxConfig { folders: vec![read], network: Network::Full }.may_change(own).is_none(),
            "reading lets nobody out"
        );
    }
}
