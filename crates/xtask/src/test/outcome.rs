//! Outcomes of test parts.

use super::cause;
use super::counts::TestCounts;
use crate::problem::Problem;

/// Outcome of a test part of `cargo xtask test` that did not fail.
#[derive(Debug)]
pub(super) enum PartOutcome {
    /// The part was not skipped, and all of its programs succeeded.
    Ran,
    /// The part was skipped for this reason.
    Skipped(String),
}

/// Outcome of a test part, with its numbers of passed, failed and skipped tests.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReportedOutcome {
    Ok(TestCounts),
    Failed { counts: TestCounts, cause: String },
    Skipped(String),
}

impl ReportedOutcome {
    /// Creates the outcome from the result of a part and its log. A part that passes without a test summary counts as
    /// one passed test, and an error without a failed test as one failed test.
    pub(super) fn new(result: Result<PartOutcome, Problem>, log: &str) -> Self {
        let counted = TestCounts::from_log(log);
        match result {
            Ok(PartOutcome::Skipped(reason)) => Self::Skipped(reason),
            Ok(PartOutcome::Ran) => Self::Ok(counted.unwrap_or(TestCounts { passed: 1, ..TestCounts::default() })),
            Err(problem) => {
                let mut counts = counted.unwrap_or_default();
                counts.failed = counts.failed.max(1);
                let cause = match (cause::failure_cause_in_log(log), problem) {
                    (Some(line), Problem::ChecksFailed) => line,
                    (Some(line), problem @ Problem::Failed { .. }) => format!("{problem}: {line}"),
                    (_, problem) => problem.to_string(),
                };
                Self::Failed { counts, cause }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_part_without_tests_counts_as_one_test() {
        let ran = ReportedOutcome::new(Ok(PartOutcome::Ran), "nothing to count");
        assert_eq!(
            ran,
            ReportedOutcome::Ok(TestCounts { passed: 1, failed: 0, skipped: 0 }),
            "a part without tests should count as one passed test"
        );
        let ReportedOutcome::Failed { counts, .. } =
            ReportedOutcome::new(Err(Problem::ChecksFailed), "a.rs:1: too long")
        else {
            panic!("an error is a failure");
        };
        assert_eq!((counts.passed, counts.failed), (0, 1), "an error should count as one failed test");
    }

    #[test]
    fn failure_after_passed_tests_is_counted() {
        let log = "Tests  4 passed (4)\nerror: the report could not be written";
        let ReportedOutcome::Failed { counts, cause } = ReportedOutcome::new(Err(Problem::ChecksFailed), log) else {
            panic!("an error is a failure");
        };
        assert_eq!((counts.passed, counts.failed), (4, 1), "the passed tests and the failure should be counted");
        assert!(cause.contains("could not be written"), "the cause should be found in the log: {cause}");
    }

    #[test]
    fn skipped_part_counts_nothing() {
        let outcome = ReportedOutcome::new(Ok(PartOutcome::Skipped("not installed".into())), "3 passed");
        assert_eq!(outcome, ReportedOutcome::Skipped("not installed".into()), "the reason should be preserved");
    }
}
