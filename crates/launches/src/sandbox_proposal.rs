//! The sandbox that is proposed for a local server. Used by start requests in `host`, and by `installer` for the hosts
//! of package registries.

use std::path::PathBuf;

use ports::server_config::{AccessMode, AllowedFolder, HostPattern, NetworkAccess, SandboxConfig, StdioConfig};

use crate::packages::program_name;

/// Hosts that each launcher loads packages from, unless its own settings differ.
const PACKAGE_HOSTS: [(&str, &[&str]); 4] = [
    ("npx", &["registry.npmjs.org"]),
    ("uv", &["pypi.org", "files.pythonhosted.org"]),
    ("uvx", &["pypi.org", "files.pythonhosted.org"]),
    ("dnx", &["api.nuget.org"]),
];
/// Programs that run containers.
const CONTAINER_PROGRAMS: [&str; 3] = ["docker", "podman", "nerdctl"];

/// Returns `true` if a command runs a container. A sandbox would keep it from the service that does.
#[must_use]
pub fn runs_container(command: &str) -> bool {
    CONTAINER_PROGRAMS.contains(&program_name(command).as_str())
}

/// Returns network access to the hosts that a launcher loads packages from, and none for other programs.
#[must_use]
pub fn package_network(command: &str) -> NetworkAccess {
    let program = program_name(command);
    let hosts = PACKAGE_HOSTS.iter().find(|(launcher, _)| *launcher == program).map_or(&[][..], |(_, hosts)| *hosts);
    let hosts: Vec<HostPattern> = hosts.iter().filter_map(|host| host.parse().ok()).collect();
    if hosts.is_empty() { NetworkAccess::None } else { NetworkAccess::Hosts(hosts) }
}

/// Returns the smallest sandbox in which a command can be expected to start: it reads its working folder and the folder
/// of its bundle, and reaches the hosts that its package is loaded from.
#[must_use]
pub fn proposed_sandbox(config: &StdioConfig, bundle: Option<PathBuf>) -> SandboxConfig {
    let paths = config.cwd.clone().into_iter().chain(bundle);
    let mut folders: Vec<AllowedFolder> = Vec::new();
    for path in paths {
        if !folders.iter().any(|folder| folder.path == path) {
            folders.push(AllowedFolder { path, access: AccessMode::Read });
        }
    }
    SandboxConfig { folders, network: package_network(&config.command) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposal_reads_the_working_folder_and_reaches_the_package_registry() {
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
    fn containers_are_recognized_by_their_program() {
        assert!(runs_container("/usr/bin/docker") && runs_container("podman.exe"));
        assert!(!runs_container("docker-server"));
    }
}
