//! Finds the lines of a log that describe why a test part failed.

use super::counts::without_ansi_colours;

/// Prefixes of lines that describe a cause, in descending order of relevance. They are compared with the start of each
/// trimmed line. A panic is more specific than the runner's `error: test run failed`.
const FAILURE_CAUSE_LINE_PREFIXES: &[&str] = &[
    "error[",
    PANIC_LINE_PREFIX,
    "error:",
    "Error:",
    "AssertionError",
    "FAIL ",
    "TRY 1 FAIL",
    "TIMEOUT [",
    "✘",
    "Diff in ",
    "npm error",
];

const PANIC_LINE_PREFIX: &str = "thread '";

/// Maximum number of panics that the description of a failure includes.
const MAX_REPORTED_PANICS: usize = 5;

/// Maximum number of lines of each panic message that the description of a failure includes.
const MAX_PANIC_LINES: usize = 8;

/// Returns the first line of the log with the most relevant of [`FAILURE_CAUSE_LINE_PREFIXES`], or else the last line
/// that is not empty. If that prefix is that of a panic, returns the place and message of each panic instead.
pub(super) fn failure_cause_in_log(log: &str) -> Option<String> {
    let plain = without_ansi_colours(log);
    let lines: Vec<&str> =
        plain.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("$ ")).collect();
    let relevant = FAILURE_CAUSE_LINE_PREFIXES
        .iter()
        .find_map(|start| Some((*start, lines.iter().position(|line| line.starts_with(start))?)));
    Some(match relevant {
        Some((PANIC_LINE_PREFIX, _)) => panic_messages(&lines),
        Some((_, at)) => truncated_line(lines[at]),
        None => truncated_line(lines.last()?),
    })
}

/// Returns the place and message of the first [`MAX_REPORTED_PANICS`] panics in these lines.
fn panic_messages(lines: &[&str]) -> String {
    let begins =
        lines.iter().enumerate().filter(|(_, line)| line.starts_with(PANIC_LINE_PREFIX)).take(MAX_REPORTED_PANICS);
    let messages = begins.map(|(at, place)| {
        // Rust prints the message on the lines after the place, and a note after the message.
        let message = lines[at + 1..].iter().take_while(|line| !line.starts_with("note:")).take(MAX_PANIC_LINES);
        let lines: Vec<String> = message.map(|line| truncated_line(line)).collect();
        format!("{place} {}", lines.join("\n    "))
    });
    messages.collect::<Vec<_>>().join("\n  ")
}

fn truncated_line(line: &str) -> String {
    const MAX_LINE_CHARS: usize = 300;
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((at, _)) => format!("{} ...", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_error_is_preferred_to_later_errors() {
        let log = "$ cargo build\nwarning: unused\nerror[E0425]: cannot find value `x`\n  --> a.rs:1:1\nerror: could not compile";
        assert_eq!(
            failure_cause_in_log(log).as_deref(),
            Some("error[E0425]: cannot find value `x`"),
            "the first error should be the cause"
        );
    }

    #[test]
    fn cause_of_a_panic_includes_its_message() {
        let log = "running 1 test\nthread 'a' (12) panicked at src/a.rs:3:5:\nthe answer is 42\nnote: run with";
        let cause = failure_cause_in_log(log).unwrap_or_default();
        assert!(
            cause.ends_with("src/a.rs:3:5: the answer is 42"),
            "the cause should contain place and message: {cause}"
        );
    }

    #[test]
    fn panic_is_preferred_to_the_error_of_the_runner() {
        let log = "thread 'a' panicked at a.rs:1:1:\nrows failed:\nrow 7: late\nnote: run with\n\
                   thread 'b' panicked at b.rs:2:2:\nassertion failed\nnote: run with\nerror: test run failed";
        let cause = failure_cause_in_log(log).unwrap_or_default();
        assert_eq!(
            cause,
            "thread 'a' panicked at a.rs:1:1: rows failed:\n    row 7: late\n  thread 'b' panicked at b.rs:2:2: assertion failed",
            "every panic should be in the cause with all lines of its message"
        );
    }

    #[test]
    fn last_log_line_is_the_cause_in_an_unknown_format() {
        assert_eq!(
            failure_cause_in_log("$ sh\nfirst\nlast\n\n").as_deref(),
            Some("last"),
            "the last line with text should be the cause"
        );
        assert_eq!(failure_cause_in_log("$ sh\n"), None, "the command alone should not be the cause");
    }

    #[test]
    fn long_line_is_truncated_at_a_character_boundary() {
        let cause = failure_cause_in_log(&"é".repeat(1000)).unwrap_or_default();
        assert!(cause.chars().count() < 310, "bounded");
    }
}
