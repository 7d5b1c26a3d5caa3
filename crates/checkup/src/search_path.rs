//! Checks the search path for programs, as set by the login shell, and the version managers in it.

use std::path::Path;

use process::{SearchPath, SearchPathSource};

use crate::finding::CheckOutcome;
use crate::text::FindingText;

/// Version managers and installers: the display name, parts of the folders that they add to the search path, and their
/// own folder, relative to the home folder.
const VERSION_MANAGERS: &[(&str, &[&str], &str)] = &[
    ("nvm", &[".nvm/"], ".nvm"),
    ("fnm", &["fnm_multishells", "/fnm/"], ".local/share/fnm"),
    ("Volta", &[".volta/"], ".volta"),
    ("pyenv", &[".pyenv/"], ".pyenv"),
    ("asdf", &[".asdf/"], ".asdf"),
    ("mise", &["/mise/"], ".local/share/mise"),
    ("Homebrew", &["/homebrew/", "linuxbrew"], ""),
];

pub(crate) fn check_search_path(path: &SearchPath, home: Option<&Path>) -> CheckOutcome {
    let there = path.directories.iter().filter(|folder| folder.is_dir()).count();
    let shown = |manager: &&(&'static str, &[&str], &str)| {
        let has = |folder: &std::path::PathBuf| {
            let folder = folder.to_string_lossy();
            manager.1.iter().any(|part| folder.contains(part))
        };
        path.directories.iter().any(has)
    };
    let is_installed = |manager: &&(&str, &[&str], &str)| {
        !manager.2.is_empty() && home.is_some_and(|home| home.join(manager.2).is_dir())
    };
    let found: Vec<&'static str> = VERSION_MANAGERS.iter().filter(shown).map(|manager| manager.0).collect();
    let excluded: Vec<&'static str> = VERSION_MANAGERS
        .iter()
        .filter(|manager| is_installed(manager) && !shown(manager))
        .map(|manager| manager.0)
        .collect();
    let folders = |words: &'static str| {
        append_name_list(FindingText::new(words).count(there, "folder", "folders"), &found, "; with ").and(".")
    };
    match &path.source {
        SearchPathSource::Process { reason } if cfg!(windows) => {
            let _ = reason;
            CheckOutcome::ok(folders("Programs are searched for in "))
        }
        SearchPathSource::Process { reason } => CheckOutcome::warning(
            folders("The login shell was not used, so programs are searched for in the search path of this process and in well-known folders, ")
                .and(" The cause: ")
                .foreign(reason)
                .and("."),
            FindingText::new(
                "Set SHELL to your shell. If it is set, open a terminal and check why its start-up files take longer than 5 s. They must not prompt for input.",
            ),
        ),
        SearchPathSource::LoginShell if !excluded.is_empty() => CheckOutcome::warning(
            append_name_list(folders("The login shell names "), &excluded, " It does not include those of ").and("."),
            FindingText::new(
                "Have the version manager set up in a start-up file that a login shell reads, and a default version chosen (for instance \"nvm alias default 22\").",
            ),
        ),
        SearchPathSource::LoginShell => CheckOutcome::ok(folders("The login shell names ")),
    }
}

fn append_name_list(mut text: FindingText, names: &[&'static str], before: &'static str) -> FindingText {
    for (index, name) in names.iter().enumerate() {
        text = text.and(if index == 0 { before } else { ", " }).and(name);
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::finding::FindingState;

    #[test]
    fn hanging_login_shell_is_reported_with_its_cause() {
        let source = SearchPathSource::Process { reason: "/bin/fish did not answer within 5 s".to_owned() };
        let outcome = check_search_path(&SearchPath { directories: vec!["/usr/bin".into()], source }, None);
        assert_eq!(
            outcome.state,
            FindingState::Warning,
            "without the login shell's path, version managers may be missing"
        );
        assert!(outcome.observation.to_string().contains("/bin/fish did not answer"), "{}", outcome.observation);
        assert!(outcome.remedy.unwrap().to_string().contains("SHELL"), "a remedy is suggested");
    }

    #[test]
    fn version_managers_missing_from_the_path_are_reported() {
        let home = tempfile::tempdir().unwrap();
        let node = home.path().join(".nvm/versions/node/v22.1.0/bin");
        std::fs::create_dir_all(&node).unwrap();
        let path = |directories| SearchPath { directories, source: SearchPathSource::LoginShell };
        let with = check_search_path(&path(vec![node]), Some(home.path()));
        assert_eq!(with.state, FindingState::Ok, "nvm in the search path is no problem: {}", with.observation);
        assert!(
            with.observation.to_string().contains("1 folder; with nvm"),
            "the version manager is named: {}",
            with.observation
        );
        let without = check_search_path(&path(vec!["/usr/bin".into()]), Some(home.path()));
        assert_eq!(
            without.state,
            FindingState::Warning,
            "nvm is installed, but missing in the search path: {}",
            without.observation
        );
        assert!(without.observation.to_string().contains("those of nvm"), "{}", without.observation);
    }
}
