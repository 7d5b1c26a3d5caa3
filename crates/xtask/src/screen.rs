//! Displays: detects the user's display, starts a virtual one (Xvfb), and takes screenshots of it.

use std::env;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::problem::Problem;
use crate::process::{self, Program, RunningProgram};
use crate::workspace;

/// Minimum number of colours in the screenshot of a window with content. A blank window on a blank screen has fewer.
const MIN_COLOURS_OF_WINDOW_WITH_CONTENT: u32 = 16;

/// Returns `true` if a window can be opened on the user's display.
pub(crate) fn has_display() -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// Virtual display (Xvfb). Dropping this value stops it.
pub(crate) struct VirtualScreen {
    server: RunningProgram,
    display: String,
}

impl VirtualScreen {
    /// Starts Xvfb with a free display number.
    pub(crate) fn start() -> Result<Self, Problem> {
        let log = workspace::create_folder_in_target("screenshots")?.join("xvfb.log");
        let errors = File::create(&log).map_err(Problem::file_error(&log))?;
        let server = Program::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x860x24", "-nolisten", "tcp"])
            .stderr_to(&errors)
            .map_err(Problem::file_error(&log))?
            .with_piped_stdout();
        let mut server = server.start()?;
        let mut line = String::new();
        if let Some(output) = server.take_stdout() {
            BufReader::new(output).read_line(&mut line).map_err(Problem::file_error("Xvfb's display number"))?;
        }
        let display = parse_display_number(&line)
            .ok_or_else(|| Problem::Machine(format!("Xvfb did not start; see {}", log.display())))?;
        Ok(Self { server, display })
    }

    /// Returns a command that runs `program` on this display, with a D-Bus session bus of its own.
    pub(crate) fn program(&self, program: &Path) -> Program {
        Program::new("dbus-run-session")
            .arg("--")
            .arg(program)
            .env("DISPLAY", &self.display)
            .env("GDK_BACKEND", "x11")
            // Prevents GTK from waiting for accessibility services on the new session bus.
            .env("NO_AT_BRIDGE", "1")
            .without_env("WAYLAND_DISPLAY")
    }

    /// Waits until the window shows content, then writes a screenshot of the whole display to `file`.
    ///
    /// `app` is the process of the window. Returns an error if it exits first, or if `limit` is exceeded.
    pub(crate) fn take_screenshot_with_content(
        &mut self,
        app: &mut RunningProgram,
        file: &Path,
        limit: Duration,
    ) -> Result<(), Problem> {
        let start = Instant::now();
        while start.elapsed() < limit {
            if let Some(status) = app.exit_status()? {
                return Err(Problem::Machine(format!("the app ended before its window had content ({status})")));
            }
            if let Some(status) = self.server.exit_status()? {
                return Err(Problem::Machine(format!("Xvfb ended ({status})")));
            }
            self.take_screenshot(file)?;
            if count_image_colours(file)? >= MIN_COLOURS_OF_WINDOW_WITH_CONTENT {
                // Fonts and images may appear a moment after the first content.
                process::interruptible_sleep(Duration::from_secs(1))?;
                return self.take_screenshot(file);
            }
            process::interruptible_sleep(Duration::from_millis(500))?;
        }
        Err(Problem::Machine(format!(
            "the window was still empty after {} seconds; its picture: {}",
            limit.as_secs(),
            file.display()
        )))
    }

    fn take_screenshot(&self, file: &Path) -> Result<(), Problem> {
        Program::new("import").args(["-display", &self.display, "-window", "root"]).arg(file).run()
    }
}

fn parse_display_number(line: &str) -> Option<String> {
    let number: u32 = line.trim().parse().ok()?;
    Some(format!(":{number}"))
}

fn count_image_colours(file: &Path) -> Result<u32, Problem> {
    let answer = Program::new("identify").args(["-format", "%k"]).arg(file).output()?;
    answer.trim().parse().map_err(|_| Problem::Machine(format!("identify answered {answer:?} for {}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_is_parsed_as_a_display_number() {
        assert_eq!(parse_display_number("99\n").as_deref(), Some(":99"), "the display number should be parsed");
        assert_eq!(parse_display_number(""), None, "a server that ended should have no display");
        assert_eq!(parse_display_number("(EE) Fatal"), None, "an error should not be a display");
    }
}
