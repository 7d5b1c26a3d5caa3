//! The name of the home directory that a sandboxed server has for itself. Used by `sandbox.rs`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use policy::Hash;
use ports::server_config::{StdioConfig, path_to_json};
use process::{is_code_variable, is_in_system_folder};
use serde_json::json;

use crate::packages::{self, LauncherPackage};

/// Number of hash characters in the name of a sandboxed server's home directory.
const SANDBOX_HOME_NAME_HASH_CHARS: usize = 24;

/// Returns the name of a server's home directory.
///
/// If other code runs under the same server name, it gets another home: files left by the previous code, such as
/// `usercustomize.py`, would otherwise run in the new sandbox. Another version of the same package uses the same home.
///
/// The name depends on the settings and on the targets of symbolic links in their paths. Targets in system folders are
/// ignored, because they change with system updates. The function therefore blocks on the disk.
pub fn sandbox_home_name(name: &str, config: &StdioConfig) -> String {
    sandbox_home_name_with_targets(name, config, resolve_link_targets)
}

/// Returns the name of a server's home directory as [`sandbox_home_name`] does, but as if no path in the settings
/// contained a symbolic link. Doesn't access the disk.
pub fn sandbox_home_name_unresolved(name: &str, config: &StdioConfig) -> String {
    sandbox_home_name_with_targets(name, config, |_, _, _| Vec::new())
}

fn sandbox_home_name_with_targets(
    name: &str,
    config: &StdioConfig,
    links: fn(&StdioConfig, &[String], &[&str]) -> Vec<PathBuf>,
) -> String {
    let args = match packages::launched_package(&config.command, &config.args) {
        Some(LauncherPackage::Package(reference)) => reference.unversioned_args(&config.args),
        Some(LauncherPackage::Unknown(..)) | None => config.args.clone(),
    };
    let cwd = config.cwd.as_deref().map(path_to_json);
    let mut whose = json!({ "server": name, "command": config.command, "args": args, "cwd": cwd });
    let variables: BTreeMap<_, _> = config.env.iter().filter(|(name, _)| is_code_variable(name)).collect();
    let values: Vec<&str> = variables.values().map(|value| value.as_str()).collect();
    let links = links(config, &args, &values);
    // Added only if present, so that other servers still use the home of versions that did not include this.
    if !variables.is_empty() {
        whose["variables"] = json!(variables);
    }
    if !links.is_empty() {
        whose["links"] = links.iter().map(|target| path_to_json(target)).collect();
    }
    Hash::of_json(&whose).as_str().chars().take(SANDBOX_HOME_NAME_HASH_CHARS).collect()
}

