//! Progress messages of the tasks, printed to standard error. Results are printed to standard output.

use std::io::{IsTerminal, stderr};

/// Prints a description of the next step of a task to standard error.
pub(crate) fn print_step(text: &str) {
    if stderr().is_terminal() {
        eprintln!("\x1b[1;34m==>\x1b[0m {text}");
    } else {
        eprintln!("==> {text}");
    }
}
