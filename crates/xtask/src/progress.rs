//! Lines that report the current step to the user. They go to standard error, results to standard output.

use std::io::{IsTerminal, stderr};

/// Prints the heading of a step that begins now.
pub(crate) fn step(text: &str) {
    if stderr().is_terminal() {
        eprintln!("\x1b[1;34m==>\x1b[0m {text}");
    } else {
        eprintln!("==> {text}");
    }
}
