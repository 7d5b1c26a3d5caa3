//! Sample bundles, and temporary folders for them.

use std::fs;
use std::path::{Path, PathBuf};

use bundles::{ArchiveRefusal, Bundle, BundleError, UnpackedBundle, unpack};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::zip_writer::{Zip, ZipEntry};

/// Returns the manifest of a Node server, in this version of the manifest format.
pub(crate) fn node_manifest(version: &str) -> Value {
    json!({
        "manifest_version": version,
        "name": "notes",
        "version": "1.2.3",
        "description": "Keeps notes",
        "author": { "name": "Ann" },
        "server": {
            "type": "node",
            "entry_point": "server/index.js",
            "mcp_config": { "command": "node", "args": ["${__dirname}/server/index.js"] },
        },
    })
}

/// Returns an archive that contains this manifest and one code file.
pub(crate) fn zip_with_manifest(manifest: &Value) -> Zip {
    let manifest = ZipEntry::file("manifest.json", manifest.to_string().as_bytes());
    Zip::with_entries([manifest, ZipEntry::file("server/index.js", b"process.exit()").mode(0o100_755)])
}

pub(crate) fn valid_zip() -> Zip {
    zip_with_manifest(&node_manifest("0.3"))
}

/// A temporary folder with a bundle file, and a folder to which tests unpack the bundle.
pub(crate) struct BundleFolder(pub(crate) TempDir);

impl BundleFolder {
    pub(crate) fn with_file(bytes: &[u8]) -> Self {
        let disk = Self(tempfile::tempdir().unwrap());
        fs::write(disk.bundle_file(), bytes).unwrap();
        disk
    }

    pub(crate) fn bundle_file(&self) -> PathBuf {
        self.0.path().join("in.mcpb")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    pub(crate) fn open(&self) -> Result<Bundle, BundleError> {
        Bundle::open(&self.bundle_file())
    }

    pub(crate) fn install(&self) -> Result<UnpackedBundle, BundleError> {
        unpack(&self.open()?, &self.root())
    }

    /// Asserts that the temporary folder contains only the bundle file and the folder of unpacked bundles, and that the
    /// latter contains only these bundles and their lists.
    pub(crate) fn assert_contains_only(&self, folders: &[&Path]) {
        let names = |folder: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
            names.sort();
            names
        };
        let outside: Vec<_> = names(self.0.path()).into_iter().filter(|path| *path != self.root()).collect();
        assert_eq!(outside, [self.bundle_file()], "no files must be written outside of the root");
        let mut expected: Vec<PathBuf> =
            folders.iter().flat_map(|folder| [folder.to_path_buf(), folder.with_extension("tree.json")]).collect();
        expected.sort();
        assert_eq!(names(&self.root()), expected, "the root must contain only the expected entries");
    }
}

/// Asserts that an archive is refused for this reason, and that nothing remains on disk.
pub(crate) fn assert_refused(bytes: &[u8], expected: &ArchiveRefusal) {
    let disk = BundleFolder::with_file(bytes);
    match disk.install() {
        Err(BundleError::Refused(refusal)) => assert_eq!(refusal, *expected),
        other => panic!("expected {expected:?}, got {other:?}"),
    }
    disk.assert_contains_only(&[]);
}
