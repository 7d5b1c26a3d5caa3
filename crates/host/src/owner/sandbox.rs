//! The sandboxes of local servers: what they reach, the home that each has of its own, and the folders that they are told of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use mcp_transport::sandbox::reach::is_of_system;
use mcp_transport::sandbox::{Plan, Sandbox, SandboxError, missing};
use mcp_transport::stdio::{CommandNotFound, LaunchFile, LaunchFiles, SearchPath, ServerCommand, leads_to_code};
use policy::Hash;
use serde_json::json;
use tokio::sync::oneshot;

use super::Owner;
use super::approvals::path_in_json;
use crate::packages::Launched;
use crate::ports::Ports;
use crate::server_config::{Access, Folder, SandboxConfig, ServerEntry, StdioConfig};
use crate::view::{SandboxPreview, Writer};

/// Where the homes lie, in the data folder.
const HOMES: &str = "sandbox";
/// The most links on the way to one of Drawbridge's own folders, as the system itself follows.
const MOST_LINKS: usize = 40;
/// The most files of others' sandboxes that are told in one question.
const MOST_WRITERS: usize = 32;
/// How much of a hash names a home.
const NAME: usize = 24;

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
    /// the owner loop uses [`Self::folders`].
    fn find(&self) -> Vec<PathBuf> {
        let config = self.config_folder().filter(|config| !config.starts_with(&self.real_data));
        let found: Vec<PathBuf> = [self.real_data.clone()].into_iter().chain(config).collect();
        self.folders.write().unwrap_or_else(PoisonError::into_inner).clone_from(&found);
        found
    }

    /// The same folders as they were found last. [`plan`] finds them before each start.
    fn folders(&self) -> Vec<PathBuf> {
        self.folders.read().unwrap_or_else(PoisonError::into_inner).clone()
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
        let configured = self.servers.get(name).and_then(|record| record.config.as_stdio()).unwrap_or(config);
        ServerCommand {
            program: config.command.clone(),
            arguments: config.args.clone(),
            environment: config.env.clone(),
            working_directory: config.cwd.clone(),
            sandbox: config.sandbox.as_ref().map(|sandbox| Sandbox {
                folders: sandbox.folders.clone(),
                network: sandbox.network.clone(),
                home: self.sandbox_home(name, configured),
                hidden: self.own_files.folders(),
                limits: self.settings.limits.resources(),
            }),
            approved: None,
            files: None,
        }
    }

    /// The home that a server has of its own in a sandbox. It lasts, so that the server keeps its data.
    fn sandbox_home(&self, name: &str, config: &StdioConfig) -> PathBuf {
        self.data_folder().join(HOMES).join(home_name(name, config))
    }

    /// The data folder by where it really lay when Drawbridge began.
    fn data_folder(&self) -> PathBuf {
        self.own_files.real_data.clone()
    }

    /// The other servers whose sandbox lets them write to one of these files.
    pub(super) fn writers(&self, name: &str, files: &LaunchFiles) -> Vec<Writer> {
        let mut found = Vec::new();
        for (server, record) in self.servers.iter().filter(|(server, _)| *server != name) {
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
        let stdio = self.servers.get(name).and_then(|record| record.config.as_stdio()).cloned();
        let Some(stdio) = stdio.filter(|stdio| stdio.sandbox.is_some()) else {
            let _ = reply.send(Err(NoPlan::NoSandbox));
            return;
        };
        let (command, known, own) = (self.command(name, &stdio), self.search_path.clone(), self.own_files.clone());
        tokio::spawn(async move {
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
        let config = self.servers.get(server).and_then(|record| record.config.as_stdio());
        match config.and_then(|config| config.sandbox.as_ref()) {
            Some(sandbox) => reachable(&shared, sandbox),
            None => shared,
        }
    }

    /// The homes of a server before and after it is renamed, if it can have one.
    pub(super) fn renamed_homes(&self, was: &str, entry: &ServerEntry) -> Option<(PathBuf, PathBuf)> {
        let stdio = entry.config.as_stdio().filter(|_| entry.name != was)?;
        Some((self.sandbox_home(was, stdio), self.sandbox_home(&entry.name, stdio)))
    }

    /// Removes the home of a server that its user removed. It may be large.
    pub(super) fn forget_sandbox(&self, name: &str) {
        let config = self.servers.get(name).map(|record| &record.config);
        let Some(stdio) = config.and_then(|config| config.as_stdio()) else { return };
        let home = self.sandbox_home(name, stdio);
        tokio::task::spawn_blocking(move || {
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

/// The name of a server's home. Other code under the same server name gets another home: what the code before it left there, such as
/// `usercustomize.py`, would run in the new sandbox. Another version of the same package keeps the home.
///
/// Beside the settings, the paths that lead elsewhere by a link count, but for the system's: those follow its updates.
fn home_name(name: &str, config: &StdioConfig) -> String {
    let args = match crate::packages::launched(&config.command, &config.args) {
        Some(Launched::Package(reference)) => reference.unversioned(&config.args),
        Some(Launched::Unknown(..)) | None => config.args.clone(),
    };
    let cwd = config.cwd.as_deref().map(path_in_json);
    let mut whose = json!({ "server": name, "command": config.command, "args": args, "cwd": cwd });
    let variables: BTreeMap<_, _> = config.env.iter().filter(|(name, _)| leads_to_code(name)).collect();
    let links = targets_of_links(config, &args, variables.values().map(|value| value.as_str()));
    // A server without them has the home that it had before they counted.
    if !variables.is_empty() {
        whose["variables"] = json!(variables);
    }
    if !links.is_empty() {
        whose["links"] = links.iter().map(|target| path_in_json(target)).collect();
    }
    Hash::of(&whose).as_str().chars().take(NAME).collect()
}

/// Where the paths in a command's settings really lead, as far as there are links on the way.
fn targets_of_links<'v>(
    config: &StdioConfig,
    args: &[String],
    variables: impl Iterator<Item = &'v str>,
) -> Vec<PathBuf> {
    // A bare name is looked up on the search path.
    let command = Some(&config.command).filter(|command| command.contains(std::path::is_separator));
    let values = args.iter().filter_map(|arg| arg.split_once('=')).map(|(_, value)| value);
    let words = command.into_iter().chain(args).map(String::as_str).chain(values);
    let paths = words.map(PathBuf::from).chain(variables.flat_map(std::env::split_paths)).chain(config.cwd.clone());
    let absolute = paths.filter_map(|path| match &config.cwd {
        Some(cwd) => Some(cwd.join(path)),
        // Others lie in the home itself.
        None => Some(path).filter(|path| path.is_absolute()),
    });
    let target = |path: PathBuf| Some(resolved(&path)).filter(|real| *real != path && !is_of_system(real));
    let mut targets: Vec<PathBuf> = absolute.filter_map(target).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// A path without links, as far as it exists: that a file is made later changes nothing.
fn resolved(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let Some((folder, real)) = existing else { return path.to_owned() };
    match path.strip_prefix(folder) {
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
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
    let mut command = command.clone();
    if let Some(sandbox) = &mut command.sandbox {
        sandbox.hidden = own.find();
    }
    let plan = Plan::make(&command, program, path).await?;
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
    use super::*;
    use crate::server_config::Network;

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
    fn s10_other_code_gets_another_home_and_another_version_keeps_it() {
        let config = |command: &str, args: &[&str], cwd: Option<&str>| StdioConfig {
            command: command.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            cwd: cwd.map(PathBuf::from),
            ..StdioConfig::default()
        };
        let home = |command: &str, args: &[&str]| home_name("files", &config(command, args, None));
        let script = home("/usr/bin/python3", &["/old/old.py"]);
        assert_eq!(script, home("/usr/bin/python3", &["/old/old.py"]), "it lasts");
        assert_ne!(script, home("/usr/bin/python3", &["/new/new.py"]), "another script");
        let module = |cwd| home_name("files", &config("/usr/bin/python3", &["-m", "server"], cwd));
        assert_ne!(module(Some("/old")), module(Some("/new")), "a module of another folder");
        assert_ne!(module(Some("/old")), module(None), "or of none");
        let npx = home("npx", &["-y", "@scope/server", "/docs"]);
        assert_eq!(npx, home("npx", &["-y", "@scope/server@1.2.3", "/docs"]), "another version");
        assert_ne!(npx, home("npx", &["-y", "@scope/other", "/docs"]), "another package");
        assert_eq!(home("uvx", &["server"]), home("uvx", &["server==2.0"]), "another version");
    }

    #[test]
    fn s10_variables_that_lead_to_other_code_lead_to_another_home() {
        let home = |variables: &[(&str, &str)]| {
            let env = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let args = vec!["-m".to_owned(), "server".to_owned()];
            let config = StdioConfig { command: "python3".into(), args, env, ..StdioConfig::default() };
            home_name("files", &config)
        };
        for name in ["PYTHONPATH", "PATH", "NODE_OPTIONS", "LD_PRELOAD", "npm_config_registry", "UV_INDEX", "HOME"] {
            assert_ne!(home(&[(name, "/old")]), home(&[(name, "/new")]), "another {name}");
            assert_ne!(home(&[(name, "/old")]), home(&[]), "or none");
        }
        assert_eq!(home(&[("API_KEY", "one")]), home(&[("API_KEY", "two")]), "another key is the same server");
    }

    #[cfg(unix)]
    #[test]
    fn s10_a_link_that_leads_to_other_code_leads_to_another_home() {
        use std::os::unix::fs::symlink;

        let ground = tempfile::tempdir().expect("a folder");
        let base = ground.path().canonicalize().expect("it is there");
        for folder in ["old", "new"] {
            std::fs::create_dir(base.join(folder)).expect("it can be made");
            std::fs::write(base.join(folder).join("server.py"), "").expect("it can be written");
        }
        let at = |name: &str| base.join(name).display().to_string();
        let script = |config: StdioConfig| move || home_name("files", &config);
        let python = |arg: String| StdioConfig { command: "python3".into(), args: vec![arg], ..StdioConfig::default() };
        let link = base.join("link");
        let module = StdioConfig { cwd: Some(link.clone()), ..python("-mserver".into()) };
        let variable = [("PYTHONPATH".to_owned(), at("link"))].into();
        let homes: [(&str, Box<dyn Fn() -> String>); 5] = [
            ("an argument", Box::new(script(python(at("link/server.py"))))),
            ("an option", Box::new(script(python(format!("--require={}", at("link/server.py")))))),
            ("the command", Box::new(script(StdioConfig { command: at("link/server.py"), ..StdioConfig::default() }))),
            ("the working folder", Box::new(script(module))),
            ("a variable", Box::new(script(StdioConfig { env: variable, ..python("-mserver".into()) }))),
        ];
        let all = || homes.iter().map(|(_, home)| home()).collect::<Vec<_>>();
        symlink(base.join("old"), &link).expect("a link");
        let (before, data) = (all(), script(python(at("link/notes.db")))());
        std::fs::write(base.join("old/notes.db"), "").expect("it can be written");
        assert_eq!(script(python(at("link/notes.db")))(), data, "a file that the server made keeps its home");
        std::fs::remove_file(&link).expect("it is there");
        symlink(base.join("new"), &link).expect("a link");
        for ((what, _), (before, after)) in homes.iter().zip(before.iter().zip(all())) {
            assert_ne!(*before, after, "{what} leads elsewhere");
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
