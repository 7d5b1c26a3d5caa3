//! Tests of paths that some file systems distinguish and others don't, and of names that Windows reserves.

use bundles::{ArchiveRefusal, PathProblem};

use crate::sample::{BundleFolder, refused, valid};
use crate::zip_writer::Entry;

#[test]
fn equivalent_names_are_rejected() {
    let same = |one: &str, other: &str| {
        let zip = valid().and(Entry::file(one, b"1")).and(Entry::file(other, b"2"));
        refused(&zip.bytes(), &ArchiveRefusal::Twins(one.to_owned(), other.to_owned()));
    };
    same("Readme", "README");
    same("caf\u{e9}", "cafe\u{301}");
    same("straße", "STRASSE");
    same("\u{212a}", "k");
    same("server/a.js", "server/a\u{200c}.js");
    // The folders are twins, though the files are not.
    let zip = valid().and(Entry::file("Server/other.js", b""));
    refused(&zip.bytes(), &ArchiveRefusal::Twins("server".to_owned(), "Server".to_owned()));
}

#[test]
fn duplicate_paths_are_rejected() {
    let twice = valid().and(Entry::file("manifest.json", b"{}"));
    refused(&twice.bytes(), &ArchiveRefusal::Duplicate("manifest.json".to_owned()));
    let folder = valid().and(Entry::folder("a/")).and(Entry::folder("a/"));
    refused(&folder.bytes(), &ArchiveRefusal::Duplicate("a".to_owned()));
    let both = |zip: crate::zip_writer::Zip, path: &str| {
        refused(&zip.bytes(), &ArchiveRefusal::FileAndFolder(path.to_owned()))
    };
    both(valid().and(Entry::file("server", b"x")), "server");
    both(valid().and(Entry::file("manifest.json/a", b"x")), "manifest.json");
    both(valid().and(Entry::file("a", b"x")).and(Entry::folder("a/")), "a");
}

#[test]
fn windows_reserved_names_are_rejected() {
    let bad = |path: &str, problem| {
        let expected = ArchiveRefusal::Path { path: path.to_owned(), problem };
        refused(&valid().and(Entry::file(path, b"x")).bytes(), &expected);
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
        refused(&valid().and(Entry::file(&path, b"x")).bytes(), &expected);
    }
}

#[test]
fn names_similar_to_reserved_names_are_accepted() {
    let names =
        ["console.js", "com.js", "com10", "aux-2", "..a", ".npmrc", "a..b", "naïve/漢字", " a", "@scope/a", "a b"];
    let zip = names.iter().fold(valid(), |zip, name| zip.and(Entry::file(name, b"x")));
    let disk = BundleFolder::with(&zip.bytes());
    let installed = disk.install().unwrap();
    assert_eq!(installed.tree.files.len(), names.len() + 2);
    disk.assert_contains_only(&[&installed.folder]);
}
