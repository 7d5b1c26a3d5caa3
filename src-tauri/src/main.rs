//! The desktop app.

// A console window beside ours would be of no use on Windows.
#![cfg_attr(all(windows, not(debug_assertions)), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    drawbridge::run()
}
