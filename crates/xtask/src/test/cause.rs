//! Finds the line of a log that describes why a test part failed.

use super::counts::without_colours;

/// Prefixes of lines that describe a cause, in descending order of relevance. They are compared with the start of each
/// trimmed line.
const CAUSE_PREFIXES: &[&str] = &[
    "error[",
    "error:",
    "Error:",
    "AssertionError",
    "thread '",
    "FAIL ",
    "TRY 1 FAIL",
    "TIMEOUT [",
    "✘",
    "Diff in ",
    "npm error",
];

/// Returns the most relevant line of a log, or else the last line that is not empty.
pub(super) fn cause_in_log(log: &str) -> Option<String> {
    let plain = without_colours(log);
    let lines: Vec<&str> =
        plain.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("$ ")).collect();
    let telling = CAUSE_PREFIXES.iter().find_map(|start| lines.iter().position(|line| line.starts_with(start)));
    let line = match telling {
        // Rust prints the panic message on the line after the location.
        Some(at) if lines[at].starts_with("thread '") && lines[at].ends_with(':') => {
            format!("{} {}", lines[at], lines.get(at + 1).unwrap_or(&""))
        }
        Some(at) => lines[at].to_owned(),
        None => (*lines.last()?).to_owned(),
    };
    Some(truncated_line(&line))
}

fn truncated_line(line: &str) -> String {
    const LIMIT: usize = 300;
    match line.char_indices().nth(LIMIT) {
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
            cause_in_log(log).as_deref(),
            Some("error[E0425]: cannot find value `x`"),
            "the first error should be the cause"
        );
    }

    #[test]
    fn panic_includes_its_message() {
        let log = "running 1 test\nthread 'a' (12) panicked at src/a.rs:3:5:\nthe answer is 42\nnote: run with";
        let cause = cause_in_log(log).unwrap_or_default();
        assert!(
            cause.ends_with("src/a.rs:3:5: the answer is 42"),
            "the cause should contain place and message: {cause}"
        );
    }

    #[test]
    fn last_line_is_used_without_a_known_format() {
        assert_eq!(
            cause_in_log("$ sh\nfirst\nlast\n\n").as_deref(),
            Some("last"),
            "the last line with text should be the cause"
        );
        assert_eq!(cause_in_log("$ sh\n"), None, "the command alone should not be the cause");
    }

    #[test]
    fn long_line_is_truncated_at_a_character_boundary() {
        let cause = cause_in_log(&"é".repeat(1000)).unwrap_or_default();
        assert!(cause.chars().count() < 310, "bounded");
    }
}
