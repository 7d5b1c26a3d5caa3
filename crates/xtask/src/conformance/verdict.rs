//! Verdict on a scenario, derived from the checks that the suite prints and from its exit status.

use serde_json::Value;

/// Numbers of the checks of a conformance scenario that passed, failed, reported a warning, or were skipped.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct CheckCounts {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) warned: usize,
    pub(super) skipped: usize,
}

/// Result of a conformance scenario: the numbers of its checks, and the reasons why it has not passed, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScenarioVerdict {
    pub(super) checks: CheckCounts,
    /// Reasons why the scenario has not passed. Empty if it passed.
    pub(super) faults: Vec<String>,
}

impl ScenarioVerdict {
    /// Derives the verdict from the suite's output. The suite passes a scenario if no check failed. This verdict also
    /// requires that at least one check passed, that there are no warnings, and that the suite exited successfully
    /// (`ended_well`), which includes the client's exit status.
    pub(super) fn parse(printed: &str, ended_well: bool) -> Self {
        let mut checks = CheckCounts::default();
        let mut faults = Vec::new();
        for check in parse_checks(printed) {
            let status = check["status"].as_str().unwrap_or_default();
            match status {
                "SUCCESS" => checks.passed += 1,
                "SKIPPED" => checks.skipped += 1,
                "FAILURE" => checks.failed += 1,
                "WARNING" => checks.warned += 1,
                _ => {}
            }
            if matches!(status, "FAILURE" | "WARNING") {
                let id = check["id"].as_str().unwrap_or_default();
                let cause = check["errorMessage"].as_str().or(check["description"].as_str()).unwrap_or_default();
                faults.push(format!("{status} {id}: {cause}"));
            }
        }
        if checks.passed == 0 {
            faults.push("no check passed".to_owned());
        }
        if !ended_well && faults.is_empty() {
            faults.push("the client failed or took too long".to_owned());
        }
        Self { checks, faults }
    }

    pub(super) fn passed(&self) -> bool {
        self.faults.is_empty()
    }

    pub(super) fn summary_line(&self, name: &str) -> String {
        let CheckCounts { passed, failed, warned, skipped } = self.checks;
        let word = if self.passed() { "ok    " } else { "FAILED" };
        format!("{word} {name:<52} {passed:>2} passed {failed:>2} failed {warned:>2} warned {skipped:>2} skipped")
    }
}

/// Returns the checks of a scenario, which the suite prints as one JSON array, or an empty list if there is no such
/// array.
fn parse_checks(printed: &str) -> Vec<Value> {
    match printed.find('[').map(|at| serde_json::from_str(printed[at..].trim_end())) {
        Some(Ok(Value::Array(checks))) => checks,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(statuses: &[&str]) -> String {
        let checks: Vec<_> = statuses
            .iter()
            .map(|status| serde_json::json!({ "id": "a", "status": status, "description": "b" }))
            .collect();
        serde_json::to_string(&checks).unwrap_or_default()
    }

    #[test]
    fn scenario_passes_with_only_successes() {
        assert!(
            ScenarioVerdict::parse(&printed(&["SUCCESS", "INFO", "SKIPPED"]), true).passed(),
            "informational checks should be ignored"
        );
        for statuses in [&["SUCCESS", "FAILURE"][..], &["SUCCESS", "WARNING"], &["SKIPPED"], &[]] {
            assert!(!ScenarioVerdict::parse(&printed(statuses), true).passed(), "{statuses:?} should not pass");
        }
        assert!(
            !ScenarioVerdict::parse(&printed(&["SUCCESS"]), false).passed(),
            "a failed exit status should not pass"
        );
        assert!(!ScenarioVerdict::parse("the suite broke", true).passed(), "output without checks should not pass");
    }

    #[test]
    fn failed_check_is_named() {
        let verdict = ScenarioVerdict::parse(&printed(&["SUCCESS", "FAILURE"]), false);
        assert_eq!(verdict.faults, ["FAILURE a: b"], "the failed check should be reported, and not its consequence");
    }
}
