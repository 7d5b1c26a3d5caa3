//! The sandbox that is proposed for a local server. Used by start requests in `host`, and by `installer` for the hosts
//! of package registries.

use std::path::{Path, PathBuf};

use ports::server_config::{AccessMode, AllowedFolder, HostPattern, NetworkAccess, SandboxConfig, StdioConfig};

use crate::packages::program_base_name;

/// Hosts of the default registry of npm, pnpm and Bun.
const NPM_HOSTS: &[&str] = &["registry.npmjs.org"];
const YARN_HOSTS: &[&str] = &["registry.yarnpkg.com", "registry.npmjs.org"];
const PYTHON_HOSTS: &[&str] = &["pypi.org", "files.pythonhosted.org"];
/// Hosts from which each launcher, such as `npx`, loads packages, unless its own settings name others. Each entry
/// consists of the program, the first argument that makes it a launcher (or `None` if it always is one), and the hosts.
const PACKAGE_HOSTS_OF_LAUNCHERS: [(&str, Option<&str>, &[&str]); 12] = [
    ("npx", None, NPM_HOSTS),
    ("npm", Some("exec"), NPM_HOSTS),
    ("npm", Some("x"), NPM_HOSTS),
    ("bunx", None, NPM_HOSTS),
    ("bun", Some("x"), NPM_HOSTS),
    ("pnpx", None, NPM_HOSTS),
    ("pnpm", Some("dlx"), NPM_HOSTS),
    ("yarn", Some("dlx"), YARN_HOSTS),
    ("uv", None, PYTHON_HOSTS),
    ("uvx", None, PYTHON_HOSTS),
    ("pipx", Some("run"), PYTHON_HOSTS),
    ("dnx", None, &["api.nuget.org"]),
];

/// Returns `true` if a command runs a container. A sandbox would prevent the command from reaching the container
/// engine.
#[must_use]
pub fn runs_container(command: &str) -> bool {
    process::is_container_engine(&program_base_name(command))
}

/// Returns network access to the hosts from which a launcher, such as `npx`, loads packages. Returns no network access
/// for other programs. `first_argument` is required for programs that are launchers only with some subcommands, such as
/// `npm exec` and `pipx run`.
#[must_use]
pub fn network_access_to_package_registry(command: &str, first_argument: Option<&str>) -> NetworkAccess {
    let program = program_base_name(command);
    let mut launchers = PACKAGE_HOSTS_OF_LAUNCHERS.iter().filter(|(launcher, ..)| *launcher == program);
    let found = launchers.find(|(_, word, _)| word.is_none() || *word == first_argument);
    let hosts = found.map_or(&[][..], |(_, _, hosts)| *hosts);
    let hosts: Vec<HostPattern> = hosts.iter().filter_map(|host| host.parse().ok()).collect();
    if hosts.is_empty() { NetworkAccess::None } else { NetworkAccess::Hosts(hosts) }
}

/// Returns `true` if a folder is the root of a disk, or contains the whole home of the user, so that it is not
/// proposed. Reads the disk to resolve symbolic links.
#[must_use]
pub fn is_root_or_contains_home(folder: &Path, home: Option<&Path>) -> bool {
    let with_real = |path: &Path| [Some(path.to_owned()), path.canonicalize().ok()].into_iter().flatten();
    let homes: Vec<PathBuf> = home.into_iter().flat_map(with_real).collect();
    with_real(folder).any(|folder| folder.parent().is_none() || homes.iter().any(|home| home.starts_with(&folder)))
}

/// Returns the smallest sandbox in which a command can be expected to start: the server can read its working folder and
/// the folder of its bundle, and reach the hosts from which its package is loaded.
#[must_use]
pub fn proposed_sandbox(config: &StdioConfig, bundle: Option<PathBuf>) -> SandboxConfig {
    let paths = config.cwd.clone().into_iter().chain(bundle);
    let mut folders: Vec<AllowedFolder> = Vec::new();
    for path in paths {
        if !folders.iter().any(|folder| folder.path == path) {
            folders.push(AllowedFolder { path, access: AccessMode::Read });
        }
    }
    SandboxConfig {
        folders,
        network: network_access_to_package_registry(&config.command, config.args.first().map(String::as_str)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn proposed_sandbox_reads_working_folder_and_reaches_package_registry() {
        let config = StdioConfig {
            command: "/usr/bin/npx".to_owned(),
            cwd: Some("/home/ann/project".into()),
            ..StdioConfig::default()
        };
        let proposed = proposed_sandbox(&config, Some("/data/bundles/b1".into()));
        let reads = |path: &str| AllowedFolder { path: path.into(), access: AccessMode::Read };
        assert_eq!(proposed.folders, [reads("/home/ann/project"), reads("/data/bundles/b1")]);
        assert_eq!(proposed.to_json()["network"], serde_json::json!(["registry.npmjs.org"]));
        let same = proposed_sandbox(&config, config.cwd.clone());
        assert_eq!(same.folders, [reads("/home/ann/project")], "each folder once");
        let other = proposed_sandbox(&StdioConfig { command: "server".to_owned(), ..StdioConfig::default() }, None);
        assert_eq!(other, SandboxConfig::default(), "another program reads and reaches nothing of the user's");
    }

    #[test]
    fn package_hosts_are_those_of_the_launcher() {
        let hosts = |line: &str| {
            let (command, argument) =
                line.split_once(' ').map_or((line, None), |(command, rest)| (command, Some(rest)));
            match network_access_to_package_registry(command, argument) {
                NetworkAccess::Hosts(hosts) => hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
                NetworkAccess::None => "none".to_owned(),
                NetworkAccess::Full => "full".to_owned(),
            }
        };
        for line in ["npx", "npm exec", "npm x", "bunx", "bun x", "pnpx", "pnpm dlx"] {
            assert_eq!(hosts(line), "registry.npmjs.org", "{line}");
        }
        assert_eq!(hosts("yarn dlx"), "registry.yarnpkg.com registry.npmjs.org");
        for line in ["uv", "uvx", "pipx run"] {
            assert_eq!(hosts(line), "pypi.org files.pythonhosted.org", "{line}");
        }
        for line in ["npm start", "npm", "bun run", "pnpm start", "yarn", "pipx list", "node"] {
            assert_eq!(hosts(line), "none", "{line} loads no package");
        }
    }

    #[test]
    fn root_and_folders_above_home_are_not_proposed() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let is_broad = |folder: &Path| is_root_or_contains_home(folder, Some(home.path()));
        assert!(is_broad(Path::new("/")), "the root of the disk");
        assert!(is_broad(home.path()), "the home");
        assert!(is_broad(home.path().parent().unwrap()), "the folder of all homes");
        assert!(!is_broad(&project), "a folder in the home");
        assert!(is_root_or_contains_home(Path::new("/"), None), "without a home");
        #[cfg(unix)]
        {
            let link = project.join("link");
            std::os::unix::fs::symlink(home.path(), &link).unwrap();
            assert!(is_broad(&link), "a link to the home");
        }
    }

    #[test]
    fn container_commands_are_recognized_by_their_program() {
        assert!(runs_container("/usr/bin/docker") && runs_container("podman.exe"));
        assert!(!runs_container("docker-server"));
    }
}
