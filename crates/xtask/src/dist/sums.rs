//! `SHA256SUMS`: checksums of all files of a release.

use std::fs;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::process::Program;

/// Writes the checksums in the format of `sha256sum -c`, and returns the path of the file.
pub(super) fn write_checksums(out: &Path, files: &[PathBuf]) -> Result<PathBuf, Problem> {
    let mut names: Vec<_> = files.iter().filter_map(|path| path.file_name()).collect();
    names.sort_unstable();
    let text = Program::new("sha256sum").dir(out).args(names).output()?;
    let sums = out.join("SHA256SUMS");
    fs::write(&sums, text).map_err(Problem::file_error(&sums))?;
    Ok(sums)
}
