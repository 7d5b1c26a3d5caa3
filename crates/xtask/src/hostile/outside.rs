//! `tests/hostile/RESULTS.md`: results for the attack classes of published benchmarks. Each test in
//! `tests/hostile/outside` reports one line. A run of all tests writes the file, and a run of some tests compares their
//! lines with it.

use std::fs;
use std::path::Path;

use super::cases::HostileCase;
use crate::problem::Problem;
use crate::workspace;

/// Environment variable with the path of the file to which the tests append their lines of `RESULTS.md`.
pub(super) const RESULTS_FILE_VARIABLE: &str = "HOSTILE_RESULTS";

const RESULTS_FILE_HEADING: &str = "\
# The view from outside

The attack classes of three published benchmarks against the host, with a model that follows every instruction of the attacker, and a user who
allows every request but the one that shows the harm. `canary-4f1e` represents the harm. The scenarios are in `outside`; this file is
written by `cargo xtask hostile`, and a scenario whose line differs fails.

- MCPSecBench: AIS2Lab/MCPSecBench at 7eb773d, arXiv 2508.13220, 17 classes
- MCP-SafetyBench: xjzzzzzzzz/MCPSafety at 7872437, arXiv 2512.15163, 20 classes
- MCPTox: arXiv 2508.14925, three paradigms, from the paper; its data set was not available

No text of theirs is used: the definitions and results are written anew for each class. Classes that attack the client and not its
model have cases of their own in `cases.tsv`: Vulnerable Client X43; MCP Rebinding X50, as no port is open but that of a sign-in;
Configuration Drift X58 and S01; Sandbox Escape S05, S10 and S23. For Man-in-the-Middle see `http/secure.rs`. The success rates in
the papers depend on the model; these results do not.

| case | classes | tried | what the user saw before | the harm needed an approval that showed it |
| --- | --- | --- | --- | --- |
";

/// Returns `true` if `named` contains the id of every case that has a line in `RESULTS.md`, or is empty, which selects
/// all cases.
pub(super) fn covers_all_cases(known: &[HostileCase], named: &[String]) -> bool {
    named.is_empty() || ids_of_cases_with_result_line(known).all(|id| named.iter().any(|name| name == id))
}

/// Writes `tests/hostile/RESULTS.md` from the lines that the tests reported.
///
/// # Errors
/// Returns a [`Problem`] if a case has no line or several lines, or if a file can't be read or written.
pub(super) fn write_results(lines: &Path, known: &[HostileCase]) -> Result<(), Problem> {
    let results = fs::read_to_string(lines).map_err(Problem::file_error(lines))?;
    let text = results_text(&results, known).map_err(Problem::Machine)?;
    let file = workspace::tests_folder().join("hostile/RESULTS.md");
    fs::write(&file, text).map_err(Problem::file_error(&file))
}

fn results_text(results: &str, known: &[HostileCase]) -> Result<String, String> {
    let mut text = RESULTS_FILE_HEADING.to_owned();
    for id in ids_of_cases_with_result_line(known) {
        let mut own = results.lines().filter(|line| line.starts_with(&format!("| {id} |")));
        let (Some(line), None) = (own.next(), own.next()) else {
            return Err(format!("tests/hostile/RESULTS.md stays as it is: {id} did not come to one end"));
        };
        text.push_str(line);
        text.push('\n');
    }
    Ok(text)
}

fn ids_of_cases_with_result_line(known: &[HostileCase]) -> impl Iterator<Item = &str> {
    known.iter().map(|case| case.id.as_str()).filter(|id| id.starts_with('B'))
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::*;

    #[test]
    fn results_file_requires_one_line_for_each_case() {
        let known = cases::read_hostile_cases().unwrap();
        let lines: Vec<String> =
            ids_of_cases_with_result_line(&known).map(|id| format!("| {id} | c | t | s | yes |\n")).collect();
        assert!(lines.len() >= 15, "the table should have a row for each scenario: {lines:?}");
        let mut backwards = lines.clone();
        backwards.reverse();
        assert_eq!(
            results_text(&backwards.concat(), &known).unwrap(),
            format!("{RESULTS_FILE_HEADING}{}", lines.concat()),
            "the rows should be in the order of the cases"
        );
        assert!(results_text(&lines[1..].concat(), &known).is_err(), "a scenario without a line should be an error");
        assert!(!covers_all_cases(&known, &["B01".to_owned()]), "a run of some scenarios should write nothing");
    }

    #[test]
    fn committed_hostile_results_have_each_case() {
        let known = cases::read_hostile_cases().unwrap();
        let file = fs::read_to_string(workspace::tests_folder().join("hostile/RESULTS.md")).unwrap();
        assert_eq!(results_text(&file, &known).as_deref(), Ok(file.as_str()), "`cargo xtask hostile` writes it");
    }
}
