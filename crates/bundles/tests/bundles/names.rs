//! Tests of paths that some file systems distinguish and others don't, and of names that Windows reserves.

use bundles::{ArchiveRefusal, PathProblem};

use crate::sample::{BundleFolder, assert_refused, valid_zip};
use crate::zip_writer::ZipEntry;

#[test]
fn equivalent_names_are_rejected() {
    let same = |one: &str, other: &str| {
        let zip = valid_zip().add_entry(ZipEntry::file(one, b"1")).add_entry(ZipEntry::file(other, b"2"));
        assert_refused(&zip.to_bytes(), &ArchiveRefusal::EquivalentPaths(one.to_owned(), other.to_owned()));
    };
    same("Readme", "README");
    same("caf\u{e9}", "cafe\u{301}");
    same("straße", "STRASSE");
    same("\u{212a}", "k");
    same("server/a.js", "server/a\u{200c}.js");
    // The folders `server` and `Server` are the same on some file systems, although their files differ in name.
    let zip = valid_zip().add_entry(ZipEntry::file("Server/other.js", b""));
    assert_refused(&zip.to_bytes(), &ArchiveRefusal::EquivalentPaths("server".to_owned(), "Server".to_owned()));
}

#[test]
fn duplicate_paths_are_rejected() {
    let twice = valid_zip().add_entry(ZipEntry::file("manifest.json", b"{}"));
    assert_refused(&twice.to_bytes(), &ArchiveRefusal::Duplicate("manifest.json".to_owned()));
    let folder = valid_zip().add_entry(ZipEntry::folder("a/")).add_entry(ZipEntry::folder("a/"));
    assert_refused(&folder.to_bytes(), &ArchiveRefusal::Duplicate("a".to_owned()));
    let both = |zip: crate::zip_writer::Zip, path: &str| {
        assert_refused(&zip.to_bytes(), &ArchiveRefusal::FileAndFolder(path.to_owned()))
    };
    both(valid_zip().add_entry(ZipEntry::file("server", b"x")), "server");
    both(valid_zip().add_entry(ZipEntry::file("manifest.json/a", b"x")), "manifest.json");
    both(valid_zip().add_entry(ZipEntry::file("a", b"x")).add_entry(ZipEntry::folder("a/")), "a");
}

#[test]
fn windows_reserved_names_are_rejected() {
    let bad = |path: &str, problem| {
        let expected = ArchiveRefusal::Path { path: path.to_owned(), problem };
        assert_refused(&valid_zip().add_entry(ZipEntry::file(path, b"x")).to_bytes(), &expected);
    };
    for path in ["con", "server/NUL", "aux.js", "Com1.txt", "lpt9", "COM¹", "CONIN$", "prn .txt", "nul/a"] {
        bad(path, PathProblem::Reserved);
    }
    for path in ["a.", "a ", "server./a", "..."] {
        bad(path, PathProblem::TrailingDotOrSpace);
    }
    for path in ["a".repeat(256), "a/".repeat(64) + "a", "abc/".repeat(300)] {
        let shown: String = path.chars().take(1024).collect();
        let expected = ArchiveRefusal::Path { path: shown, problem: PathProblem::TooLong };
        assert_refused(&valid_zip().add_entry(ZipEntry::file(&path, b"x")).to_bytes(), &expected);
    }
}

#[test]
fn names_similar_to_reserved_names_are_accepted() {
    let names =
        ["console.js", "com.js", "com10", "aux-2", "..a", ".npmrc", "a..b", "naïve/漢字", " a", "@scope/a", "a b"];
    let zip = names.iter().fold(valid_zip(), |zip, name| zip.add_entry(ZipEntry::file(name, b"x")));
    let disk = BundleFolder::with_file(&zip.to_bytes());
    let installed = disk.install().unwrap();
    assert_eq!(installed.tree.files.len(), names.len() + 2);
    disk.assert_contains_only(&[&installed.folder]);
}
