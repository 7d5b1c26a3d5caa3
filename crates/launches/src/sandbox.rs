//! Sandboxes of local servers: the files of Drawbridge that they must not access, their own home directories, and the
//! sandbox plan (mechanism and accessible paths) that the user sees. Used by starts in `host`, and by the preview of a
//! sandbox.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use ports::Ports;
use ports::server_config::{AccessMode, AllowedFolder, SandboxConfig, StdioConfig};
use process::sandbox::{ResolvedSandbox, SandboxError, SandboxProblem};
use process::{CommandNotFound, SearchPath, ServerCommand};

use crate::home::sandbox_home_name;

/// Name of the folder in the data folder that contains the home directories of sandboxed servers.
const SANDBOX_HOMES_FOLDER_NAME: &str = "sandbox";
/// Name of the folder in the data folder that contains unpacked bundles.
pub const BUNDLES_FOLDER_NAME: &str = "bundles";
/// Maximum number of links that are followed in a path to one of Drawbridge's own folders. Linux has the same limit.
const MAX_SYMLINKS_FOLLOWED: usize = 40;

/// The reason why a sandbox can't be set up, or a command can't be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxPlanError {
    /// The server has no sandbox, so there is no plan.
    #[error("this server has no sandbox; it reaches all that you do")]
    NoSandbox,
    /// The program of the command was not found.
    #[error(transparent)]
    NotFound(#[from] CommandNotFound),
    /// The sandbox of the server can't be set up.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A sandbox folder contains Drawbridge's own files, so the server could change its own sandbox settings.
    #[error(
        "the sandbox's folder {0} contains Drawbridge's own settings, with which a server could leave the sandbox; choose a smaller one"
    )]
    OwnFolder(PathBuf),
    /// The files of the server's bundle differ from those that were unpacked.
    #[error(
        "a file of its bundle has changed since the installation: {0}. Nothing was started. If you did not change it, remove this server and install its bundle again"
    )]
    Bundle(String),
    /// Drawbridge is closing, so nothing is started.
    #[error("Drawbridge is closing")]
    Closing,
}

impl SandboxPlanError {
    /// Returns the stable identifier of the sandbox problem. Returns `None` if the error is of another kind: a missing
    /// command, a changed bundle, a closing host, or a server without a sandbox.
    #[must_use]
    pub const fn problem(&self) -> Option<SandboxProblem> {
        match self {
            Self::Sandbox(error) => Some(error.problem()),
            Self::OwnFolder(_) => Some(SandboxProblem::Exposes),
            Self::NoSandbox | Self::NotFound(_) | Self::Bundle(_) | Self::Closing => None,
        }
    }
}

/// The locations of Drawbridge's own files: the data folder, which contains documents, secrets, the audit log,
/// conversations and the homes of servers, and the settings file, which may contain credentials of other servers. A
/// sandboxed server can neither read nor change these files.
#[derive(Debug, Clone)]
pub struct DrawbridgeFiles {
    data: PathBuf,
    /// Canonical path of the data folder when Drawbridge started.
    real_data: PathBuf,
    config: PathBuf,
    /// Drawbridge's own folders as the last search found them. Sandboxes must hide these folders.
    folders: Arc<RwLock<Vec<PathBuf>>>,
}

impl DrawbridgeFiles {
    /// Determines the locations of Drawbridge's files from the ports. Reads the disk.
    pub fn new(ports: &Ports) -> Self {
        Self::from_folders(ports.documents.path(), ports.servers.path())
    }

    /// Determines the locations of Drawbridge's files from the data folder and the path of the settings file. Reads the
    /// disk.
    pub fn from_folders(data: PathBuf, config: PathBuf) -> Self {
        let real_data = data.canonicalize().unwrap_or_else(|_| data.clone());
        let own = Self { data, real_data, config, folders: Arc::default() };
        own.find_hidden_folders();
        own
    }

    /// Returns the canonical path of the settings file's folder, or `None` if it doesn't exist.
    ///
    /// Hiding only the file is not possible: its next change replaces the file, and the kernel then removes the mount
    /// over it.
    fn config_folder(&self) -> Option<PathBuf> {
        let real = self.config.canonicalize().ok();
        let folder = real.as_deref().unwrap_or(&self.config).parent()?;
        folder.canonicalize().ok()
    }

    /// Finds the folders that must be hidden from a sandboxed server even if it can read their parent folders. Blocks
    /// on the disk, so the owner in `host` uses [`Self::hidden_folders`] instead.
    fn find_hidden_folders(&self) -> Vec<PathBuf> {
        let config = self.config_folder().filter(|config| !config.starts_with(&self.real_data));
        let found: Vec<PathBuf> = [self.real_data.clone()].into_iter().chain(config).collect();
        self.folders.write().unwrap_or_else(PoisonError::into_inner).clone_from(&found);
        found
    }

