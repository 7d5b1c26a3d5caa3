//! Scenarios of the suite for clients, and the protocol revisions that each of them runs with.

/// Protocol revisions that the scenarios run with: the latest stateful and the latest stateless one.
pub(super) const STATEFUL_AND_STATELESS_REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// One run of a conformance scenario, with the protocol revision to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScenarioRun {
    pub(super) scenario: String,
    /// Protocol revision to use, or `None` if the scenario itself selects it.
    pub(super) wire: Option<&'static str>,
}

impl ScenarioRun {
    pub(super) fn name(&self) -> String {
        match self.wire {
            Some(wire) => format!("{} {wire}", self.scenario),
            None => self.scenario.clone(),
        }
    }
}

/// Text that the suite lists instead of revisions for a scenario of a protocol extension.
const EXTENSION_REVISION_PLACEHOLDER: &str = "extension";

/// Parses the suite's output of `list --client`, whose lines have the form `  - NAME [REVISION,REVISION]`, with
/// `[extension]` for scenarios of protocol extensions. A scenario runs with each listed revision. The authorization
/// extensions run with both revisions, as in the suite's own requirement sets, and other extensions run once without a
/// given revision.
pub(super) fn parse_scenario_runs(list: &str) -> Vec<ScenarioRun> {
    let mut runs = Vec::new();
    for line in list.lines() {
        let Some((scenario, revisions)) = line.trim().strip_prefix("- ").and_then(|line| line.split_once(" [")) else {
            continue;
        };
        let named: Vec<&str> = revisions.trim_end_matches(']').split(',').collect();
        let before = runs.len();
        let is_sign_in = named == [EXTENSION_REVISION_PLACEHOLDER] && scenario.starts_with("auth/");
        for wire in STATEFUL_AND_STATELESS_REVISIONS.into_iter().filter(|wire| is_sign_in || named.contains(wire)) {
            runs.push(ScenarioRun { scenario: scenario.to_owned(), wire: Some(wire) });
        }
        if runs.len() == before {
            runs.push(ScenarioRun { scenario: scenario.to_owned(), wire: None });
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scenario_runs_with_every_listed_revision() {
        let list = "Client scenarios (test against a client):\n  - tools_call [2025-06-18,2025-11-25,2026-07-28]\n  \
                    - sse-retry [2025-11-25]\n  - sep-2640-client-verify-size [extension]\n  - auth/x [2025-03-26]\n  - auth/dpop [extension]\n";
        let names: Vec<String> = parse_scenario_runs(list).iter().map(ScenarioRun::name).collect();
        let expected = [
            "tools_call 2025-11-25",
            "tools_call 2026-07-28",
            "sse-retry 2025-11-25",
            "sep-2640-client-verify-size",
            "auth/x",
            "auth/dpop 2025-11-25",
            "auth/dpop 2026-07-28",
        ];
        assert_eq!(names, expected, "each scenario should run with each listed revision, or once if none is known");
        assert_eq!(parse_scenario_runs("nothing here"), [], "other text should contain no scenario");
    }
}
