//! Checks that the programs of local servers that use no known runtime exist.

use crate::finding::Outcome;
use crate::needs::Need;
use crate::text::Text;

/// Maximum number of servers whose cause is listed.
const MOST_TOLD: usize = 5;

pub(crate) fn check(needs: Option<&[Need]>) -> Outcome {
    let Some(needs) = needs else {
        return Outcome::unknown(
            Text::of("The programs of servers could not be looked for."),
            Text::of("Correct the settings file, if that is what is wrong, and check again."),
        );
    };
    let others: Vec<&Need> = needs.iter().filter(|need| need.known.is_none()).collect();
    let missing: Vec<&&Need> = others.iter().filter(|need| need.found.is_err()).collect();
    if others.is_empty() {
        return Outcome::ok(Text::of("No local server has a program of its own."));
    }
    if missing.is_empty() {
        return Outcome::ok(Text::of("Found: the programs of ").count(others.len(), "server", "servers").and("."));
    }
    let mut seen =
        Text::of("Not found, or not executable: the programs of ").count(missing.len(), "server", "servers").and(". ");
    for need in missing.iter().take(MOST_TOLD) {
        if let Err(error) = &need.found {
            seen = seen.foreign(format!("{}: {error} ", need.server));
        }
    }
    let next = Text::of(
        "Install the program, or correct the command in the server's settings. A version manager may have moved it: a bare name is looked up anew at each start.",
    );
    Outcome::problem(seen, next).of(missing.iter().map(|need| need.server.clone()).collect())
}
