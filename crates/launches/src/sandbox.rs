//! The sandboxes of local servers: the files of Drawbridge that they must not reach, the home that each has of its own, and the plan
//! that the user sees. Callers: starts in `host`, and the preview of a sandbox.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use ports::Ports;
use ports::server_config::{Access, Folder, SandboxConfig, StdioConfig};
use process::sandbox::{Plan, SandboxError};
use process::{CommandNotFound, SearchPath, ServerCommand};

use crate::home::home_name;

/// Where the homes lie, in the data folder.
const HOMES: &str = "sandbox";
/// The folder with unpacked bundles, below that for data.
pub const BUNDLES: &str = "bundles";
/// The most links on the way to one of Drawbridge's own folders, as the system itself follows.
const MOST_LINKS: usize = 40;

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
    /// The files of the bundle that it was installed from are not what was unpacked.
    #[error(
        "a file of its bundle is not what was installed: {0}. Nothing was started. If you did not change it, remove this server and install its bundle again"
    )]
    Bundle(String),
    /// Drawbridge is closing.
    #[error("Drawbridge is closing")]
    Closing,
}

/// Drawbridge's own files: records, history, secrets and the homes of servers in the data folder, and the settings file, in which
/// other servers' keys may stand. A server in a sandbox sees and changes nothing of them.
#[derive(Debug, Clone)]
pub struct OwnFiles {
    data: PathBuf,
    /// The data folder by where it really lay when Drawbridge began.
    real_data: PathBuf,
    config: PathBuf,
    /// The folders as they were found last.
    folders: Arc<RwLock<Vec<PathBuf>>>,
}

impl OwnFiles {
    /// The files by where they lie now. Reads the disk.
    pub fn new(ports: &Ports) -> Self {
        Self::of(ports.documents.path(), ports.servers.path())
    }

    /// The files in this data folder, and this settings file, by where they lie now. Reads the disk.
    pub fn of(data: PathBuf, config: PathBuf) -> Self {
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
    pub fn folders(&self) -> Vec<PathBuf> {
        self.folders.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The folder with the homes of servers.
    pub fn homes(&self) -> PathBuf {
        self.real_data.join(HOMES)
    }

    /// The folder with unpacked bundles.
    pub fn bundles(&self) -> PathBuf {
        self.real_data.join(BUNDLES)
    }

    /// The home that a server has of its own in a sandbox. It lasts, so that the server keeps its data.
    pub fn home(&self, name: &str, config: &StdioConfig) -> PathBuf {
        self.homes().join(home_name(name, config))
    }

    /// Gives a command the folders of its sandbox by where links lead now. It waits for the disk, beside the owner's turns.
    pub async fn settle(&self, name: &str, config: &StdioConfig, mut command: ServerCommand) -> ServerCommand {
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
    fn shows(&self, folder: &Folder) -> bool {
        let path = &folder.path;
        let is_shown = path.starts_with(&self.real_data) || self.config_folder().is_some_and(|config| *path == config);
        is_shown && !self.is_bundle(folder)
    }

    /// Whether a folder is that of one unpacked bundle, of which a server may read its own code. None may change one.
    fn is_bundle(&self, folder: &Folder) -> bool {
        let real = folder.path.canonicalize();
        let is_right_below = real.is_ok_and(|real| real.parent() == Some(&self.bundles()));
        folder.access == Access::Read && is_right_below
    }
}

/// Renames the home of a server.
pub fn rename_home(from: &Path, to: &Path) {
    if from.exists()
        && let Err(error) = std::fs::rename(from, to)
    {
        tracing::warn!(%error, "the home of a server could not be renamed: {}", from.display());
    }
}

/// What a command would reach; nothing if it has no sandbox.
pub async fn plan(
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
        if let Some(folder) = changes.or_else(|| sandbox.folders.iter().find(|folder| own.shows(folder)).cloned()) {
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
pub fn reachable(shared: &[PathBuf], sandbox: &SandboxConfig) -> Vec<PathBuf> {
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
    use ports::server_config::{Access, Folder, Network};

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
