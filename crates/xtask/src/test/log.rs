//! Log of a test part in `target/test-logs/PART.log`. The end of it is printed to the terminal if the part fails.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::problem::Problem;
use crate::process::Program;
use crate::workspace;

/// Timeout of one program that a test part runs. A cold build on two cores takes about a third of it.
const TEST_PROGRAM_TIMEOUT: Duration = Duration::from_secs(25 * 60);

/// Log file of one test part, to which its programs append their output.
pub(super) struct TestPartLog {
    path: PathBuf,
    file: File,
}

impl TestPartLog {
    /// Creates an empty log for the part with this name.
    pub(super) fn create(part: &str) -> Result<Self, Problem> {
        Self::create_at(workspace::create_folder_in_target("test-logs")?.join(format!("{part}.log")))
    }

    /// Creates an empty log at this path.
    pub(super) fn create_at(path: PathBuf) -> Result<Self, Problem> {
        // Opened for appending, since the started programs write to the same file.
        fs::write(&path, "").map_err(Problem::file_error(&path))?;
        let file = File::options().append(true).open(&path).map_err(Problem::file_error(&path))?;
        Ok(Self { path, file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn append_line(&mut self, text: &str) -> Result<(), Problem> {
        writeln!(self.file, "{text}").map_err(Problem::file_error(&self.path))
    }

    /// Runs a program until it exits, and appends its output to the log.
    pub(super) fn run(&mut self, program: Program) -> Result<(), Problem> {
        self.append_line(&format!("$ {}", program.displayed_command()))?;
        // Disables colours, since escape sequences would make the log harder to read and to search.
        let program =
            program.env("CARGO_TERM_COLOR", "never").env("NO_COLOR", "1").env("FORCE_COLOR", "0").env("TERM", "dumb");
        let program = program.output_to(&self.file).map_err(Problem::file_error(&self.path))?;
        program.start()?.finish(TEST_PROGRAM_TIMEOUT)
    }

    /// Returns the contents of the log so far.
    pub(super) fn text(&self) -> Result<String, Problem> {
        let bytes = fs::read(&self.path).map_err(Problem::file_error(&self.path))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the last `count` lines of the log, in order.
    pub(super) fn last_lines(&self, count: usize) -> Result<String, Problem> {
        let text = self.text()?;
        let lines: Vec<_> = text.lines().collect();
        Ok(lines[lines.len().saturating_sub(count)..].join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::cargo;

    #[test]
    fn log_has_program_output_between_appended_lines() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = TestPartLog::create_at(folder.path().join("part.log")).unwrap();
        log.append_line("before").unwrap();
        log.run(cargo().arg("--version")).unwrap();
        log.append_line("after").unwrap();
        let text = log.text().unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines[0], lines[1]), ("before", "$ cargo --version"), "the log should contain the command: {text}");
        assert!(lines[2].starts_with("cargo 1."), "the output should follow the command: {text}");
        assert_eq!(log.last_lines(1).unwrap(), "after", "the last lines should be returned");
    }

    #[test]
    fn output_of_a_failing_program_is_in_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = TestPartLog::create_at(folder.path().join("part.log")).unwrap();
        let outcome = log.run(cargo().arg("no-such-subcommand"));
        assert!(matches!(outcome, Err(Problem::Failed { .. })), "the failure should be returned: {outcome:?}");
        assert!(log.text().unwrap().contains("no such command"), "standard error should be in the log");
    }
}
