//! Tables in `tests/conformance`: the requirements of the MCP specification on a host, and the reasons for requirements
//! without a test.

use std::fs;
use std::path::Path;

use crate::problem::Problem;

/// Row of `requirements.tsv`: a requirement that the MCP specification places on hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Requirement {
    /// Identifier of the requirement, which tests name in square brackets.
    pub(crate) id: String,
    /// Area of the specification that contains the requirement.
    pub(crate) area: String,
    /// Level of the requirement: MUST, SHOULD or MAY.
    pub(crate) level: String,
    /// Protocol revisions that contain the requirement.
    pub(crate) revisions: String,
    /// Requirement in words, as an instruction to the host.
    pub(crate) text: String,
}

/// Row of `not-applicable.tsv`: a requirement without a test, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExemptionReason {
    /// Identifier of the requirement that has no test.
    pub(crate) id: String,
    /// Reason why the requirement does not apply to this host, or why the host deviates from it.
    pub(crate) text: String,
}

/// Contents of `requirements.tsv` and `not-applicable.tsv`.
#[derive(Debug, Default)]
pub(crate) struct RequirementTables {
    /// Requirements in the order of `requirements.tsv`, which follows the specification.
    pub(crate) requirements: Vec<Requirement>,
    /// Reasons in the order of `not-applicable.tsv`.
    pub(crate) reasons: Vec<ExemptionReason>,
}

impl RequirementTables {
    pub(crate) fn read(folder: &Path) -> Result<Self, Problem> {
        let text = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(Problem::file_error(&path))
        };
        Ok(Self {
            requirements: parse_requirements(&text("requirements.tsv")?)?,
            reasons: parse_exemption_reasons(&text("not-applicable.tsv")?)?,
        })
    }

    pub(crate) fn has_requirement(&self, id: &str) -> bool {
        self.requirements.iter().any(|requirement| requirement.id == id)
    }

    pub(crate) fn reason_without_test(&self, id: &str) -> Option<&str> {
        self.reasons.iter().find(|reason| reason.id == id).map(|reason| reason.text.as_str())
    }
}

/// Returns the rows below the heading of a table, each as its cells. Returns an error that names the table if a row has
/// fewer than `columns` cells.
pub(super) fn parse_table_rows<'a>(name: &str, text: &'a str, columns: usize) -> Result<Vec<Vec<&'a str>>, Problem> {
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let row: Vec<&str> = line.split('\t').collect();
        if row.len() < columns || row.iter().take(columns).any(|cell| cell.trim().is_empty()) {
            let cause = format!("{name}:{}: a row needs {columns} cells, separated by tabs", number + 1);
            return Err(Problem::Machine(cause));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn parse_requirements(text: &str) -> Result<Vec<Requirement>, Problem> {
    let read = |row: Vec<&str>| Requirement {
        id: row[0].to_owned(),
        area: row[1].to_owned(),
        level: row[2].to_owned(),
        revisions: row[3].to_owned(),
        text: row[4].to_owned(),
    };
    Ok(parse_table_rows("requirements.tsv", text, 5)?.into_iter().map(read).collect())
}

fn parse_exemption_reasons(text: &str) -> Result<Vec<ExemptionReason>, Problem> {
    let read = |row: Vec<&str>| ExemptionReason { id: row[0].to_owned(), text: row[1].to_owned() };
    Ok(parse_table_rows("not-applicable.tsv", text, 2)?.into_iter().map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_heading_is_skipped_and_columns_are_named() {
        let text =
            "id\tarea\tlevel\trevisions\trequirement\tsource\nping-respond\tping\tMUST\t2024-11-05\tAnswer.\ta page\n";
        let read = parse_requirements(text).unwrap();
        assert_eq!(read.len(), 1, "one row should be parsed");
        assert_eq!(
            (read[0].id.as_str(), read[0].level.as_str()),
            ("ping-respond", "MUST"),
            "columns should be identified by position"
        );
        assert_eq!(read[0].text, "Answer.", "the column with the source should not be part of the text");
    }

    #[test]
    fn table_row_with_a_missing_cell_is_reported() {
        let problem = parse_exemption_reasons("id\treason\nping-respond\t \n").unwrap_err();
        assert!(
            problem.to_string().contains("not-applicable.tsv:2"),
            "the error should contain file and line: {problem}"
        );
    }
}
