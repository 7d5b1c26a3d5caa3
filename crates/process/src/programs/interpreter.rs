//! Finds the interpreter that the first line of a script names. `sandbox` makes it accessible, and `code` includes it
//! in the approval.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::SearchPath;

/// Maximum number of bytes of a script's first line that are read to find its interpreter.
const MAX_FIRST_LINE_BYTES: u64 = 256;

/// Returns the interpreter that the first line of a script names. `path` is the search path of the command that runs
/// the script (`SearchPath::for_command`).
pub(crate) fn find_interpreter(script: &Path, path: &SearchPath) -> Option<PathBuf> {
    let mut first = Vec::new();
    // Opening a pipe or a device could block or have side effects.
    if !script.is_file() {
        return None;
    }
    File::open(script).ok()?.take(MAX_FIRST_LINE_BYTES).read_to_end(&mut first).ok()?;
    let line = first.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    // Splits at blanks and tabs only, as the kernel does.
    let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
    let named = words.next()?;
    if !named.ends_with("/env") {
        return Some(PathBuf::from(named));
    }
    let named = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    path.find(named, &super::default_working_directory()).ok()
}
