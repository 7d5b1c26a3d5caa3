//! SHA256SUMS over everything that a release consists of.

use std::fs;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::process::Program;

/// Writes the file, which `sha256sum -c` reads in that folder, and returns its path.
pub(super) fn write_checksums(out: &Path, made: &[PathBuf]) -> Result<PathBuf, Problem> {
    let mut names: Vec<_> = made.iter().filter_map(|path| path.file_name()).collect();
    names.sort_unstable();
    let text = Program::new("sha256sum").dir(out).args(names).output()?;
    let sums = out.join("SHA256SUMS");
    fs::write(&sums, text).map_err(Problem::file(&sums))?;
    Ok(sums)
}
