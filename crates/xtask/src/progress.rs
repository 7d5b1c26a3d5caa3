//! Progress messages of the tasks, printed to standard error. Results are printed to standard output.

use std::io::{IsTerminal, stderr};

/// Prints a message about the step that begins.
pub(crate) fn print_step(text: &str) {
    if stderr().is_terminal() {
        eprintln!("\x1b[1;34m==>\x1b[0m {text}");
    } else {
        eprintln!("==> {text}");
    }
}
