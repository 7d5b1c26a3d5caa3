//! Tests with random input: reading any file ends without a panic, and nothing is written outside of the root.

use bundles::{Bundle, BundleEnvironment, Manifest, Platform, plan};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::sample::{BundleFolder, node_manifest, valid_zip, zip_with_manifest};
use crate::zip_writer::ZipEntry;

/// Opens, plans and unpacks an archive, and asserts that no unexpected files are on disk.
fn assert_only_unpacked_folder_remains(bytes: &[u8]) {
    let disk = BundleFolder::with_file(bytes);
    match disk.install() {
        Ok(installed) => disk.assert_contains_only(&[&installed.folder]),
        Err(_) => disk.assert_contains_only(&[]),
    }
    if let Ok(bundle) = disk.open() {
        assert_plan_notes_have_no_control_characters(&bundle);
        let _ = bundle.localized("de-AT");
    }
}

fn assert_plan_notes_have_no_control_characters(bundle: &Bundle) {
    let [folder, home, desktop, documents, downloads] = ["/f", "/h", "/h/d", "/h/o", "/h/l"].map(Into::into);
    for platform in [Platform::Windows, Platform::MacOs, Platform::Linux] {
        let (folder, home, desktop): (std::path::PathBuf, _, _) =
            (Clone::clone(&folder), Clone::clone(&home), Clone::clone(&desktop));
        let (documents, downloads) = (Clone::clone(&documents), Clone::clone(&downloads));
        let place = BundleEnvironment {
            platform,
            folder,
            home,
            desktop,
            documents,
            downloads,
            node: Some("20".to_owned()),
            python: None,
        };
        if let Ok(plan) = plan(bundle, &place) {
            assert!(plan.install.notes.iter().all(|note| !note.to_string().chars().any(char::is_control)));
        }
    }
}

fn sample_archive_bytes() -> Vec<u8> {
    let zip =
        valid_zip().add_entry(ZipEntry { descriptor: Some(true), ..ZipEntry::file("mcpb-resources/de.json", b"{}") });
    zip.add_entry(ZipEntry::folder("empty/")).add_entry(ZipEntry::stored("bin/a", b"text")).to_bytes()
}

proptest! {
    #[test]
    fn random_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..2000)) {
        assert_only_unpacked_folder_remains(&bytes);
        let _ = Manifest::read(&bytes);
    }

    #[test]
    fn archives_with_changed_bytes_do_not_panic(changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = sample_archive_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        assert_only_unpacked_folder_remains(&bytes);
    }

    #[test]
    fn truncated_or_repeated_archives_do_not_panic(
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        into in any::<prop::sample::Index>(),
        removed in any::<bool>(),
    ) {
        let mut bytes = sample_archive_bytes();
        let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
        let range = from.min(to)..from.max(to);
        if removed {
            bytes.drain(range);
        } else {
            let part = bytes[range].to_vec();
            let into = into.index(bytes.len());
            bytes.splice(into..into, part);
        }
        assert_only_unpacked_folder_remains(&bytes);
    }

    #[test]
    fn arbitrary_file_names_do_not_panic(names in vec("(\\PC|[./\\\\:a-c\u{0}\u{301}]){0,12}", 1..4)) {
        let zip = names.iter().fold(valid_zip(), |zip, name| zip.add_entry(ZipEntry::file(name, b"x")));
        assert_only_unpacked_folder_remains(&zip.to_bytes());
    }

    #[test]
    fn arbitrary_manifest_values_do_not_panic(
        field in prop::sample::select(vec!["name", "server", "user_config", "compatibility", "localization", "icons", "tools", "author"]),
        text in "(\\PC|\\$\\{|\\}|user_config\\.a|HOME|__dirname|/){0,20}",
        nested in any::<bool>(),
    ) {
        let mut manifest = node_manifest("0.3");
        manifest[field] = if nested { json!({ &text: [text] }) } else { Value::from(text.as_str()) };
        let _ = Manifest::read(manifest.to_string().as_bytes());
        let mut manifest = crate::sample::node_manifest("0.3");
        manifest["server"]["mcp_config"] = json!({ "command": text, "args": [text], "env": { "A": text } });
        manifest["user_config"] = json!({ "a": { "type": "string", "default": text } });
        assert_only_unpacked_folder_remains(&zip_with_manifest(&manifest).to_bytes());
    }
}
