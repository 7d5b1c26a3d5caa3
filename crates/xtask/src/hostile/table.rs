//! Table of attacks: the attempt, the criterion, the result for Drawbridge, and the result for another client. Also
//! determines which results count as failures.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::cases::{AttackTarget, HostileCase};
use crate::problem::Problem;

/// Result of one attack on Drawbridge.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttackResultRow {
    pub(super) case: String,
    pub(super) target: AttackTarget,
    pub(super) tried: String,
    pub(super) withstood: bool,
    /// Slowest response of a server that was not attacked, or longest pause of the page, in milliseconds.
    pub(super) slowest: Option<f64>,
    /// Growth of the attacked process's memory during the attack, in MiB.
    pub(super) memory: Option<f64>,
    /// Time until all processes of the hostile server had exited, in milliseconds.
    pub(super) exit_time: Option<f64>,
}

/// Result of one attack on another client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OtherClientResultRow {
    pub(super) case: String,
    pub(super) outcome: String,
}

/// Reads the results of the attacks on `target` from a file.
///
/// # Errors
/// Returns a [`Problem`] if the file can't be read or a line can't be parsed.
pub(super) fn read_attack_results(path: &Path, target: AttackTarget) -> Result<Vec<AttackResultRow>, Problem> {
    let text = fs::read_to_string(path).map_err(Problem::file_error(path))?;
    let unusable = |line: &str| Problem::Machine(format!("{}: `{line}` is no row", path.display()));
    text.lines().map(|line| parse_attack_result(line, target).ok_or_else(|| unusable(line))).collect()
}

fn parse_attack_result(line: &str, target: AttackTarget) -> Option<AttackResultRow> {
    let value: Value = serde_json::from_str(line).ok()?;
    let measured = |name: &str| value["measured"][name].as_f64();
    Some(AttackResultRow {
        case: value["case"].as_str()?.to_owned(),
        target,
        tried: value["tried"].as_str()?.to_owned(),
        withstood: value["withstood"].as_bool()?,
        slowest: measured("slowest_ms"),
        memory: measured("memory_mib"),
        exit_time: measured("gone_ms"),
    })
}

/// Returns the reasons why cases have not passed: Drawbridge did not withstand an attack, or a target was not attacked.
/// Targets in `omitted` are ignored.
pub(super) fn failed_and_untried_attacks(
    cases: &[&HostileCase],
    rows: &[AttackResultRow],
    omitted: &[AttackTarget],
) -> Vec<String> {
    let mut lacks = Vec::new();
    for case in cases {
        for target in case.targets.iter().filter(|target| !omitted.contains(target)) {
            let name = target.name();
            let mut own = rows.iter().filter(|row| row.case == case.id && row.target == *target).peekable();
            if own.peek().is_none() {
                lacks.push(format!("{} was not tried on the {name}", case.id));
            }
            lacks.extend(own.filter(|row| !row.withstood).map(|row| format!("{}, {}: {name}", case.id, row.tried)));
        }
    }
    lacks
}

