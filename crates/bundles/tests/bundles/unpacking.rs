//! Tests of unpacked files on disk.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use bundles::{
    BundleError, FileTree, FolderChange, TreeChange, UnpackedBundle, direct_subfolder, limits, remove_bundle,
    remove_leftovers, unpack, unpacked_folders, verify_folder, verify_tree,
};

use crate::sample::{BundleFolder, node_manifest, valid_zip, zip_with_manifest};
use crate::zip_writer::{Zip, ZipEntry};

fn sample_zip() -> Zip {
    let entries = [
        ZipEntry::folder("empty/"),
        ZipEntry::file("server/lib/a", b"a").mode(0o100_666),
        ZipEntry { descriptor: Some(true), ..ZipEntry::file("b", b"with a signature") },
        ZipEntry { descriptor: Some(false), ..ZipEntry::file("c", b"without") },
        ZipEntry { attributes: 0, ..ZipEntry::stored("d", b"") },
    ];
    entries.into_iter().fold(valid_zip(), Zip::add_entry)
}

fn file_mode(installed: &UnpackedBundle, path: &str) -> u32 {
    fs::metadata(installed.folder.join(path)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn files_are_unpacked_with_their_content_and_safe_modes() {
    let disk = BundleFolder::with_file(&sample_zip().to_bytes());
    let installed = disk.install().unwrap();
    disk.assert_contains_only(&[&installed.folder]);
    assert_eq!(fs::read(installed.folder.join("b")).unwrap(), b"with a signature");
    assert!(installed.folder.join("empty").is_dir());
    let modes = ["server/index.js", "server/lib/a", "d"].map(|path| file_mode(&installed, path) & 0o122);
    assert_eq!(
        modes,
        [0o100, 0, 0],
        "only executable files of the bundle must be executable, and only the owner may write"
    );
    assert_eq!(file_mode(&installed, "server") & 0o7022, 0);
    assert_eq!(
        installed.tree,
        disk.open().unwrap().archive.file_tree().unwrap(),
        "the unpacked files must be those of the opened archive"
    );
}

#[test]
fn unpacking_again_changes_nothing() {
    let disk = BundleFolder::with_file(&sample_zip().to_bytes());
    let installed = disk.install().unwrap();
    assert_eq!(disk.install().unwrap(), installed);
    let added = installed.folder.join("added");
    fs::write(&added, "").unwrap();
    assert!(
        matches!(disk.install(), Err(BundleError::FolderDiffers(FolderChange::Added(path))) if path == "added"),
        "an added file must be detected"
    );
    fs::remove_file(added).unwrap();
    fs::write(installed.folder.join("b"), "other").unwrap();
    assert!(matches!(disk.install(), Err(BundleError::FilesDiffer(TreeChange::Changed(path))) if path == "b"));
    disk.assert_contains_only(&[&installed.folder]);
}

#[test]
fn file_changed_after_opening_is_not_unpacked() {
    let disk = BundleFolder::with_file(&sample_zip().to_bytes());
    let bundle = disk.open().unwrap();
    let mut longer = sample_zip().to_bytes();
    longer[200] ^= 1;
    fs::write(disk.bundle_file(), &longer).unwrap();
    assert!(matches!(unpack(&bundle, &disk.root()), Err(BundleError::Changed)));
    longer.push(0);
    fs::write(disk.bundle_file(), &longer).unwrap();
    assert!(matches!(unpack(&bundle, &disk.root()), Err(BundleError::Changed)));
    disk.assert_contains_only(&[]);
}

#[test]
fn changed_file_is_detected_at_the_next_start() {
    let disk = BundleFolder::with_file(&sample_zip().to_bytes());
    let UnpackedBundle { folder, tree } = disk.install().unwrap();
    let verify = |path: &str| verify_tree(&folder, &tree, [&path.to_owned()]);
    let all = || verify_tree(&folder, &tree, tree.files.keys());
    assert_eq!(all(), Ok(()));
    fs::write(folder.join("cache.pyc"), "beside").unwrap();
    assert_eq!(all(), Ok(()), "added files must be ignored by verify_tree");

    let entry = "server/index.js";
    let runs = |mode| fs::set_permissions(folder.join(entry), fs::Permissions::from_mode(mode)).unwrap();
    runs(0o644);
    assert_eq!(verify(entry), Err(TreeChange::Changed(entry.to_owned())));
    runs(0o755);
    fs::write(folder.join(entry), "process.exiT()").unwrap();
    assert_eq!(verify(entry), Err(TreeChange::Changed(entry.to_owned())));
    assert_eq!(verify("b"), Ok(()));
    fs::remove_file(folder.join(entry)).unwrap();
    assert_eq!(verify(entry), Err(TreeChange::Missing(entry.to_owned())));
    fs::write(disk.0.path().join("in.mcpb"), "process.exit()").unwrap();
    symlink(disk.bundle_file(), folder.join(entry)).unwrap();
    assert_eq!(verify(entry), Err(TreeChange::NotAFile(entry.to_owned())));
    fs::rename(folder.join("server"), folder.join("moved")).unwrap();
    symlink(folder.join("moved"), folder.join("server")).unwrap();
    assert_eq!(verify("server/lib/a"), Err(TreeChange::NotAFile("server/lib/a".to_owned())));
    assert_eq!(verify("other"), Err(TreeChange::Unknown("other".to_owned())));
}

#[test]
fn tree_hash_covers_names_contents_and_modes() {
    let tree = |zip: Zip| BundleFolder::with_file(&zip.to_bytes()).open().unwrap().archive.file_tree().unwrap();
    let base = tree(valid_zip().add_entry(ZipEntry::file("a", b"1")));
    let others = [
        valid_zip().add_entry(ZipEntry::file("b", b"1")),
        valid_zip().add_entry(ZipEntry::file("a", b"2")),
        valid_zip().add_entry(ZipEntry::file("a", b"1").mode(0o100_755)),
        valid_zip(),
    ];
    assert!(others.into_iter().all(|other| tree(other).hash() != base.hash()));
    let stored = serde_json::to_string(&base).unwrap();
    assert_eq!(serde_json::from_str::<FileTree>(&stored).unwrap().hash(), base.hash());
}

#[test]
fn only_installed_bundles_can_be_removed() {
    let disk = BundleFolder::with_file(&sample_zip().to_bytes());
    let installed = disk.install().unwrap();
    symlink(disk.0.path(), installed.folder.join("out")).unwrap();
    let root = disk.root();
    for wrong in
        [root.clone(), disk.0.path().to_owned(), root.join(".."), root.join("other"), installed.folder.join("server")]
    {
        assert!(matches!(remove_bundle(&root, &wrong), Err(BundleError::NotInstalled)), "{wrong:?}");
    }
    symlink(disk.0.path(), root.join("link")).unwrap();
    assert!(matches!(remove_bundle(&root, &root.join("link")), Err(BundleError::NotInstalled)));
    fs::remove_file(root.join("link")).unwrap();
    remove_bundle(&root, &installed.folder).unwrap();
    disk.assert_contains_only(&[]);
}

#[test]
fn leftovers_of_a_killed_app_are_removed() {
    let disk = BundleFolder::with_file(&sample_zip().to_bytes());
    remove_leftovers(&disk.root()).unwrap();
    let installed = disk.install().unwrap();
    fs::create_dir_all(disk.root().join(".unfinished-abc/files")).unwrap();
    fs::write(disk.root().join("gone-0123.tree.json"), "{}").unwrap();
    remove_leftovers(&disk.root()).unwrap();
    disk.assert_contains_only(&[&installed.folder]);
}

#[test]
fn only_unpacked_folders_are_listed() {
    let disk = BundleFolder::with_file(&sample_zip().to_bytes());
    assert_eq!(unpacked_folders(&disk.root()).unwrap(), [""; 0], "a missing root must count as empty");
    let installed = disk.install().unwrap();
    fs::create_dir(disk.root().join("a-users-own")).unwrap();
    fs::write(disk.root().join("gone-0123.tree.json"), "{}").unwrap();
    fs::write(disk.root().join("..tree.json"), "{}").unwrap();
    symlink("/", disk.root().join("link-0123")).unwrap();
    fs::write(disk.root().join("link-0123.tree.json"), "{}").unwrap();
    let name = installed.folder.file_name().unwrap().to_str().unwrap();
    assert_eq!(unpacked_folders(&disk.root()).unwrap(), [name]);
}

#[test]
fn folder_name_resolves_to_a_direct_subfolder_or_to_nothing() {
    let root = std::path::Path::new("/data/bundles");
    assert_eq!(direct_subfolder(root, "notes-0123"), Some(root.join("notes-0123")));
    for name in ["", ".", "..", "../notes", "notes/../..", "notes/server", "notes/", "./notes", "/etc", "//", "/"] {
        assert_eq!(direct_subfolder(root, name), None, "{name:?}");
    }
}

#[test]
fn archive_with_the_maximum_number_of_files_is_accepted() {
    let file = |n: usize| ZipEntry::stored(&n.to_string(), b"");
    let most = (2..limits::MAX_ARCHIVE_ENTRIES).map(file).fold(valid_zip(), Zip::add_entry);
    assert_eq!(
        BundleFolder::with_file(&most.to_bytes()).open().unwrap().archive.files().count(),
        limits::MAX_ARCHIVE_ENTRIES
    );
    crate::sample::assert_refused(
        &most.add_entry(ZipEntry::file("one more", b"")).to_bytes(),
        &bundles::ArchiveRefusal::TooManyEntries,
    );
}

#[test]
fn folder_is_verified_against_its_tree_hash() {
    type FolderEdit = fn(&std::path::Path);
    let edits: [(FolderEdit, FolderChange); 10] = [
        (|folder| fs::write(folder.join("b"), "other").unwrap(), FolderChange::Changed("b".to_owned())),
        (
            |folder| fs::write(folder.join("server/lib/new.js"), "").unwrap(),
            FolderChange::Added("server/lib/new.js".to_owned()),
        ),
        (|folder| fs::remove_file(folder.join("d")).unwrap(), FolderChange::Missing("d".to_owned())),
        (|folder| fs::rename(folder.join("b"), folder.join("e")).unwrap(), FolderChange::Missing("b".to_owned())),
        (
            |folder| fs::set_permissions(folder.join("c"), fs::Permissions::from_mode(0o755)).unwrap(),
            FolderChange::Changed("c".to_owned()),
        ),
        (
            |folder| {
                fs::rename(folder.join("b"), folder.join("../b")).unwrap();
                symlink("../b", folder.join("b")).unwrap();
            },
            FolderChange::NotAFile("b".to_owned()),
        ),
        (|folder| symlink("server", folder.join("lib")).unwrap(), FolderChange::NotAFile("lib".to_owned())),
        (
            |folder| drop(std::os::unix::net::UnixListener::bind(folder.join("s")).unwrap()),
            FolderChange::NotAFile("s".to_owned()),
        ),
        (
            |folder| {
                let deep = (0..=limits::MAX_PATH_DEPTH + 1).fold(folder.to_owned(), |at, _| at.join("d1"));
                fs::create_dir_all(deep).unwrap();
            },
            FolderChange::TooLarge,
        ),
        (
            |folder| fs::File::create(folder.join("e")).unwrap().set_len(limits::MAX_UNPACKED_FILE_BYTES + 1).unwrap(),
            FolderChange::TooLarge,
        ),
    ];
    for (edit, expected) in edits {
        let disk = BundleFolder::with_file(&sample_zip().to_bytes());
        let UnpackedBundle { folder, tree } = disk.install().unwrap();
        assert_eq!(verify_folder(&folder, &tree.hash()), Ok(()));
        edit(&folder);
        assert_eq!(verify_folder(&folder, &tree.hash()), Err(expected));
    }
    let disk = BundleFolder::with_file(&sample_zip().to_bytes());
    let UnpackedBundle { folder, tree } = disk.install().unwrap();
    fs::write(folder.join("b"), "other").unwrap();
    let list = folder.with_extension("tree.json");
    fs::write(&list, fs::read_to_string(&list).unwrap().replace("server/index.js", "server/other.js")).unwrap();
    let result = verify_folder(&folder, &tree.hash());
    assert_eq!(result, Err(FolderChange::Differs), "a changed list must not be used");
    fs::remove_file(list).unwrap();
    assert_eq!(
        verify_folder(&folder, &tree.hash()),
        Err(FolderChange::Differs),
        "without the list, the change must be reported without a file"
    );

    let disk = BundleFolder::with_file(&sample_zip().to_bytes());
    let UnpackedBundle { folder, tree } = disk.install().unwrap();
    symlink(&folder, disk.root().join("link")).unwrap();
    let refused = verify_folder(&disk.root().join("link"), &tree.hash());
    assert!(matches!(refused, Err(FolderChange::NotAFile(_))), "{refused:?}");
    assert!(matches!(verify_folder(&disk.root().join("gone"), ""), Err(FolderChange::Unreadable(..))));
}

#[test]
fn files_created_by_uv_are_ignored_only_for_uv_servers() {
    let made = |kind: &str, more: &[ZipEntry]| {
        let mut manifest = node_manifest("0.4");
        manifest["server"]["type"] = kind.into();
        let disk = BundleFolder::with_file(
            &more.iter().cloned().fold(zip_with_manifest(&manifest), Zip::add_entry).to_bytes(),
        );
        let UnpackedBundle { folder, tree } = disk.install().unwrap();
        fs::create_dir(folder.join(".venv")).unwrap();
        symlink("/usr/bin/python3", folder.join(".venv/python")).unwrap();
        fs::write(folder.join("uv.lock"), "").unwrap();
        let verified = verify_folder(&folder, &tree.hash());
        fs::remove_dir_all(folder.join(".venv")).unwrap();
        symlink("/tmp", folder.join(".venv")).unwrap();
        (verified, verify_folder(&folder, &tree.hash()))
    };
    let (verified, with_link) = made("uv", &[]);
    assert_eq!(verified, Ok(()), "files that uv creates must be ignored");
    assert_eq!(
        with_link,
        Err(FolderChange::NotAFile(".venv".to_owned())),
        "a link must be refused, since uv creates none"
    );
    assert_eq!(
        made("python", &[]).0,
        Err(FolderChange::NotAFile(".venv/python".to_owned())),
        "the same files must be refused for other servers"
    );
    let published = [ZipEntry::file("uv.lock", b"as published")];
    let changed = FolderChange::Changed("uv.lock".to_owned());
    assert_eq!(made("uv", &published).0, Err(changed), "a changed uv.lock of the bundle must be detected");
}
