//! The table: each case with what was tried, what must hold, how it ended here, and on another client.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::cases::Case;
use crate::problem::Problem;

/// How one attack ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) case: String,
    pub(super) tried: String,
    pub(super) withstood: bool,
    /// The good server's slowest answer or the page's longest pause, in milliseconds.
    pub(super) slowest: Option<f64>,
    /// In MiB.
    pub(super) memory: Option<f64>,
    /// In milliseconds.
    pub(super) gone: Option<f64>,
}

/// How an attack ended on another client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Other {
    pub(super) case: String,
    pub(super) outcome: String,
}

pub(super) fn read(path: &Path) -> Result<Vec<Row>, Problem> {
    let text = fs::read_to_string(path).map_err(Problem::file(path))?;
    Ok(text.lines().filter_map(row).collect())
}

fn row(line: &str) -> Option<Row> {
    let value: Value = serde_json::from_str(line).ok()?;
    let measured = |name: &str| value["measured"][name].as_f64();
    Some(Row {
        case: value["case"].as_str()?.to_owned(),
        tried: value["tried"].as_str()?.to_owned(),
        withstood: value["withstood"].as_bool()?,
        slowest: measured("slowest_ms"),
        memory: measured("memory_mib"),
        gone: measured("gone_ms"),
    })
}

/// Markdown, so that it can be read on a terminal and kept.
pub(super) fn text(cases: &[Case], rows: &[Row], others: &[Other], asked: &[String]) -> String {
    let mut text =
        String::from("| case | what is tried | must hold | ours | slowest answer | memory | processes gone |");
    text.push_str(if others.is_empty() { "\n" } else { " rmcp 3.9 by default |\n" });
    text.push_str("| --- | --- | --- | --- | --- | --- | --- |");
    text.push_str(if others.is_empty() { "\n" } else { " --- |\n" });
    let mut held = 0;
    let wanted: Vec<&Case> = cases.iter().filter(|case| asked.is_empty() || asked.contains(&case.id)).collect();
    for case in &wanted {
        let own: Vec<&Row> = rows.iter().filter(|row| row.case == case.id).collect();
        let lost: Vec<&str> = own.iter().filter(|row| !row.withstood).map(|row| row.tried.as_str()).collect();
        let ours = match (own.len(), lost.len()) {
            (0, _) => "not tried".to_owned(),
            (count, 0) => format!("withstood, {count} of {count}"),
            (count, bad) => format!("**FAILED {bad} of {count}**: {}", lost.join("; ")),
        };
        held += usize::from(!own.is_empty() && lost.is_empty());
        let largest = |of: fn(&Row) -> Option<f64>| own.iter().filter_map(|row| of(row)).max_by(f64::total_cmp);
        let figure =
            |value: Option<f64>, unit: &str| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.0} {unit}"));
        // Writing to a String can't fail.
        let _ = write!(
            text,
            "| {} | {} | {} | {ours} | {} | {} | {} |",
            case.id,
            case.tried,
            case.criterion,
            figure(largest(|row| row.slowest), "ms"),
            figure(largest(|row| row.memory), "MiB"),
            figure(largest(|row| row.gone), "ms"),
        );
        if !others.is_empty() {
            let theirs: Vec<&str> =
                others.iter().filter(|other| other.case == case.id).map(|other| other.outcome.as_str()).collect();
            let theirs = if theirs.is_empty() { "-".to_owned() } else { theirs.join("; ") };
            let _ = write!(text, " {theirs} |");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "\n{held} of {} cases withstood, by {} attacks.", wanted.len(), rows.len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(id: &str) -> Case {
        Case { id: id.to_owned(), tried: "tried".to_owned(), criterion: "holds".to_owned() }
    }

    #[test]
    fn a_case_is_withstood_if_each_of_its_attacks_was() {
        let line = |id: &str, withstood: bool| {
            let measured = r#"{"slowest_ms":3.2,"memory_mib":10.0,"gone_ms":40.0}"#;
            row(&format!(r#"{{"case":"{id}","tried":"a","withstood":{withstood},"measured":{measured}}}"#)).unwrap()
        };
        let rows = [line("X01", true), line("X01", true), line("X02", true), line("X02", false)];
        let text = text(&[case("X01"), case("X02"), case("X03")], &rows, &[], &[]);
        assert!(text.contains("| X01 | tried | holds | withstood, 2 of 2 | 3 ms | 10 MiB | 40 ms |"), "whole: {text}");
        assert!(text.contains("**FAILED 1 of 2**: a"), "one failure is the case's: {text}");
        assert!(text.contains("| X03 | tried | holds | not tried |"), "what was not tried is not withstood: {text}");
        assert!(text.contains("1 of 3 cases withstood"), "and they are counted: {text}");
    }

    #[test]
    fn another_client_stands_beside_ours() {
        let other = Other { case: "X01".to_owned(), outcome: "hangs".to_owned() };
        let text = text(&[case("X01")], &[], &[other], &[]);
        assert!(text.contains("| hangs |"), "in a column of its own: {text}");
    }
}
