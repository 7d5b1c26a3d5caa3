//! Files of a project that affect what a launcher loads in the project's folder: other code, or another registry.
//! `lookup.rs` and the owner in `host` search for them before a command is changed to load an exact version.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::PackageReference;
use super::reference::Launcher;

/// Maximum size of a `package.json` that is parsed, in bytes. A larger one counts as unreadable.
const MAX_PACKAGE_JSON_BYTES: u64 = 1024 * 1024;

/// Returns the file or folder whose code `npx` may run instead of the registry's package when started in `directory`:
/// packages of a project, or programs in a `package.json`, in this folder or a parent folder.
///
/// npm runs a program, even the shell and the interpreter, from the first `node_modules/.bin` that contains it. It
/// loads a package from any depth below `node_modules`, and prefers a program called `pkg@1.2.3` to the package.
pub fn find_local_copy_of_npx_package(reference: &PackageReference, directory: &Path) -> Option<PathBuf> {
    if !matches!(reference.launcher, Launcher::Npx | Launcher::NpmExec) {
        return None;
    }
    // npm receives its working directory from the operating system, so the path contains no links.
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    real.ancestors().find_map(|folder| {
        let (packages, settings) = (folder.join("node_modules"), folder.join("package.json"));
        if packages.exists() {
            return Some(packages);
        }
        Some(settings).filter(|settings| settings.exists() && !declares_no_programs_or_workspaces(settings))
    })
}

/// Returns `true` if a `package.json` can be read and declares neither programs (`bin`, `directories`) nor workspaces.
fn declares_no_programs_or_workspaces(settings: &Path) -> bool {
    // Opening a named pipe would block.
    let file = Some(settings).filter(|settings| settings.is_file()).and_then(|file| std::fs::File::open(file).ok());
    let text = file.and_then(|file| {
        let mut text = Vec::new();
        file.take(MAX_PACKAGE_JSON_BYTES).read_to_end(&mut text).ok().map(|_| text)
    });
    let settings: Option<serde_json::Value> = text.and_then(|text| serde_json::from_slice(&text).ok());
    let named = ["bin", "directories", "workspaces"];
    settings.is_some_and(|settings| settings.is_object() && named.iter().all(|key| settings.get(key).is_none()))
}

/// Returns the path of a settings file because of which a launcher that is started in `directory` uses another registry
/// or proxy. Returns `None` if there is none. Files in the user's home directory belong to the user and are ignored.
pub(super) fn find_registry_settings_file(launcher: Launcher, directory: &Path) -> Option<PathBuf> {
    let names: &[&str] = match launcher {
        Launcher::Npx | Launcher::NpmExec => &[".npmrc"],
        Launcher::Dnx => &["NuGet.Config", "NuGet.config", "nuget.config"],
        // These launchers read no settings of a project.
        Launcher::Uvx | Launcher::UvToolRun | Launcher::Docker | Launcher::Podman => &[],
    };
    let home = std::env::home_dir().map(|home| home.canonicalize().unwrap_or(home));
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let folders = real.ancestors().filter(|folder| Some(*folder) != home.as_deref());
    folders.flat_map(|folder| names.iter().map(|name| folder.join(name))).find(|file| file.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s25_project_settings_are_found_in_every_parent_folder() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().canonicalize().unwrap().join("inner");
        std::fs::create_dir(&inner).unwrap();
        for (launcher, name) in [(Launcher::Npx, ".npmrc"), (Launcher::Dnx, "nuget.config")] {
            assert_eq!(find_registry_settings_file(launcher, &inner), None, "no settings file exists yet");
            let file = inner.with_file_name(name);
            std::fs::write(&file, "https-proxy=http://evil.test").unwrap();
            assert_eq!(find_registry_settings_file(launcher, &inner), Some(file), "the settings file must be found");
        }
    }

    #[test]
    fn s25_local_copies_that_npx_would_run_are_found_in_every_parent_folder() {
        let reference = PackageReference::new(Launcher::Npx, "good-server".into(), "1.2.3".into(), 0);
        let cases: [(&str, Option<&str>, &str); 7] = [
            ("node_modules/.bin/good-server@1.2.3", None, "a program by the name with the version"),
            ("node_modules/.bin/node", None, "an interpreter"),
            ("node_modules/x/node_modules/good-server/package.json", None, "a package of another one's"),
            ("package.json", Some(r#"{"bin":{"good-server@1.2.3":"evil.js"}}"#), "a program of the project"),
            ("package.json", Some(r#"{"directories":{"bin":"programs"}}"#), "a folder of programs"),
            ("package.json", Some(r#"{"workspaces":["sub"]}"#), "another root"),
            ("package.json", Some("[]"), "what is not understood"),
        ];
        for (file, text, what) in cases {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            let inner = root.join("sub/inner");
            std::fs::create_dir_all(&inner).unwrap();
            std::fs::write(root.join("sub/package.json"), r#"{"name":"repo","version":"0.0.1"}"#).unwrap();
            assert_eq!(
                find_local_copy_of_npx_package(&reference, &inner),
                None,
                "a project without programs must not count"
            );
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, text.unwrap_or_default()).unwrap();
            let found = find_local_copy_of_npx_package(&reference, &inner);
            assert!(found.as_deref().is_some_and(|found| file.starts_with(found)), "{what}: {found:?}");
            let other = PackageReference { launcher: Launcher::Uvx, ..reference.clone() };
            assert_eq!(find_local_copy_of_npx_package(&other, &inner), None, "uvx must not be affected");
        }
    }
}
