//! Tests of the folders proposed after a failed start in a sandbox.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::programs::SearchPathSource;
use crate::sandbox::{NetworkAccess, ReachablePaths, ResourceLimits, SandboxMechanism, SandboxSettings};

/// A home folder with the files of a server and of the user.
struct TestHome {
    _folder: tempfile::TempDir,
    home: PathBuf,
}

impl TestHome {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for (file, text) in [
            ("work/shared/package.json", "{}"),
            ("work/shared/lib/tool.js", "export {}"),
            ("work/notes/a.txt", ""),
            ("work/app/node_modules/zod/index.js", ""),
            (".ssh/id_ed25519", "secret"),
            (".config/app/token", "secret"),
            ("snap/firefox/common/logins.json", ""),
            (".var/app/org.x/data/x", ""),
            (".bitcoin/wallets/x", ""),
            (".local/share/TelegramDesktop/tdata", ""),
            ("Documents/letter.txt", ""),
            ("loose.txt", ""),
            ("data/sandbox/own/x", ""),
            ("data/secrets", ""),
        ] {
            std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            std::fs::write(home.join(file), text).unwrap();
        }
        Self { _folder: folder, home }
    }

    /// Returns the blocked paths of a server with this output.
    fn blocked_by_output(&self, stderr: &str) -> Vec<BlockedPath> {
        let hidden = vec![self.home.join("data")];
        let sandbox = SandboxSettings {
            folders: Vec::new(),
            network: NetworkAccess::None,
            home: self.home.join("data/sandbox/own"),
            hidden: hidden.clone(),
            limits: ResourceLimits::DEFAULT,
        };
        let path = SearchPath { directories: Vec::new(), source: SearchPathSource::LoginShell };
        let reach = ReachablePaths::resolve(&sandbox, Path::new("/bin/sh"), &[], &path);
        let plan = ResolvedSandbox {
            mechanism: SandboxMechanism::Landlock,
            reach,
            network: NetworkAccess::None,
            limits: ResourceLimits::DEFAULT,
        };
        let reporter = BlockedPathReporter { plan: &plan, own_folders: &hidden, home: Some(&self.home) };
        let paths = output_paths::paths_in_output(&[stderr.replace('~', &self.home.display().to_string())]);
        paths.iter().filter_map(|path| reporter.report_if_blocked(path, PathMention::Server)).collect()
    }

    /// Returns the folder, relative to the home, that is proposed for this path, or the reason why none is proposed.
    fn proposed_folder(&self, path: &str) -> Result<String, ProposalRefusal> {
        let missed = self.blocked_by_output(&format!("Error: ENOENT, open '{path}'"));
        match &missed[0].proposal {
            FolderProposal::Folder { folder, .. } => {
                Ok(Path::new(folder).strip_prefix(&self.home).unwrap().display().to_string())
            }
            FolderProposal::None { reason } => Err(*reason),
        }
    }
}

#[test]
fn s36_smallest_sufficient_folder_is_proposed() {
    let ground = TestHome::new();
    assert_eq!(
        ground.proposed_folder("~/work/shared/lib/tool.js"),
        Ok("work/shared".to_owned()),
        "the project of the path must be proposed"
    );
    assert_eq!(
        ground.proposed_folder("~/work/notes/a.txt"),
        Ok("work/notes".to_owned()),
        "without a project the parent folder must be proposed"
    );
    assert_eq!(
        ground.proposed_folder("~/work/app/node_modules/zod"),
        Ok("work/app/node_modules".to_owned()),
        "packages"
    );
    let missed = ground.blocked_by_output("Cannot find package 'zod' imported from ~/work/app/index.js");
    assert_eq!(missed.len(), 1, "only the package folder: the importer does not exist: {missed:?}");
    let FolderProposal::Folder { names, count, .. } = &ground.blocked_by_output("'~/work/notes/a.txt'")[0].proposal
    else {
        panic!("a folder is proposed")
    };
    assert_eq!(
        (names.as_slice(), *count),
        (["a.txt".to_owned()].as_slice(), 1),
        "the content of the folder is reported"
    );
}

#[test]
fn s36_home_and_secrets_are_never_proposed() {
    let ground = TestHome::new();
    for (path, because) in [
        ("~/.ssh/id_ed25519", ProposalRefusal::Secrets),
        ("~/.ssh", ProposalRefusal::Secrets),
        ("~/.config/app/token", ProposalRefusal::Secrets),
        ("~/snap/firefox/common/logins.json", ProposalRefusal::Secrets),
        ("~/.var/app/org.x/data/x", ProposalRefusal::Secrets),
        ("~/.bitcoin/wallets/x", ProposalRefusal::Secrets),
        ("~/.local/share/TelegramDesktop/tdata", ProposalRefusal::Secrets),
        ("~", ProposalRefusal::TooBroad),
        ("~/loose.txt", ProposalRefusal::TooBroad),
        ("~/Documents/letter.txt", ProposalRefusal::TooBroad),
        ("~/work", ProposalRefusal::TooBroad),
        ("/etc/shadow", ProposalRefusal::System),
        ("/tmp", ProposalRefusal::TooBroad),
        ("~/data/secrets", ProposalRefusal::Own),
    ] {
        assert_eq!(ground.proposed_folder(path), Err(because), "{path}");
    }
    assert_eq!(ground.blocked_by_output("open '~/nothing/here'"), [], "a path that does not exist is not reported");
    assert_eq!(
        ground.blocked_by_output("open '~/data/sandbox/own/x'"),
        [],
        "a path in the sandbox's home is not reported"
    );
    assert_eq!(ground.blocked_by_output("open '/usr/bin/env'"), [], "a readable system path is not reported");
}

#[test]
fn s36_home_reached_through_a_link_is_not_proposed() {
    let mut ground = TestHome::new();
    let link = ground.home.join("link");
    std::os::unix::fs::symlink(&ground.home, &link).unwrap();
    ground.home = link;
    for path in ["~/.ssh/id_ed25519", "~/.config/app/token", "~/.bitcoin/wallets/x"] {
        assert_eq!(ground.proposed_folder(path), Err(ProposalRefusal::Secrets), "{path}");
    }
    for path in ["~", "~/loose.txt", "~/Documents/letter.txt"] {
        assert_eq!(ground.proposed_folder(path), Err(ProposalRefusal::TooBroad), "{path}");
    }
}

#[test]
fn s36_link_is_evaluated_by_its_target() {
    let ground = TestHome::new();
    std::os::unix::fs::symlink(ground.home.join(".ssh"), ground.home.join("work/notes/keys")).unwrap();
    assert_eq!(ground.proposed_folder("~/work/notes/keys/id_ed25519"), Err(ProposalRefusal::Secrets));
    std::os::unix::fs::symlink(&ground.home, ground.home.join("work/notes/all")).unwrap();
    assert_eq!(ground.proposed_folder("~/work/notes/all"), Err(ProposalRefusal::TooBroad));
}
