//! The paths that are accessible in a sandbox in addition to the named folders: the operating system's programs and
//! libraries, and the files of the server's own program. All of them are read-only.

use std::path::{Path, PathBuf};

use super::installed_files::{InstalledFiles, may_sandbox_expose_script};
use super::{AccessMode, AllowedFolder, SandboxSettings};
use crate::programs::{SYSTEM_FOLDERS, SearchPath};

/// All paths that are accessible to a sandboxed server, and the folders inside them that stay hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachablePaths {
    /// Folders that the user named in the settings of the sandbox.
    pub folders: Vec<AllowedFolder>,
    /// Files and folders of the operating system, read-only.
    pub system: Vec<PathBuf>,
    /// Installed files of the program, its interpreter and the scripts that its command names, unless they are in
    /// `system`. Read-only.
    pub program: Vec<PathBuf>,
    /// Folder that belongs to this server only, for its home and its temporary files. Writable.
    pub home: PathBuf,
    /// Folders of Drawbridge that are inside an accessible folder and must stay inaccessible to the server. Sorted.
    pub hidden: Vec<PathBuf>,
}

impl ReachablePaths {
    /// Determines the paths that are accessible in this sandbox to `program`, which runs `scripts`. Interpreters are
    /// looked up on `path`, the search path of the command.
    pub fn resolve(
        sandbox: &SandboxSettings,
        program: &Path,
        scripts: &[PathBuf],
        path: &SearchPath,
    ) -> ReachablePaths {
        let system: Vec<PathBuf> = SYSTEM_FOLDERS.iter().map(PathBuf::from).filter(|path| path.exists()).collect();
        let home = std::env::home_dir();
        let writable = sandbox.folders.iter().filter(|folder| folder.access == AccessMode::Write);
        let writable: Vec<&Path> =
            writable.map(|folder| folder.path.as_path()).chain([sandbox.home.as_path()]).collect();
        let mut installations =
            InstalledFiles { path, home: home.as_deref(), hidden: &sandbox.hidden, found: Vec::new() };
        installations.add(program);
        for script in scripts {
            let is_named = sandbox.folders.iter().any(|folder| script.starts_with(&folder.path));
            // The hidden folders include the server's own home, so files that the server creates there make nothing
            // else accessible.
            if !is_named && may_sandbox_expose_script(script, home.as_deref(), &sandbox.hidden) {
                installations.add(script);
            }
        }
        let mut parts = installations.found;
        // Files in writable folders are already accessible. A link in such a folder may have been created by the
        // server, and must make nothing else accessible.
        parts.retain(|part| !writable.iter().any(|folder| part.starts_with(folder)));
        let covered = |part: &PathBuf| system.iter().any(|folder| part.starts_with(folder));
        parts.retain(|part| !covered(part));
        // Hidden folders are hidden at their canonical path only, so another path to them must not be accessible.
        let shows_hidden = |part: &PathBuf| {
            let real = part.canonicalize().ok().filter(|real| real != part);
            real.is_some_and(|real| sandbox.hidden.iter().any(|hidden| hidden.starts_with(&real)))
        };
        for part in parts.iter_mut().filter(|part| shows_hidden(part) && program.starts_with(part)) {
            program.clone_into(part);
        }
        parts.retain(|part| !shows_hidden(part));
        parts.sort();
        parts.dedup();
        // Paths inside an accessible folder are redundant, and bubblewrap refuses to mount a link that is already
        // visible.
        let whole = parts.clone();
        let is_within = |part: &Path| {
            let is_hidden = sandbox.hidden.iter().any(|hidden| part.starts_with(hidden));
            !is_hidden && whole.iter().any(|folder| folder != part && part.starts_with(folder))
        };
        parts.retain(|part| !is_within(part));
        let (folders, home) = (sandbox.folders.clone(), sandbox.home.clone());
        let mut reach = ReachablePaths { folders, system, program: parts, home, hidden: Vec::new() };
        reach.hidden =
            sandbox.hidden.iter().filter(|hidden| reach.containing_path(hidden).is_some()).cloned().collect();
        reach.hidden.sort();
        // Sorted, so each folder comes after its parents.
        reach.hidden.dedup_by(|inner, outer| inner.starts_with(outer));
        reach
    }

    /// Returns the accessible folder or file that contains this path, or `None` if the path is not accessible.
    pub fn containing_path(&self, path: &Path) -> Option<&Path> {
        let named = self.folders.iter().map(|folder| &folder.path);
        let all = named.chain(&self.program).chain(&self.system).chain([&self.home]);
        all.map(PathBuf::as_path).find(|reached| path.starts_with(reached))
    }

