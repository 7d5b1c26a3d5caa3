//! Folders of common installers, used if the login shell's path is unavailable.

use std::path::{Path, PathBuf};

/// Returns those folders of common installers that exist on this computer.
pub(super) fn existing_program_installer_folders() -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(home) = std::env::home_dir() {
        let below_home = [
            ".local/bin",
            ".cargo/bin",
            ".volta/bin",
            ".bun/bin",
            ".deno/bin",
            ".pyenv/shims",
            ".asdf/shims",
            ".local/share/mise/shims",
            "bin",
        ];
        found.extend(below_home.iter().map(|folder| home.join(folder)));
        found.extend(nvm_default_version_bin_folder(&home.join(".nvm")));
    }
    if cfg!(unix) {
        let of_system = ["/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/usr/local/bin", "/usr/bin", "/bin"];
        found.extend(of_system.iter().map(PathBuf::from));
    }
    found.retain(|folder| folder.is_dir());
    found
}

/// Returns the `bin` folder of nvm's default version: the newest installed version that matches `alias/default`, which
/// is exact (`v22.1.0`) or partial (`22`), or else the newest installed version.
fn nvm_default_version_bin_folder(nvm: &Path) -> Option<PathBuf> {
    let versions = nvm.join("versions/node");
    let default_version = std::fs::read_to_string(nvm.join("alias/default")).unwrap_or_default();
    let default_version = parse_version_numbers(default_version.trim());
    let mut installed: Vec<(Vec<u32>, PathBuf)> = std::fs::read_dir(versions)
        .ok()?
        .flatten()
        .map(|entry| (parse_version_numbers(&entry.file_name().to_string_lossy()), entry.path()))
        .collect();
    installed.sort();
    let newest = installed.last().cloned();
    installed
        .into_iter()
        .rev()
        .find(|(version, _)| !default_version.is_empty() && version.starts_with(&default_version))
        .or(newest)
        .map(|(_, folder)| folder.join("bin"))
}

/// Parses `v22.1.0` as `[22, 1, 0]`. Empty if the text is not a version.
fn parse_version_numbers(version: &str) -> Vec<u32> {
    version.trim_start_matches('v').split('.').map_while(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::nvm_default_version_bin_folder;

    #[test]
    fn nvm_default_follows_the_alias() {
        let nvm = tempfile::tempdir().unwrap();
        for version in ["v9.11.2", "v20.3.0", "v20.11.1", "v22.0.0"] {
            std::fs::create_dir_all(nvm.path().join("versions/node").join(version)).unwrap();
        }
        let chosen = |alias: Option<&str>| {
            let file = nvm.path().join("alias/default");
            if let Some(alias) = alias {
                std::fs::create_dir_all(nvm.path().join("alias")).unwrap();
                std::fs::write(file, alias).unwrap();
            }
            nvm_default_version_bin_folder(nvm.path()).unwrap()
        };
        assert!(
            chosen(None).ends_with("v22.0.0/bin"),
            "without an alias the newest version must be used, compared by number"
        );
        assert!(
            chosen(Some("20\n")).ends_with("v20.11.1/bin"),
            "a partial version must select the newest matching one"
        );
        assert!(chosen(Some("v20.3.0")).ends_with("v20.3.0/bin"), "an exact version must be used unchanged");
        assert!(
            chosen(Some("lts/*")).ends_with("v22.0.0/bin"),
            "an alias that names no version must select the newest one"
        );
    }
}
