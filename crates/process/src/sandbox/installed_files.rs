//! Finds the files that belong to an installed program: its own folder, its package, its Python environment, the
//! version manager behind a shim, and the same for its interpreter. Links are followed one by one, because each path of
//! the chain must exist in a sandbox. The caller is [`ReachablePaths`](super::ReachablePaths).

use std::path::{Path, PathBuf};

use super::folder_proposals::{
    PROJECT_MARKERS, VERSION_MANAGER_FOLDERS, check_folder_proposal, is_secret_location, path_and_canonical,
};
use crate::programs::{SearchPath, find_interpreter};

/// Maximum number of interpreters that are followed when the interpreter of a script is a script itself.
const MAX_INTERPRETER_CHAIN: usize = 3;
/// Minimum number of path components between the user's home and an installation folder, including that folder. Folders
/// such as `~/.local` or `~/.cargo` contain more than programs.
const MIN_COMPONENTS_BELOW_HOME: usize = 2;
/// Maximum number of symbolic links that are followed from a program to its canonical path.
const MAX_PROGRAM_SYMLINKS: usize = 8;
/// Maximum number of parent folders of a script that are searched for the package to which the script belongs.
const MAX_PACKAGE_ANCESTORS: usize = 8;
/// Maximum number of entries of a folder that are searched for shared libraries.
const MAX_FOLDER_ENTRIES: usize = 512;
/// Maximum number of bytes of a `pyvenv.cfg` that are read.
const MAX_PYVENV_BYTES: u64 = 16 * 1024;
/// Name of the folder that contains npm packages.
const NODE_MODULES_FOLDER: &str = "node_modules";
/// File that marks a folder as a Python environment.
const PYVENV_FILE: &str = "pyvenv.cfg";
/// Folder in which version managers put small programs that run the real ones.
const VERSION_MANAGER_SHIM_FOLDER: &str = "shims";
/// Names of files and folders that a program needs to run if they are in the same folder as the program's file.
const FILES_NEXT_TO_PROGRAM: [&str; 3] = ["_internal", "lib", "resources"];

/// Collects the files and folders that belong to installed programs.
pub(super) struct InstalledFiles<'p> {
    /// Search path on which interpreters are looked up.
    pub(super) path: &'p SearchPath,
    /// Home folder of the user, or `None` if it is unknown.
    pub(super) home: Option<&'p Path>,
    /// Canonical paths of folders that belong to Drawbridge.
    pub(super) hidden: &'p [PathBuf],
    /// Folders and files of programs found so far, in any order.
    pub(super) found: Vec<PathBuf>,
}

