//! Lines of `RESULTS.md`, one for each scenario. They are compared with the file, or collected by `cargo xtask
//! hostile`.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

use host::view::ConsentRequestView;

use super::stage::request_summary;
use crate::report::{AttackMeasurements, AttackResultRow};

/// Environment variable with the path of the file to which the lines of the table are appended, if the table is to be
/// updated.
const RESULT_LINES_VARIABLE: &str = "HOSTILE_RESULTS";

/// Outcome of a scenario, as written in its line of `RESULTS.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScenarioOutcome {
    /// The harm needed the approval of a consent request that showed it. The user denied the request, so the harm did
    /// not happen.
    Approval,
    /// Each call was approved separately, for exactly the bytes that were sent.
    OwnApproval,
    /// Models can't use the misleading item. Only the user can select it, and sees the name of its server.
    UsersChoice,
    /// The attack failed, because the tool that it needs is not offered to the model.
    NotOffered,
    /// The harm happened without a consent request, for the reason in the text.
    Happened(&'static str),
}

/// Attack with its outcome, which is one line of `RESULTS.md`.
pub(crate) struct AttackScenario {
    /// Identifier of the scenario, such as B01.
    pub(crate) id: &'static str,
    /// Names of the attack classes of published benchmarks that the scenario covers.
    pub(crate) classes: &'static str,
    /// Description of the attack.
    pub(crate) tried: &'static str,
}

impl AttackScenario {
    /// Asserts that `RESULTS.md` contains the line of this outcome, or appends the line to a file if the table is to be
    /// updated. `before` is what the user saw in addition to the consent requests `shown`.
    pub(crate) fn assert_outcome(&self, before: &str, shown: &[ConsentRequestView], outcome: ScenarioOutcome) {
        let requests: Vec<String> = shown.iter().map(request_summary).collect();
        let mut saw = before.to_owned();
        if !requests.is_empty() {
            let separator = if saw.is_empty() { "" } else { ". " };
            saw.push_str(&format!("{separator}Requests: {}", requests.join(" · ")));
        }
        let needed = match outcome {
            ScenarioOutcome::Approval => "yes; refused, nothing was sent".to_owned(),
            ScenarioOutcome::OwnApproval => {
                "yes; each call had a separate approval, for the bytes that were sent".to_owned()
            }
            ScenarioOutcome::UsersChoice => "yes; no model uses it, only the user, under its server's name".to_owned(),
            ScenarioOutcome::NotOffered => "not reached: the model is not offered the tool".to_owned(),
            ScenarioOutcome::Happened(why) => format!("**no**: {why}"),
        };
        let saw = saw.replace('|', "\\|");
        let line = format!("| {} | {} | {} | {saw} | {needed} |", self.id, self.classes, self.tried);
        if let Some(file) = std::env::var_os(RESULT_LINES_VARIABLE) {
            let file = OpenOptions::new().create(true).append(true).open(file);
            // A single write, so that lines of concurrent tests do not mix.
            let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
            written.expect("the results can be written");
        } else {
            let results = include_str!("../RESULTS.md");
            assert!(results.lines().any(|known| known == line), "`cargo xtask hostile` writes RESULTS.md anew: {line}");
        }
        let mut row = AttackResultRow::default();
        row.set_name(&format!("{}, {}", self.id, self.tried));
        row.record_withstood(AttackMeasurements { slowest: Duration::ZERO, memory: 0, exit_time: Duration::ZERO });
    }
}
