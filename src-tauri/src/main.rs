//! Executable of the desktop app.

// Suppresses the console window on Windows.
#![cfg_attr(all(windows, not(debug_assertions)), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    drawbridge::run()
}
