//! `tests/apps/requirements.tsv`: the tests of hosts that the project of MCP Apps lists, each with its clause and with
//! the test of this repository that verifies the same.
//!
//! A row that also names a requirement of `tests/conformance/requirements.tsv` counts as a mention of it.

use std::fs;

use super::named::RequirementMention;
use super::table::{RequirementTables, parse_table_rows};
use crate::problem::Problem;
use crate::test_names::find_test_line;
use crate::tidy::source_tree::SourceTree;
use crate::workspace;

/// Path of the table of the tests that MCP Apps lists for hosts, relative to the root of the repository.
const APP_REQUIREMENTS_PATH: &str = "tests/apps/requirements.tsv";
/// Number of columns in `tests/apps/requirements.tsv`.
const APP_REQUIREMENT_COLUMNS: usize = 6;
/// Text at the start of the last cell in a row that has no test in this repository. The reason follows.
const REASON_WITHOUT_TEST_PREFIX: &str = "not done: ";
/// Content of the requirement cell in a row that corresponds to no row of `tests/conformance/requirements.tsv`.
const NO_REQUIREMENT_CELL: &str = "-";

/// Row of the table: a test that the project of MCP Apps lists for hosts, and how this repository covers it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AppRequirement {
    /// Name of the test in the list of the project of MCP Apps.
    id: String,
    /// Id of the corresponding requirement in `tests/conformance/requirements.tsv`, or `None` if there is none.
    requirement: Option<String>,
    coverage: AppRequirementCoverage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum AppRequirementCoverage {
    /// Covered by the test with this name or title in the file at this path.
    Test { path: String, name: String },
    /// Not covered by a test, for a reason that the row states.
    NotDone,
}

/// Contents of `tests/apps/requirements.tsv`.
#[derive(Debug, Default)]
pub(super) struct AppRequirementCatalogue {
    rows: Vec<AppRequirement>,
}

impl AppRequirementCatalogue {
    pub(super) fn read() -> Result<Self, Problem> {
        let path = workspace::root_folder().join(APP_REQUIREMENTS_PATH);
        Self::parse(&fs::read_to_string(&path).map_err(Problem::file_error(&path))?)
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        let mut rows = Vec::new();
        for row in parse_table_rows(APP_REQUIREMENTS_PATH, text, APP_REQUIREMENT_COLUMNS)? {
            let (id, requirement, covered) = (row[0], row[4], row[5]);
            let coverage = match covered.split_once(" :: ") {
                _ if covered.starts_with(REASON_WITHOUT_TEST_PREFIX) => AppRequirementCoverage::NotDone,
                Some((path, name)) => AppRequirementCoverage::Test { path: path.to_owned(), name: name.to_owned() },
                None => {
                    let cause = format!(
                        "{APP_REQUIREMENTS_PATH}: {id} needs `path :: test` or `{REASON_WITHOUT_TEST_PREFIX}reason`"
                    );
                    return Err(Problem::Machine(cause));
                }
            };
            let requirement = (requirement != NO_REQUIREMENT_CELL).then(|| requirement.to_owned());
            rows.push(AppRequirement { id: id.to_owned(), requirement, coverage });
        }
        Ok(Self { rows })
    }

    /// Returns a [`RequirementMention`] for each row that has both a test and a requirement. Its place is the line of
    /// the test.
    pub(super) fn mentions(&self, tree: &SourceTree) -> Vec<RequirementMention> {
        let mention = |row: &AppRequirement| {
            let AppRequirementCoverage::Test { path, name } = &row.coverage else { return None };
            let (id, line) = (row.requirement.clone()?, find_test_line(tree, path, name)?);
            Some(RequirementMention { id, path: path.clone(), line, test: name.clone() })
        };
        self.rows.iter().filter_map(mention).collect()
    }