    /// Returns Drawbridge's own folders that sandboxes hide, as the last search found them.
    /// [`Self::add_home_and_hidden_folders_to_sandbox`] searches before each start.
    pub fn hidden_folders(&self) -> Vec<PathBuf> {
        self.folders.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the folder that contains the home directories of sandboxed servers.
    pub fn sandbox_homes(&self) -> PathBuf {
        self.real_data.join(SANDBOX_HOMES_FOLDER_NAME)
    }

    /// Returns the folder that contains the unpacked bundles.
    pub fn bundles_folder(&self) -> PathBuf {
        self.real_data.join(BUNDLES_FOLDER_NAME)
    }

    /// Returns the path of the home directory that only this sandboxed server has. The directory persists, so that the
    /// server keeps its data.
    pub fn sandbox_home(&self, name: &str, config: &StdioConfig) -> PathBuf {
        self.sandbox_homes().join(sandbox_home_name(name, config))
    }

    /// Completes the sandbox settings of a command with the server's home directory and with Drawbridge's own folders,
    /// which stay hidden. Reads the disk in a blocking task.
    pub async fn add_home_and_hidden_folders_to_sandbox(
        &self,
        name: &str,
        config: &StdioConfig,
        mut command: ServerCommand,
    ) -> ServerCommand {
        let Some(sandbox) = &mut command.sandbox else { return command };
        let (own, name, config) = (self.clone(), name.to_owned(), config.clone());
        let finding =
            tokio::task::spawn_blocking(move || (own.sandbox_home(&name, &config), own.find_hidden_folders()));
        // The task is cancelled only when the host shuts down.
        if let Ok((home, hidden)) = finding.await {
            (sandbox.home, sandbox.hidden) = (home, hidden);
        }
        command
    }

    /// Returns `true` if this configured folder is in the data folder, or is the folder of the settings file, so that
    /// hiding Drawbridge's own folders would not protect its content. The folder of one unpacked bundle is an exception
    /// if it is accessible for reading only.
    fn exposes_drawbridge_files(&self, folder: &AllowedFolder) -> bool {
        let path = &folder.path;
        let is_shown = path.starts_with(&self.real_data) || self.config_folder().is_some_and(|config| *path == config);
        is_shown && !self.is_unpacked_bundle(folder)
    }

    /// Returns `true` if `folder` gives read access to the folder of one unpacked bundle, which a server needs to read
    /// its own code. Write access is never allowed.
    fn is_unpacked_bundle(&self, folder: &AllowedFolder) -> bool {
        let real = folder.path.canonicalize();
        let is_right_below = real.is_ok_and(|real| real.parent() == Some(&self.bundles_folder()));
        folder.access == AccessMode::Read && is_right_below
    }
}

/// Renames the home directory of a server. Does nothing if the directory doesn't exist.
pub fn rename_sandbox_home(from: &Path, to: &Path) {
    if from.exists()
        && let Err(error) = std::fs::rename(from, to)
    {
        tracing::warn!(%error, "the home of a server could not be renamed: {}", from.display());
    }
}

/// Returns the sandbox plan of a command (mechanism and accessible paths), or `None` if the command has no sandbox.
///
/// # Errors
///
/// Returns [`SandboxPlanError::OwnFolder`] if a folder of the sandbox or the program itself would expose Drawbridge's
/// own files, and other variants if the program is not found or the sandbox can't be set up.
pub async fn plan_sandbox(
    command: &ServerCommand,
    program: &Path,
    path: &SearchPath,
    config: &StdioConfig,
    own: &DrawbridgeFiles,
) -> Result<Option<ResolvedSandbox>, SandboxPlanError> {
    if let Some(sandbox) = &config.sandbox {
        // If the path to Drawbridge's files contains a link, a server with write access to the link's folder could
        // redirect it.
        let own_ways = [&own.data, &own.config].into_iter().flat_map(|file| symlink_chain(file));
        let changes = own_ways.into_iter().find_map(|way| sandbox.writable_folder_for(&way).cloned());
        if let Some(folder) =
            changes.or_else(|| sandbox.folders.iter().find(|folder| own.exposes_drawbridge_files(folder)).cloned())
        {
            return Err(SandboxPlanError::OwnFolder(folder.path));
        }
    }
    let plan = ResolvedSandbox::for_command(command, program, path).await?;
    // Hiding the folder would hide the program as well.
    let reach = plan.as_ref().map(|plan| &plan.reach);
    match reach.and_then(|reach| reach.program.iter().find(|part| reach.hidden.contains(part))) {
        Some(part) => Err(SandboxPlanError::OwnFolder(part.clone())),
        None => Ok(plan),
    }
}

/// Returns all paths that decide where a path leads: the path itself, and the path after each step of resolving its
/// links.
fn symlink_chain(path: &Path) -> Vec<PathBuf> {
    let mut ways = vec![path.to_owned()];
    let mut path = path.to_owned();
    for _ in 0..MAX_SYMLINKS_FOLLOWED {
        let mut parts: Vec<&Path> = path.ancestors().collect();
        parts.reverse();
        let link = parts.into_iter().find_map(|part| Some((part.to_owned(), std::fs::read_link(part).ok()?)));
        let Some((link, target)) = link else { break };
        let rest = path.strip_prefix(&link).map(Path::to_owned).unwrap_or_default();
        // A relative target is relative to the link's folder. `..` is resolved there, where no link remains.
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

/// Returns the folders that are both shared with a server (MCP roots) and accessible in its sandbox.
pub fn shared_folders_accessible_in_sandbox(shared: &[PathBuf], sandbox: &SandboxConfig) -> Vec<PathBuf> {
    let mut both: Vec<PathBuf> = Vec::new();
    for folder in shared {
        for reached in sandbox.folders.iter().map(|reached| &reached.path) {
            // Compared by path components: /a/bc is not in /a/b.
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
    use ports::server_config::{AccessMode, AllowedFolder, NetworkAccess};

    use super::*;

    #[cfg(unix)]
    #[test]
    fn s10_each_symlink_on_the_path_to_a_drawbridge_folder_is_protected() {
        use std::fs::create_dir_all;
        use std::os::unix::fs::symlink;

        let ground = tempfile::tempdir().expect("the temporary folder is created");
        let base = ground.path().canonicalize().expect("the path exists");
        for folder in ["home/local", "disk/links", "real/data"] {
            create_dir_all(base.join(folder)).expect("the folder is created");
        }
        symlink(base.join("disk/links/share"), base.join("home/local/share")).expect("the link is created");
        symlink("../../real", base.join("disk/links/share")).expect("the link is created");
        let spelled = base.join("home/local/share/data");
        let ways = symlink_chain(&spelled);
        let expected = [spelled, base.join("disk/links/share/data"), base.join("real/data")];
        for way in expected {
            assert!(ways.contains(&way), "{} must be in the chain {ways:?}", way.display());
            let folder = AllowedFolder {
                path: way.parent().expect("the path has a parent").to_owned(),
                access: AccessMode::Write,
            };
            let sandbox = SandboxConfig { folders: vec![folder], network: NetworkAccess::None };
            assert!(
                ways.iter().any(|way| sandbox.writable_folder_for(way).is_some()),
                "write access next to a link must be detected"
            );
        }
    }

    #[test]
    fn mcp_roots_are_the_intersection_of_shared_and_sandbox_folders() {
        let folder = |path: &str| AllowedFolder { path: path.into(), access: AccessMode::Read };
        let sandbox = SandboxConfig {
            folders: vec![folder("/a/b"), folder("/c/d/e"), folder("/root")],
            network: NetworkAccess::None,
        };
        let roots = |shared: &[&str]| {
            let shared: Vec<PathBuf> = shared.iter().map(PathBuf::from).collect();
            shared_folders_accessible_in_sandbox(&shared, &sandbox)
        };
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(
            roots(&["/a/b/inner"]),
            paths(&["/a/b/inner"]),
            "a shared folder inside an accessible one must be returned"
        );
        assert_eq!(roots(&["/c"]), paths(&["/c/d/e"]), "an accessible folder inside a shared one must be returned");
        assert_eq!(
            roots(&["/x", "/a/bc", "/rootX"]),
            paths(&[]),
            "X29: a folder whose name has the same prefix must not match"
        );
        assert_eq!(roots(&["/a", "/a/b"]), paths(&["/a/b"]), "each folder must be returned once");
        assert_eq!(roots(&[]), paths(&[]), "without shared folders none must be returned");
    }

    #[test]
    fn writable_folders_that_contain_drawbridge_files_are_found() {
        let write = |path: &str| AllowedFolder { path: path.into(), access: AccessMode::Write };
        let sandbox = SandboxConfig { folders: vec![write("/home/ann")], network: NetworkAccess::Full };
        let own = Path::new("/home/ann/.local/share/drawbridge");
        assert!(
            sandbox.writable_folder_for(own).is_some(),
            "a writable folder that contains Drawbridge's own files must be found"
        );
        let read = AllowedFolder { access: AccessMode::Read, ..write("/home/ann") };
        assert!(
            SandboxConfig { folders: vec![read], network: NetworkAccess::Full }.writable_folder_for(own).is_none(),
            "a read-only folder must not be found"
        );
    }
}
