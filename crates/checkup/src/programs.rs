//! Checks that the programs of local servers that need none of the known runtimes exist.

use crate::finding::CheckOutcome;
use crate::required_programs::RequiredProgram;
use crate::text::FindingText;

/// Maximum number of servers with missing programs that the text of one finding names.
const MAX_SERVERS_NAMED_IN_FINDING: usize = 5;

pub(crate) fn check_required_programs(needs: Option<&[RequiredProgram]>) -> CheckOutcome {
    let Some(needs) = needs else {
        return CheckOutcome::unknown(
            FindingText::new("The programs of servers could not be looked for."),
            FindingText::new("Correct the settings file if it is invalid, and check again."),
        );
    };
    let others: Vec<&RequiredProgram> = needs.iter().filter(|need| need.runtime_program.is_none()).collect();
    let missing: Vec<&&RequiredProgram> = others.iter().filter(|need| need.found.is_err()).collect();
    if others.is_empty() {
        return CheckOutcome::ok(FindingText::new("No local server uses a custom program."));
    }
    if missing.is_empty() {
        return CheckOutcome::ok(
            FindingText::new("Found: the programs of ").count(others.len(), "server", "servers").and("."),
        );
    }
    let mut observation = FindingText::new("Not found, or not executable: the programs of ")
        .count(missing.len(), "server", "servers")
        .and(". ");
    for need in missing.iter().take(MAX_SERVERS_NAMED_IN_FINDING) {
        if let Err(error) = &need.found {
            observation = observation.foreign(format!("{}: {error} ", need.server));
        }
    }
    let remedy = FindingText::new(
        "Install the program, or correct the command in the server's settings. A version manager may have moved it: a bare name is looked up anew at each start.",
    );
    CheckOutcome::problem(observation, remedy)
        .affecting_servers(missing.iter().map(|need| need.server.clone()).collect())
}