    /// Returns the folder for the sandboxed server's temporary files.
    pub fn temporary_folder(&self) -> PathBuf {
        temporary_folder(&self.home)
    }

    /// Returns the read-only paths of the sandbox, sorted so that each path precedes its subfolders.
    #[cfg(any(target_os = "macos", test))]
    pub(crate) fn read_only_paths(&self) -> Vec<&Path> {
        let named = self.folders.iter().filter(|folder| folder.access == AccessMode::Read).map(|folder| &folder.path);
        sorted_unique(self.system.iter().chain(&self.program).chain(named))
    }

    /// Returns the writable paths of the sandbox, sorted so that each path precedes its subfolders.
    #[cfg(any(target_os = "macos", test))]
    pub(crate) fn writable_paths(&self) -> Vec<&Path> {
        let named = self.folders.iter().filter(|folder| folder.access == AccessMode::Write).map(|folder| &folder.path);
        sorted_unique(named.chain([&self.home]))
    }
}

/// Returns the folder for a server's temporary files, which is inside the server's own folder `home`.
pub(crate) fn temporary_folder(home: &Path) -> PathBuf {
    home.join("tmp")
}

#[cfg(any(target_os = "macos", test))]
fn sorted_unique<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Vec<&'p Path> {
    let mut paths: Vec<&Path> = paths.map(PathBuf::as_path).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::programs::SearchPathSource;

    fn write_executable_file(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// S10: a link in a repository leads to the user's folders, or to Drawbridge's own, under another name.
    #[test]
    fn link_to_a_parent_of_the_program_exposes_only_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, repository) = (root.join("home"), root.join("repository"));
        std::fs::create_dir_all(&repository).unwrap();
        for installed in [".local/bin/tool", "bin/tool", ".local/share/bin/tool", "opt/node/v22/bin/tool"] {
            write_executable_file(&home.join(installed), "no script");
        }
        let path = SearchPath { directories: Vec::new(), source: SearchPathSource::LoginShell };
        for (target, may_show) in [("home/.local", false), ("home", false), ("home/opt/node/v22", true)] {
            let link = repository.join(target.replace('/', "-"));
            symlink(root.join(target), &link).unwrap();
            let mut of_link = InstalledFiles { path: &path, home: Some(&home), hidden: &[], found: Vec::new() };
            of_link.add(&link.join("bin/tool"));
            let found = of_link.found;
            assert_eq!(found.contains(&link), may_show, "{target}: {found:?}");
            assert_ne!(
                found.contains(&link.join("bin/tool")),
                may_show,
                "either the link or the program must be included: {found:?}"
            );
            assert!(!found.contains(&home) && !found.contains(&home.join(".local")), "{target}: {found:?}");
        }
        let link = repository.join("share");
        symlink(home.join(".local/share"), &link).unwrap();
        let sandbox = SandboxSettings {
            folders: Vec::new(),
            network: super::super::NetworkAccess::None,
            home: "/nowhere/own".into(),
            hidden: vec![home.join(".local/share/drawbridge")],
            limits: super::super::ResourceLimits::DEFAULT,
        };
        let reach = ReachablePaths::resolve(&sandbox, &link.join("bin/tool"), &[], &path);
        assert!(
            !reach.program.contains(&link),
            "a hidden folder must not be accessible through a link: {:?}",
            reach.program
        );
        assert!(reach.program.contains(&link.join("bin/tool")), "the program must be accessible: {:?}", reach.program);
    }

    #[test]
    fn system_paths_are_exposed_only_once() {
        let sandbox = SandboxSettings {
            folders: Vec::new(),
            network: super::super::NetworkAccess::None,
            home: "/nowhere/own".into(),
            hidden: Vec::new(),
            limits: super::super::ResourceLimits::DEFAULT,
        };
        let path = SearchPath { directories: Vec::new(), source: SearchPathSource::LoginShell };
        let reach = ReachablePaths::resolve(&sandbox, Path::new("/bin/sh"), &[], &path);
        assert_eq!(reach.program, Vec::<PathBuf>::new(), "a system program must add no path");
        assert!(
            !reach.system.iter().any(|path| path == Path::new("/etc")),
            "other files in /etc must stay inaccessible: {:?}",
            reach.system
        );
    }
}