    /// Returns the errors in the table, as path, line number and text: repeated rows, and rows that name a test or a
    /// requirement that does not exist.
    pub(super) fn findings(&self, tree: &SourceTree, tables: &RequirementTables) -> Vec<(String, usize, String)> {
        let mut findings = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut say = |text: String| findings.push((APP_REQUIREMENTS_PATH.to_owned(), index + 2, text));
            if self.rows[..index].iter().any(|earlier| earlier.id == row.id) {
                say(format!("`{}` is listed twice", row.id));
            }
            if let Some(requirement) = row.requirement.as_ref().filter(|id| !tables.has_requirement(id)) {
                say(format!("`{requirement}` is no requirement"));
            }
            if let AppRequirementCoverage::Test { path, name } = &row.coverage
                && find_test_line(tree, path, name).is_none()
            {
                say(format!("there is no test `{name}` in {path}"));
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "id\tlevel\tsource\tclause\trequirement\ttest\n";
    const RUST_TEST_SOURCE: &str = "#[test]\nfn input() {}\n\nfn helper() {}\n";
    const SCRIPT_TEST_SOURCE: &str = "  test(\"the app is shown\", async () => {});\n";

    fn tree() -> SourceTree {
        SourceTree::from_files(&[
            ("crates/a/tests/all.rs", RUST_TEST_SOURCE),
            ("tests/page/a.spec.ts", SCRIPT_TEST_SOURCE),
        ])
    }

    fn catalogue_with_rows(rows: &[(&str, &str, &str)]) -> AppRequirementCatalogue {
        let row =
            |(id, requirement, test): &(&str, &str, &str)| format!("{id}\tMUST\tL1\tDo it.\t{requirement}\t{test}\n");
        AppRequirementCatalogue::parse(&(HEADING.to_owned() + &rows.iter().map(row).collect::<Vec<_>>().concat()))
            .unwrap()
    }

    fn finding_texts(rows: &[(&str, &str, &str)]) -> Vec<String> {
        let found = catalogue_with_rows(rows).findings(&tree(), &RequirementTables::default());
        found.into_iter().map(|(_, line, text)| format!("{line}: {text}")).collect()
    }

    #[test]
    fn row_that_names_a_missing_test_is_reported() {
        let rows = [
            ("a/rust", "-", "crates/a/tests/all.rs :: input"),
            ("a/script", "-", "tests/page/a.spec.ts :: the app is shown"),
            ("a/reason", "-", "not done: there is no proxy"),
        ];
        assert!(finding_texts(&rows).is_empty(), "existing tests and reasons should be sufficient");
        let helper = ("a/helper", "-", "crates/a/tests/all.rs :: helper");
        let other = ("a/other", "-", "tests/page/b.spec.ts :: the app is shown");
        let expected = [
            "2: there is no test `helper` in crates/a/tests/all.rs",
            "3: there is no test `the app is shown` in tests/page/b.spec.ts",
        ];
        assert_eq!(finding_texts(&[helper, other]), expected);
    }

    #[test]
    fn repeated_rows_and_unknown_requirements_are_reported() {
        let row = ("a/input", "ping-one", "crates/a/tests/all.rs :: input");
        let expected =
            ["2: `ping-one` is no requirement", "3: `a/input` is listed twice", "3: `ping-one` is no requirement"];
        assert_eq!(finding_texts(&[row, row]), expected);
    }

    #[test]
    fn row_mentions_the_requirement_with_its_test() {
        let rows = [("a/input", "ping-one", "crates/a/tests/all.rs :: input"), ("a/none", "-", "not done: no")];
        let [mention] = &catalogue_with_rows(&rows).mentions(&tree())[..] else { panic!("expected one mention") };
        assert_eq!(
            (&*mention.id, &*mention.path, mention.line, &*mention.test),
            ("ping-one", "crates/a/tests/all.rs", 2, "input")
        );
    }

    #[test]
    fn row_without_a_test_or_a_reason_is_refused() {
        let refused =
            AppRequirementCatalogue::parse(&format!("{HEADING}a/b\tMUST\tL1\tDo it.\t-\tlater\n")).unwrap_err();
        assert!(refused.to_string().contains("a/b needs"), "{refused}");
    }
}
