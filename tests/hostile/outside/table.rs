//! Lines of `RESULTS.md`, one for each scenario: compared with the file, or written to the place where `cargo xtask
//! hostile` collects them.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

use host::view::ConsentRequestView;

use super::stage::shown;
use crate::report::{Figures, Row};

/// Environment variable with the path that receives the lines when the table is updated.
const LINES: &str = "HOSTILE_RESULTS";

/// End of a scenario, as written in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The harm needed an approval that showed it; refused, it did not happen.
    Approval,
    /// Each action had a separate approval for exactly the sent bytes.
    OwnApproval,
    /// Only the user uses it, under its server's name.
    UsersChoice,
    /// The attack failed early, since the required tool is not offered to the model.
    NotOffered,
    /// The harm happened without a consent request, for this reason.
    Happened(&'static str),
}

/// A scenario of the table.
pub(crate) struct Scenario {
    /// Identifier of the scenario's case.
    pub(crate) id: &'static str,
    /// Classes of the benchmarks that the scenario covers.
    pub(crate) classes: &'static str,
    /// Description of the attempted attack.
    pub(crate) tried: &'static str,
}

impl Scenario {
    /// Compares the outcome with the expected one, and reports the line. `before` is the information that the user saw
    /// apart from consent requests.
    pub(crate) fn ended(&self, before: &str, seen: &[ConsentRequestView], outcome: Outcome) {
        let requests: Vec<String> = seen.iter().map(shown).collect();
        let mut saw = before.to_owned();
        if !requests.is_empty() {
            let separator = if saw.is_empty() { "" } else { ". " };
            saw.push_str(&format!("{separator}Requests: {}", requests.join(" · ")));
        }
        let needed = match outcome {
            Outcome::Approval => "yes; refused, nothing was sent".to_owned(),
            Outcome::OwnApproval => {
                "yes; each call had an approval of its own, for the bytes that were sent".to_owned()
            }
            Outcome::UsersChoice => "yes; no model uses it, only the user, under its server's name".to_owned(),
            Outcome::NotOffered => "not reached: the model is not offered the tool".to_owned(),
            Outcome::Happened(why) => format!("**no**: {why}"),
        };
        let saw = saw.replace('|', "\\|");
        let line = format!("| {} | {} | {} | {saw} | {needed} |", self.id, self.classes, self.tried);
        if let Some(file) = std::env::var_os(LINES) {
            let file = OpenOptions::new().create(true).append(true).open(file);
            // A single write, so that lines of concurrent tests do not mix.
            let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
            written.expect("the results can be written");
        } else {
            let results = include_str!("../RESULTS.md");
            assert!(results.lines().any(|known| known == line), "`cargo xtask hostile` writes RESULTS.md anew: {line}");
        }
        let mut row = Row::default();
        row.set_name(&format!("{}, {}", self.id, self.tried));
        row.withstood(Figures { slowest: Duration::ZERO, memory: 0, gone: Duration::ZERO });
    }
}