/// Returns the results as a Markdown table.
pub(super) fn attack_result_table(
    cases: &[&HostileCase],
    rows: &[AttackResultRow],
    others: &[OtherClientResultRow],
) -> String {
    let mut text =
        String::from("| case | what is tried | must hold | ours | slowest answer | memory | processes gone |");
    text.push_str(if others.is_empty() { "\n" } else { " rmcp 3.9 by default |\n" });
    text.push_str("| --- | --- | --- | --- | --- | --- | --- |");
    text.push_str(if others.is_empty() { "\n" } else { " --- |\n" });
    let mut held = 0;
    for case in cases {
        let own: Vec<&AttackResultRow> = rows.iter().filter(|row| row.case == case.id).collect();
        let lost: Vec<&str> = own.iter().filter(|row| !row.withstood).map(|row| row.tried.as_str()).collect();
        let ours = match (own.len(), lost.len()) {
            (0, _) => "not tried".to_owned(),
            (count, 0) => format!("withstood, {count} of {count}"),
            (count, bad) => format!("**FAILED {bad} of {count}**: {}", lost.join("; ")),
        };
        held += usize::from(!own.is_empty() && lost.is_empty());
        let largest =
            |of: fn(&AttackResultRow) -> Option<f64>| own.iter().filter_map(|row| of(row)).max_by(f64::total_cmp);
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
            figure(largest(|row| row.exit_time), "ms"),
        );
        if !others.is_empty() {
            let theirs: Vec<&str> =
                others.iter().filter(|other| other.case == case.id).map(|other| other.outcome.as_str()).collect();
            let theirs = if theirs.is_empty() { "-".to_owned() } else { theirs.join("; ") };
            let _ = write!(text, " {theirs} |");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "\n{held} of {} cases withstood, by {} attacks.", cases.len(), rows.len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hostile_case(id: &str, targets: &[AttackTarget]) -> HostileCase {
        HostileCase {
            id: id.to_owned(),
            targets: targets.to_vec(),
            tried: "tried".to_owned(),
            criterion: "holds".to_owned(),
        }
    }

    fn attack_row(id: &str, withstood: bool) -> AttackResultRow {
        let measured = r#"{"slowest_ms":3.2,"memory_mib":10.0,"gone_ms":40.0}"#;
        let line = format!(r#"{{"case":"{id}","tried":"a","withstood":{withstood},"measured":{measured}}}"#);
        parse_attack_result(&line, AttackTarget::Host).unwrap()
    }

    #[test]
    fn case_is_withstood_if_each_of_its_attacks_was() {
        let rows =
            [attack_row("X01", true), attack_row("X01", true), attack_row("X02", true), attack_row("X02", false)];
        let cases = ["X01", "X02", "X03"].map(|id| hostile_case(id, &[AttackTarget::Host]));
        let text = attack_result_table(&cases.iter().collect::<Vec<_>>(), &rows, &[]);
        assert!(
            text.contains("| X01 | tried | holds | withstood, 2 of 2 | 3 ms | 10 MiB | 40 ms |"),
            "the row should have all columns: {text}"
        );
        assert!(text.contains("**FAILED 1 of 2**: a"), "one failed attack should fail its case: {text}");
        assert!(
            text.contains("| X03 | tried | holds | not tried |"),
            "a case without an attack should not count as withstood: {text}"
        );
        assert!(text.contains("1 of 3 cases withstood"), "the withstood cases should be counted: {text}");
    }

    #[test]
    fn untried_and_failed_cases_are_listed() {
        let [both, page, lost] = [
            ("X01", &[AttackTarget::Host, AttackTarget::Page][..]),
            ("X02", &[AttackTarget::Page]),
            ("X03", &[AttackTarget::Host]),
        ]
        .map(|(id, on)| hostile_case(id, on));
        let rows = [attack_row("X01", true), attack_row("X03", true), attack_row("X03", false)];
        let cases = [&both, &page, &lost];
        let all = failed_and_untried_attacks(&cases, &rows, &[]);
        let missing = ["X01 was not tried on the page", "X02 was not tried on the page", "X03, a: host"];
        assert_eq!(all, missing, "each missing or failed target should be reported");
        assert_eq!(
            failed_and_untried_attacks(&cases, &rows, &[AttackTarget::Page]),
            missing[2..],
            "targets omitted on purpose should be ignored"
        );
        assert!(
            failed_and_untried_attacks(&[&both], &[], &[AttackTarget::Page])[0].contains("host"),
            "a case without any row should be reported"
        );
    }

    #[test]
    fn other_clients_have_their_own_column() {
        let other = OtherClientResultRow { case: "X01".to_owned(), outcome: "hangs".to_owned() };
        let text = attack_result_table(&[&hostile_case("X01", &[AttackTarget::Host])], &[], &[other]);
        assert!(text.contains("| hangs |"), "another client's result should have its own column: {text}");
    }
}