impl InstalledFiles<'_> {
    /// Adds the files that belong to a program. If the program is a script, also adds those of its interpreter.
    pub(super) fn add(&mut self, program: &Path) {
        self.add_program(program, MAX_INTERPRETER_CHAIN);
    }

    fn add_program(&mut self, program: &Path, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let Some(real) = program.canonicalize().ok().filter(|real| real.is_file()) else { return };
        for step in symlink_chain(program) {
            // A link in place of a parent folder must not make more accessible than its target would.
            let as_found = self.installation_folder(&step);
            let place = canonicalize_parent(&step).map(|step| self.installation_folder(&step));
            let is_as_found = as_found.canonicalize().ok() == place;
            self.found.push(if is_as_found { as_found } else { step.clone() });
            // The canonical path is part of the approved plan as well, so that the link can't be redirected later.
            self.found.extend(place);
            self.add_shim_folder(&step);
        }
        let folder = self.installation_folder(&real);
        self.found.push(folder);
        self.add_packages(&real);
        self.add_libraries(&real);
        self.add_python_environment(&real, depth);
        self.add_python_environment(program, depth);
        if let Some(interpreter) = find_interpreter(&real, self.path) {
            self.add_program(&interpreter, depth);
        }
    }

    /// Returns the folder of a program: for `…/bin/program` the whole installation, or the `bin` folder if its parent
    /// may not be used as an installation folder. For any other path, returns the file itself.
    fn installation_folder(&self, program: &Path) -> PathBuf {
        let Some(bin) = program.parent().filter(|folder| folder.ends_with("bin")) else { return program.to_owned() };
        let Some(whole) = bin.parent().filter(|folder| folder.parent().is_some()) else { return bin.to_owned() };
        if self.is_installation_folder(whole) { whole.to_owned() } else { bin.to_owned() }
    }

    /// Returns `true` if the folder can be an installation folder: neither the user's home, nor a parent of it, nor
    /// directly below it. A Python environment may be directly below the home.
    fn is_installation_folder(&self, folder: &Path) -> bool {
        let homes = path_and_canonical(self.home);
        let holds_home = homes.iter().any(|home| home.starts_with(folder));
        let below =
            homes.iter().find_map(|home| folder.strip_prefix(home).ok()).map(|below| below.components().count());
        let is_deep = below.is_none_or(|below| below >= MIN_COMPONENTS_BELOW_HOME);
        folder.parent().is_some() && !holds_home && (is_deep || folder.join(PYVENV_FILE).is_file())
    }

    /// Adds a folder if [`check_folder_proposal`] accepts it. The folder was recognized by its content as belonging to
    /// a program.
    fn add_folder_if_proposable(&mut self, folder: PathBuf) {
        if check_folder_proposal(&folder, self.home, self.hidden).is_ok() {
            self.found.push(folder);
        }
    }

    /// Adds the folder of the version manager if the program is a shim, because the shim runs programs in that folder.
    fn add_shim_folder(&mut self, program: &Path) {
        let Some(folder) = program.parent() else { return };
        let Some(whole) =
            folder.parent().filter(|_| folder.ends_with(VERSION_MANAGER_SHIM_FOLDER) || folder.ends_with("bin"))
        else {
            return;
        };
        let is_manager =
            whole.file_name().and_then(|name| name.to_str()).is_some_and(|n| VERSION_MANAGER_FOLDERS.contains(&n));
        if let Some(whole) = whole.canonicalize().ok().filter(|_| is_manager) {
            self.add_folder_if_proposable(whole);
        }
    }

    /// Adds the package that contains a script, and the packages that the script loads.
    fn add_packages(&mut self, script: &Path) {
        if let Some(root) = package_root(script) {
            self.add_folder_if_proposable(root);
            return;
        }
        let above: Vec<&Path> = script.ancestors().skip(1).take(MAX_PACKAGE_ANCESTORS).collect();
        let Some(at) = above.iter().position(|folder| PROJECT_MARKERS.iter().any(|name| folder.join(name).is_file()))
        else {
            return;
        };
        if check_folder_proposal(above[at], self.home, self.hidden).is_err() {
            return;
        }
        self.found.push(above[at].to_owned());
        // In a workspace, an ancestor folder contains the packages that its members load.
        for folder in &above[at + 1..] {
            let packages = folder.join(NODE_MODULES_FOLDER);
            if packages.is_dir() && check_folder_proposal(folder, self.home, self.hidden).is_ok() {
                self.add_folder_if_proposable(packages);
            }
        }
    }

    /// Adds the folder that contains a program's file if it also contains shared libraries.
    fn add_libraries(&mut self, program: &Path) {
        let Some(folder) = program.parent().filter(|folder| !folder.ends_with("bin")) else { return };
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let is_library = |name: &str| {
            let is_shared = [".dll", ".dylib", ".so", ".runtimeconfig.json"].iter().any(|end| name.ends_with(end));
            is_shared || name.contains(".so.") || FILES_NEXT_TO_PROGRAM.contains(&name)
        };
        let mut names = entries.take(MAX_FOLDER_ENTRIES).flatten().map(|entry| entry.file_name());
        if names.any(|name| name.to_str().is_some_and(is_library)) && !is_script_or_unreadable(program) {
            self.add_folder_if_proposable(folder.to_owned());
        }
    }

    /// Adds the Python installation from which a virtual environment was created.
    fn add_python_environment(&mut self, program: &Path, depth: usize) {
        let folders = program.ancestors().skip(1).take(2);
        let Some(settings) = folders.map(|folder| folder.join(PYVENV_FILE)).find(|file| file.is_file()) else { return };
        let Some(base) = pyvenv_base(&settings) else { return };
        for name in ["python3", "python"] {
            let python = base.join(name);
            // Programs inside the environment were already added.
            if python.is_file() && !settings.parent().is_some_and(|own| python.starts_with(own)) {
                self.add_program(&python, depth);
                return;
            }
        }
    }
}

