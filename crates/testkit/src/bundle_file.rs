//! MCP bundles for tests, with the demo server or a script as their program.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Contents of an MCP bundle that a test writes as a ZIP file.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// Manifest of the bundle, `manifest.json`.
    pub manifest: Value,
    program: Vec<u8>,
}

impl Bundle {
    /// Returns a bundle that contains the demo server.
    ///
    /// # Panics
    /// Panics if the demo server can't be built or read.
    pub fn demo() -> Self {
        let program = fs::read(crate::binaries::demo_server());
        Self { program: program.unwrap_or_else(|e| panic!("the demo server can't be read: {e}")), ..Self::small() }
    }

    /// Returns the bundle of [`Bundle::demo`] with a short script instead of the demo server, for tests that do not
    /// start it.
    pub fn small() -> Self {
        let manifest = json!({
            "manifest_version": "0.3",
            "name": "demo",
            "version": "1.2.3",
            "description": "Adds numbers",
            "author": { "name": "Ann" },
            "server": {
                "type": "binary",
                "entry_point": "server/demo",
                "mcp_config": { "command": "${__dirname}/server/demo", "args": ["--era", "both"] },
            },
        });
        Self { manifest, program: b"#!/bin/sh\n".to_vec() }
    }

    /// Returns a bundle whose manifest requests inputs from the user, for tests that do not start it.
    pub fn with_inputs() -> Self {
        let mut bundle = Self::small();
        bundle.manifest["server"]["mcp_config"] = json!({
            "command": "${__dirname}/server/demo",
            "args": ["--level", "${user_config.level}", "${user_config.level}-of-${HOME}"],
            "env": { "API_KEY": "${user_config.key}" },
        });
        bundle.manifest["user_config"] = json!({
            "level": { "type": "string", "title": "Level", "description": "How much is said", "required": true },
            "key": { "type": "string", "title": "Key", "description": "From your account", "sensitive": true },
        });
        bundle
    }

    /// Writes the bundle as a ZIP file to this path, and returns the path.
    ///
    /// # Panics
    /// Panics if the file can't be written.
    pub fn write(&self, path: &Path) -> String {
        let manifest = self.manifest.to_string();
        let archive = zip(&[("manifest.json", 0o644, manifest.as_bytes()), ("server/demo", 0o755, &self.program)]);
        fs::write(path, archive).unwrap_or_else(|e| panic!("{} can't be written: {e}", path.display()));
        path.display().to_string()
    }
}

/// Returns a ZIP archive of these files without compression. Each file has a name, a mode and its content.
fn zip(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    const UTF8_NAME_FLAG: u16 = 1 << 11;
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, mode, content) in files {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let size = content.len() as u32;
        let mut header = Vec::new();
        header.extend([20, UTF8_NAME_FLAG, 0, 0, 0].map(u16::to_le_bytes).concat());
        header.extend([crc.sum(), size, size].map(u32::to_le_bytes).concat());
        header.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        let at = bytes.len() as u32;
        bytes.extend([b"PK\x03\x04", header.as_slice(), name.as_bytes(), content].concat());
        directory.extend([b"PK\x01\x02\x14\x03", header.as_slice(), &[0; 6]].concat());
        directory.extend([(0o100_000 | mode) << 16, at].map(u32::to_le_bytes).concat());
        directory.extend(name.as_bytes());
    }
    let (at, count) = (bytes.len() as u32, files.len() as u16);
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count, count].map(u16::to_le_bytes).concat());
    bytes.extend([directory.len() as u32, at].map(u32::to_le_bytes).concat());
    bytes.extend([0, 0]);
    bytes
}
