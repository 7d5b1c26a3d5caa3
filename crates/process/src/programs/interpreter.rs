//! The interpreter of a script, by the script's first line. `sandbox` brings it into reach, `code` has it approved.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::SearchPath;

/// How much of a file is read to see which interpreter runs it, in bytes.
const FIRST_LINE: u64 = 256;

/// The program that the first line of a script names. `path` is that of the command which runs it (`SearchPath::of_command`).
pub(crate) fn interpreter(script: &Path, path: &SearchPath) -> Option<PathBuf> {
    let mut first = Vec::new();
    // Opening a pipe or a device would wait or do something.
    if !script.is_file() {
        return None;
    }
    File::open(script).ok()?.take(FIRST_LINE).read_to_end(&mut first).ok()?;
    let line = first.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    // As the kernel parts it: by blanks and tabs, and nothing else that looks like one.
    let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
    let named = words.next()?;
    if !named.ends_with("/env") {
        return Some(PathBuf::from(named));
    }
    let named = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    path.find(named, &super::default_directory()).ok()
}
