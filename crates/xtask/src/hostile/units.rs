//! Runs attacks that are unit tests of a single crate, and reports each as a row of the table.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::problem::Problem;
use crate::process::cargo;
use crate::progress::print_step;
use crate::workspace;

/// Runs the unit tests whose names start with the identifier of a case in `only`, or of any case if it is empty, and
/// writes a row for each test to `rows`.
///
/// # Errors
/// Returns [`Problem::ChecksFailed`] if a test fails or the tests can't be built.
pub(super) fn run_cases_in_unit_tests(only: &[&str], rows: &Path) -> Result<(), Problem> {
    print_step("attacks on single crates");
    let log = rows.with_extension("log");
    let file = fs::File::create(&log).map_err(Problem::file_error(&log))?;
    let filter = format!("test(/{}/)", test_name_pattern(only));
    let outside = ["--workspace", "--exclude", "drawbridge", "--exclude", "bench-peer-rmcp", "--exclude", "hostile"];
    let tests = cargo()
        .dir(workspace::root_folder())
        .args(["nextest", "run", "--profile", "ci", "--status-level", "pass", "--color", "never"])
        .args(outside)
        .args(["-E", &filter]);
    let ended = tests.stderr_to(&file).map_err(Problem::file_error(&log))?.run();
    let text = fs::read_to_string(&log).map_err(Problem::file_error(&log))?;
    if ended.is_err() {
        eprint!("{text}");
    }
    let lines: Vec<String> = text.lines().filter_map(result_row_of_nextest_line).collect();
    fs::write(rows, lines.concat()).map_err(Problem::file_error(rows))?;
    ended
}

/// Returns a regular expression that matches the names of the unit tests for the cases in `only`, or for all cases if
/// `only` is empty.
fn test_name_pattern(only: &[&str]) -> String {
    let ids = if only.is_empty() { "[sex][0-9][0-9]".to_owned() } else { only.join("|").to_lowercase() };
    format!("(^|::)({ids})_")
}

/// Returns the table row for a line of nextest such as `PASS [   0.524s] (1/6) host
/// conversation::tests::s13_nothing_live_is_left`.
fn result_row_of_nextest_line(line: &str) -> Option<String> {
    let (status, rest) = line.trim_start().split_once(' ')?;
    let withstood = match status {
        "PASS" => true,
        "FAIL" | "TIMEOUT" | "SIGABRT" | "SIGSEGV" => false,
        _ => return None,
    };
    let name = rest.split_whitespace().last()?.rsplit("::").next()?;
    let (id, tried) = name.split_once('_')?;
    let row = json!({ "case": id.to_uppercase(), "tried": tried.replace('_', " "), "withstood": withstood });
    Some(format!("{row}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest_line_becomes_a_result_row() {
        let line = "        PASS [   0.524s] (1/6) host conversation::export::tests::s13_nothing_loads";
        assert_eq!(
            result_row_of_nextest_line(line).as_deref(),
            Some("{\"case\":\"S13\",\"tried\":\"nothing loads\",\"withstood\":true}\n"),
            "the case should be the prefix of the test's name"
        );
        let failed = result_row_of_nextest_line("  FAIL [   0.1s] (2/6) store tests::s04_a").unwrap();
        assert!(failed.contains("false"), "a failed test should be reported: {failed}");
        assert_eq!(
            result_row_of_nextest_line("     Summary [   0.524s] 6 tests run: 5 passed"),
            None,
            "other lines should be ignored"
        );
    }

    #[test]
    fn only_the_named_cases_are_run() {
        assert_eq!(test_name_pattern(&["S13", "S04"]), "(^|::)(s13|s04)_");
        assert_eq!(test_name_pattern(&[]), "(^|::)([sex][0-9][0-9])_");
    }
}
