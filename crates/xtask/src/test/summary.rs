//! Prints the results of the test parts: one line per part, then the failures with their causes and the totals.

use std::time::Duration;

use super::counts::TestCounts;
use super::log::TestPartLog;
use super::outcome::ReportedOutcome;
use crate::problem::Problem;

/// Maximum number of lines that are printed from the end of a failed part's log.
const MAX_PRINTED_LOG_LINES: usize = 60;

/// Wall time of a test part, and the processor time of the programs that it ran.
#[derive(Clone, Copy)]
pub(super) struct TestPartTime {
    pub(super) wall: Duration,
    pub(super) processor: Option<Duration>,
}

#[derive(Default)]
pub(super) struct TestRunSummary {
    counts: TestCounts,
    failures: Vec<String>,
    skipped: Vec<String>,
}

impl TestRunSummary {
    /// Prints the result of a part, and the end of its log if it failed.
    pub(super) fn add(
        &mut self,
        name: &str,
        time: TestPartTime,
        outcome: ReportedOutcome,
        log: &TestPartLog,
    ) -> Result<(), Problem> {
        println!("{}", test_part_summary_line(name, time, &outcome));
        match outcome {
            ReportedOutcome::Ok(counts) => self.counts += counts,
            ReportedOutcome::Skipped(reason) => self.skipped.push(format!("{name}: {reason}")),
            ReportedOutcome::Failed { counts, cause } => {
                println!("--- the end of {}\n{}\n---", log.path().display(), log.last_lines(MAX_PRINTED_LOG_LINES)?);
                self.counts += counts;
                self.failures.push(format!("{name}: {cause}\n  log: {}", log.path().display()));
            }
        }
        Ok(())
    }

    /// Prints the total wall time and processor time of test parts that ran in parallel.
    pub(super) fn print_parallel_time(&self, time: TestPartTime) {
        println!("{:<11}          {}", "together", format_time(time));
    }

    /// Records that the run was stopped before all parts ran, which counts as a failure.
    pub(super) fn record_abort(&mut self, problem: &Problem) {
        self.counts.failed += 1;
        self.failures.push(format!("stopped: {problem}"));
    }

    /// Prints the failures and totals. Returns [`Problem::ChecksFailed`] if anything failed.
    pub(super) fn finish(self) -> Result<(), Problem> {
        println!("\n{}", self.text());
        if self.failures.is_empty() { Ok(()) } else { Err(Problem::ChecksFailed) }
    }

    fn text(&self) -> String {
        let mut lines = Vec::new();
        lines.extend(self.skipped.iter().map(|text| format!("skipped: {text}")));
        lines.extend(self.failures.iter().map(|text| format!("FAILED: {text}")));
        lines.push(closing_line(self.counts));
        lines.join("\n")
    }
}

fn test_part_summary_line(name: &str, time: TestPartTime, outcome: &ReportedOutcome) -> String {
    let seconds = format_time(time);
    match outcome {
        ReportedOutcome::Ok(counts) => format!("{name:<11} ok       {seconds}  {}", format_counts(*counts)),
        ReportedOutcome::Failed { counts, .. } => format!("{name:<11} FAILED   {seconds}  {}", format_counts(*counts)),
        ReportedOutcome::Skipped(reason) => format!("{name:<11} skipped  {seconds}  {reason}"),
    }
}

fn format_time(time: TestPartTime) -> String {
    let computed = time.processor.map_or(String::new(), |time| format!(" ({:>4.0} s computing)", time.as_secs_f32()));
    format!("{:>6.1} s{computed}", time.wall.as_secs_f32())
}

fn format_counts(counts: TestCounts) -> String {
    match (counts.failed, counts.passed) {
        (0, 1) => String::new(),
        (0, passed) => format!("{passed} tests"),
        (failed, passed) => format!("{failed} of {} failed", failed + passed),
    }
}

/// Returns the last line of the summary, which other programs parse.
fn closing_line(counts: TestCounts) -> String {
    let TestCounts { passed, failed, skipped } = counts;
    match skipped {
        0 => format!("{passed} passed, {failed} failed"),
        _ => format!("{passed} passed, {failed} failed, {skipped} skipped"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_part_time_without_processor_time(seconds: u64) -> TestPartTime {
        TestPartTime { wall: Duration::from_secs(seconds), processor: None }
    }

    #[test]
    fn summary_line_contains_duration_and_processor_time() {
        let counts = TestCounts { passed: 3, ..TestCounts::default() };
        let time = TestPartTime { processor: Some(Duration::from_secs(5)), ..test_part_time_without_processor_time(7) };
        let line = test_part_summary_line("page", time, &ReportedOutcome::Ok(counts));
        assert_eq!(line, "page        ok          7.0 s (   5 s computing)  3 tests", "{line}");
    }

    #[test]
    fn closing_line_omits_skipped_tests_if_there_are_none() {
        assert_eq!(
            closing_line(TestCounts { passed: 7, failed: 0, skipped: 0 }),
            "7 passed, 0 failed",
            "skipped tests should be omitted if there are none"
        );
        let skipped = closing_line(TestCounts { passed: 7, failed: 1, skipped: 2 });
        assert_eq!(skipped, "7 passed, 1 failed, 2 skipped", "skipped tests should be reported");
    }

    #[test]
    fn aborted_test_run_fails() {
        let mut summary = TestRunSummary::default();
        summary.record_abort(&Problem::Machine("node was not found".into()));
        assert_eq!(
            summary.text(),
            "FAILED: stopped: node was not found\n0 passed, 1 failed",
            "the cause should precede the closing line"
        );
    }

    #[test]
    fn failures_precede_the_closing_line_with_their_causes() {
        let folder = tempfile::tempdir().unwrap();
        let log = TestPartLog::create_at(folder.path().join("clippy.log")).unwrap();
        let mut summary = TestRunSummary::default();
        let failed = ReportedOutcome::Failed {
            counts: TestCounts { failed: 1, ..TestCounts::default() },
            cause: "error: x".into(),
        };
        summary.add("clippy", test_part_time_without_processor_time(3), failed, &log).unwrap();
        summary
            .add(
                "deny",
                test_part_time_without_processor_time(0),
                ReportedOutcome::Skipped("not installed".into()),
                &log,
            )
            .unwrap();
        let text = summary.text();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "skipped: deny: not installed", "the skipped part should be reported");
        assert_eq!(lines[1], "FAILED: clippy: error: x", "the cause should be reported");
        assert!(lines[2].contains("clippy.log"), "the path of the log should be reported");
        assert_eq!(lines.last(), Some(&"0 passed, 1 failed"), "the totals should be in the last line");
        assert!(summary.finish().is_err(), "a failed part should fail the task");
    }
}