/// Returns a path, and the path after each step of resolving its symbolic links. The last path is not a link.
fn symlink_chain(program: &Path) -> Vec<PathBuf> {
    let mut steps = vec![program.to_owned()];
    while let Some(last) = steps.last().filter(|_| steps.len() < MAX_PROGRAM_SYMLINKS) {
        let (Ok(target), Some(folder)) = (std::fs::read_link(last), last.parent()) else { break };
        let joined = folder.join(&target);
        // `..` after a link means the parent of the link's target, so the parent is resolved first.
        let next = match (joined.parent(), joined.file_name()) {
            (Some(parent), Some(name)) if target.components().any(|part| part.as_os_str() == "..") => {
                parent.canonicalize().map(|parent| parent.join(name))
            }
            _ => Ok(joined),
        };
        let Ok(next) = next else { break };
        if steps.contains(&next) {
            break;
        }
        steps.push(next);
    }
    steps
}

/// Returns a folder that contains the npm package of a file together with the packages that it loads: the folder of a
/// global package, or else the outermost `node_modules`. Returns `None` if the file is in no package.
pub(crate) fn package_root(file: &Path) -> Option<PathBuf> {
    let packages = file.ancestors().filter(|folder| folder.ends_with(NODE_MODULES_FOLDER)).last()?;
    let lib = packages.parent()?;
    let is_global = lib.ends_with("lib") && lib.parent().is_some_and(|prefix| prefix.join("bin").is_dir());
    if !is_global {
        return Some(packages.to_owned());
    }
    let mut names = file.strip_prefix(packages).ok()?.components();
    let first = names.next()?;
    let scope = first.as_os_str().to_str().is_some_and(|name| name.starts_with('@'));
    let own = packages.join(first);
    Some(if scope { own.join(names.next()?) } else { own })
}

/// Returns `true` if the program is a script or can't be read. For a script, shared libraries in its folder are
/// irrelevant.
fn is_script_or_unreadable(program: &Path) -> bool {
    use std::io::Read as _;

    let mut first = [0; 2];
    std::fs::File::open(program).and_then(|mut file| file.read_exact(&mut first)).is_err() || first == *b"#!"
}

/// Returns the folder that `home = …` names in a `pyvenv.cfg`.
fn pyvenv_base(settings: &Path) -> Option<PathBuf> {
    use std::io::Read as _;

    let mut text = String::new();
    std::fs::File::open(settings).ok()?.take(MAX_PYVENV_BYTES).read_to_string(&mut text).ok()?;
    let values = text.lines().filter_map(|line| line.split_once('='));
    let home = values.filter(|(key, _)| key.trim() == "home").map(|(_, value)| PathBuf::from(value.trim())).next()?;
    home.is_absolute().then_some(home)
}