/// Returns the canonical targets of those paths in a command's settings that contain symbolic links.
fn resolve_link_targets(config: &StdioConfig, args: &[String], variables: &[&str]) -> Vec<PathBuf> {
    // A bare name is omitted, because it is looked up on the search path.
    let command = Some(&config.command).filter(|command| command.contains(std::path::is_separator));
    let values = args.iter().filter_map(|arg| arg.split_once('=')).map(|(_, value)| value);
    let words = command.into_iter().chain(args).map(String::as_str).chain(values);
    let paths =
        words.map(PathBuf::from).chain(variables.iter().flat_map(std::env::split_paths)).chain(config.cwd.clone());
    let absolute = paths.filter_map(|path| match &config.cwd {
        Some(cwd) => Some(cwd.join(path)),
        // Relative paths are omitted, because they are inside the home itself.
        None => Some(path).filter(|path| path.is_absolute()),
    });
    let target = |path: PathBuf| {
        Some(resolve_links_in_existing_part(&path)).filter(|real| *real != path && !is_in_system_folder(real))
    };
    let mut targets: Vec<PathBuf> = absolute.filter_map(target).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// Resolves the symbolic links in that part of a path that exists, so that the result does not change when the file is
/// created.
fn resolve_links_in_existing_part(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let Some((folder, real)) = existing else { return path.to_owned() };
    match path.strip_prefix(folder) {
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s10_other_code_gets_another_sandbox_home_and_another_version_keeps_it() {
        let config = |command: &str, args: &[&str], cwd: Option<&str>| StdioConfig {
            command: command.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            cwd: cwd.map(PathBuf::from),
            ..StdioConfig::default()
        };
        let home = |command: &str, args: &[&str]| sandbox_home_name("files", &config(command, args, None));
        let script = home("/usr/bin/python3", &["/old/old.py"]);
        assert_eq!(script, home("/usr/bin/python3", &["/old/old.py"]), "the same command must have the same home");
        assert_ne!(script, home("/usr/bin/python3", &["/new/new.py"]), "another script must have another home");
        let module = |cwd| sandbox_home_name("files", &config("/usr/bin/python3", &["-m", "server"], cwd));
        assert_ne!(module(Some("/old")), module(Some("/new")), "a module in another folder must have another home");
        assert_ne!(module(Some("/old")), module(None), "a module without a folder must have another home");
        let npx = home("npx", &["-y", "@scope/server", "/docs"]);
        assert_eq!(
            npx,
            home("npx", &["-y", "@scope/server@1.2.3", "/docs"]),
            "another version of a package must have the same home"
        );
        assert_ne!(npx, home("npx", &["-y", "@scope/other", "/docs"]), "another package must have another home");
        assert_eq!(
            home("uvx", &["server"]),
            home("uvx", &["server==2.0"]),
            "another version of a package must have the same home"
        );
    }

    #[test]
    fn s10_variables_that_select_other_code_change_the_home() {
        let home = |variables: &[(&str, &str)]| {
            let env = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let args = vec!["-m".to_owned(), "server".to_owned()];
            let config = StdioConfig { command: "python3".into(), args, env, ..StdioConfig::default() };
            sandbox_home_name("files", &config)
        };
        for name in ["PYTHONPATH", "PATH", "NODE_OPTIONS", "LD_PRELOAD", "npm_config_registry", "UV_INDEX", "HOME"] {
            assert_ne!(
                home(&[(name, "/old")]),
                home(&[(name, "/new")]),
                "another value of {name} must change the home"
            );
            assert_ne!(home(&[(name, "/old")]), home(&[]), "removing {name} must change the home");
        }
        assert_eq!(
            home(&[("API_KEY", "one")]),
            home(&[("API_KEY", "two")]),
            "another API key must not change the home"
        );
    }

    #[cfg(unix)]
    #[test]
    fn s10_home_changes_if_a_link_in_the_command_gets_another_target() {
        use std::os::unix::fs::symlink;

        let ground = tempfile::tempdir().expect("the temporary folder is created");
        let base = ground.path().canonicalize().expect("the path exists");
        for folder in ["old", "new"] {
            std::fs::create_dir(base.join(folder)).expect("the folder is created");
            std::fs::write(base.join(folder).join("server.py"), "").expect("the file is written");
        }
        let at = |name: &str| base.join(name).display().to_string();
        let python = |arg: String| StdioConfig { command: "python3".into(), args: vec![arg], ..StdioConfig::default() };
        let home = |config: &StdioConfig| sandbox_home_name("files", config);
        let link = base.join("link");
        let variable = [("PYTHONPATH".to_owned(), at("link"))].into();
        let configs = [
            ("an argument", python(at("link/server.py"))),
            ("an option", python(format!("--require={}", at("link/server.py")))),
            ("the command", StdioConfig { command: at("link/server.py"), ..StdioConfig::default() }),
            ("the working folder", StdioConfig { cwd: Some(link.clone()), ..python("-mserver".into()) }),
            ("a variable", StdioConfig { env: variable, ..python("-mserver".into()) }),
        ];
        let data = python(at("link/notes.db"));
        symlink(base.join("old"), &link).expect("the link is created");
        let (before, of_data) = (configs.each_ref().map(|(_, config)| home(config)), home(&data));
        std::fs::write(base.join("old/notes.db"), "").expect("the file is written");
        assert_eq!(home(&data), of_data, "creating the data file must not change the home");
        std::fs::remove_file(&link).expect("the path exists");
        symlink(base.join("new"), &link).expect("the link is created");
        for ((what, config), before) in configs.iter().zip(before) {
            assert_ne!(home(config), before, "{what}: another link target must change the home");
        }
    }
}