/// Resolves the symbolic links in a path, except for the last component.
fn canonicalize_parent(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

/// Returns `true` if a script that the command names may be accessible in the sandbox, although the user has not added
/// its folder to the sandbox settings.
pub(super) fn may_sandbox_expose_script(script: &Path, home: Option<&Path>, hidden: &[PathBuf]) -> bool {
    let Ok(real) = script.canonicalize() else { return false };
    let is_hidden = hidden.iter().any(|own| real.starts_with(own));
    !is_hidden && !is_secret_location(script, home) && !is_secret_location(&real, home)
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

    /// Returns the files and folders that belong to a program, relative to the home. Uses an empty search path.
    fn installed_files_of_program(home: &Path, hidden: &[PathBuf], program: &str) -> Vec<String> {
        let path = SearchPath { directories: Vec::new(), source: SearchPathSource::LoginShell };
        let mut of_program = InstalledFiles { path: &path, home: Some(home), hidden, found: Vec::new() };
        of_program.add(&home.join(program));
        let relative = |part: &PathBuf| part.strip_prefix(home).unwrap_or(part).display().to_string();
        let mut parts: Vec<String> = of_program.found.iter().map(relative).collect();
        parts.sort();
        parts.dedup();
        parts
    }

    #[test]
    fn npm_package_exposes_its_own_files_and_no_other_package() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let global = home.join(".npm-global");
        write_executable_file(&global.join("lib/node_modules/@scope/server/dist/index.js"), "#!/usr/bin/node\n");
        write_executable_file(&global.join("lib/node_modules/other/index.js"), "#!/usr/bin/node\n");
        std::fs::create_dir(global.join("bin")).unwrap();
        symlink("../lib/node_modules/@scope/server/dist/index.js", global.join("bin/server")).unwrap();
        let found = installed_files_of_program(&home, &[], ".npm-global/bin/server");
        assert!(found.contains(&".npm-global/lib/node_modules/@scope/server".to_owned()), "{found:?}");
        assert!(
            !found.contains(&".npm-global/lib/node_modules".to_owned()),
            "other packages must stay inaccessible: {found:?}"
        );

        let local = home.join("mcp/node_modules");
        write_executable_file(&local.join("server/dist/index.js"), "#!/usr/bin/node\n");
        std::fs::create_dir(local.join(".bin")).unwrap();
        symlink("../server/dist/index.js", local.join(".bin/server")).unwrap();
        let found = installed_files_of_program(&home, &[], "mcp/node_modules/.bin/server");
        assert!(
            found.contains(&"mcp/node_modules".to_owned()),
            "the packages that it loads must be included: {found:?}"
        );
        assert!(!found.contains(&"mcp".to_owned()), "the user's folder must stay inaccessible: {found:?}");
    }

    #[test]
    fn script_in_a_project_exposes_the_project_unless_it_is_the_home() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for script in ["work/packages/one/dist/index.js", "loose/index.js", "index.js", ".ssh/x/index.js"] {
            write_executable_file(&home.join(script), "run()");
        }
        for marker in ["work/packages/one/package.json", "package.json", ".ssh/x/package.json"] {
            std::fs::write(home.join(marker), "{}").unwrap();
        }
        std::fs::create_dir(home.join("work/node_modules")).unwrap();
        std::fs::write(home.join("work/package.json"), "{}").unwrap();
        assert_eq!(
            installed_files_of_program(&home, &[], "work/packages/one/dist/index.js"),
            ["work/node_modules", "work/packages/one", "work/packages/one/dist/index.js"],
            "the member of a workspace, and the packages above it"
        );
        assert_eq!(
            installed_files_of_program(&home, &[], "loose/index.js"),
            ["loose/index.js"],
            "a script without a project must be included alone"
        );
        assert_eq!(
            installed_files_of_program(&home, &[], "index.js"),
            ["index.js"],
            "the home must not count as a project"
        );
        assert_eq!(
            installed_files_of_program(&home, &[], ".ssh/x/index.js"),
            [".ssh/x/index.js"],
            "a folder with keys must not count as a project"
        );
        let hidden = [home.join("work/packages/one/data")];
        let found = installed_files_of_program(&home, &hidden, "work/packages/one/dist/index.js");
        assert_eq!(
            found,
            ["work/packages/one/dist/index.js"],
            "a folder that contains Drawbridge's own must not be included"
        );
        assert!(
            !may_sandbox_expose_script(&home.join(".ssh/x/index.js"), Some(&home), &[]),
            "a named script in a folder with keys must stay inaccessible"
        );
    }

    #[test]
    fn virtual_environment_exposes_its_python_and_each_link_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let pythons = home.join(".local/share/uv/python");
        write_executable_file(&pythons.join("cpython-3.12.9/bin/python3.12"), "no script");
        symlink("cpython-3.12.9", pythons.join("cpython-3.12")).unwrap();
        std::fs::create_dir_all(home.join("venv/bin")).unwrap();
        let python = home.join("venv/bin/python");
        symlink(pythons.join("cpython-3.12/bin/python3.12"), &python).unwrap();
        let settings = format!("home = {}\n", pythons.join("cpython-3.12/bin").display());
        std::fs::write(home.join("venv/pyvenv.cfg"), settings).unwrap();
        write_executable_file(&home.join("venv/bin/server"), &format!("#!{}\n", python.display()));
        let found = installed_files_of_program(&home, &[], "venv/bin/server");
        for part in ["venv", ".local/share/uv/python/cpython-3.12", ".local/share/uv/python/cpython-3.12.9"] {
            assert!(found.contains(&part.to_owned()), "{part}: {found:?}");
        }
    }

    #[test]
    fn shim_exposes_its_version_manager_and_binary_its_libraries() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        write_executable_file(&home.join(".pyenv/shims/server"), "#!/bin/sh\n");
        assert!(installed_files_of_program(&home, &[], ".pyenv/shims/server").contains(&".pyenv".to_owned()));
        write_executable_file(&home.join("notes/shims/server"), "#!/bin/sh\n");
        let found = installed_files_of_program(&home, &[], "notes/shims/server");
        assert!(
            !found.contains(&"notes".to_owned()),
            "a shim folder alone must not count as a version manager: {found:?}"
        );
        write_executable_file(&home.join("apps/tool/tool"), "\x7fELF");
        assert_eq!(
            installed_files_of_program(&home, &[], "apps/tool/tool"),
            ["apps/tool/tool"],
            "a program without libraries must be included alone"
        );
        std::fs::write(home.join("apps/tool/libtool.so.1"), "").unwrap();
        assert!(
            installed_files_of_program(&home, &[], "apps/tool/tool").contains(&"apps/tool".to_owned()),
            "a program with libraries must be included with its folder"
        );
    }

    #[test]
    fn script_exposes_its_installation_and_interpreter_only() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let node = home.join(".nvm/versions/node/v22.1.0");
        write_executable_file(&node.join("bin/node"), "no script");
        write_executable_file(&node.join("lib/node_modules/npm/bin/npx-cli.js"), "#!/usr/bin/env node\n");
        symlink("../lib/node_modules/npm/bin/npx-cli.js", node.join("bin/npx")).unwrap();
        let tools = home.join(".local/bin");
        write_executable_file(&tools.join("server"), "#!/usr/bin/env -S node --no-warnings\n");
        let path = SearchPath { directories: vec![node.join("bin")], source: SearchPathSource::LoginShell };
        let reached = |program: &Path| {
            let mut of_program = InstalledFiles { path: &path, home: Some(&home), hidden: &[], found: Vec::new() };
            of_program.add(program);
            let mut found = of_program.found;
            found.sort();
            found.dedup();
            found
        };
        let npx = reached(&node.join("bin/npx"));
        assert!(npx.contains(&node), "the whole version of Node.js must be included: {npx:?}");
        let server = reached(&tools.join("server"));
        assert!(server.contains(&node), "the interpreter's installation must be included: {server:?}");
        assert!(server.contains(&tools), "the `bin` folder of the script must be included: {server:?}");
        assert!(!server.contains(&home.join(".local")), "the user's data must not be included: {server:?}");
        write_executable_file(&home.join("project/target/server"), "no script");
        let alone = reached(&home.join("project/target/server"));
        assert_eq!(alone, [home.join("project/target/server")], "a program elsewhere must be included alone");
        write_executable_file(&home.join("bin/server"), "no script");
        assert_eq!(reached(&home.join("bin/server")), [home.join("bin")], "the home must not count as an installation");
    }
}
