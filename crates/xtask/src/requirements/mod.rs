//! `cargo xtask requirements`: lists the requirements of the specification with the tests that name them.

mod app_catalogue;
mod named;
mod report;
mod table;

use app_catalogue::AppRequirementCatalogue;
use clap::Args;
use named::RequirementMention;
use table::{Requirement, RequirementTables};

use crate::problem::Problem;
use crate::tidy::source_tree::SourceTree;
use crate::workspace;

/// Areas of the specification in which each MUST and SHOULD requires a test or a documented reason.
const SPECIFICATION_AREAS_REQUIRING_TESTS: [&str; 20] = [
    "transport-stdio",
    "transport-http",
    "transport-sse",
    "lifecycle",
    "base",
    "tools",
    "prompts",
    "resources",
    "completion",
    "logging",
    "pagination",
    "progress",
    "cancellation",
    "ping",
    "tasks",
    "mrtr",
    "subscriptions",
    "caching",
    "auth",
    "apps",
];

#[derive(Args)]
pub(crate) struct RequirementsOptions {
    /// Report only these areas
    #[arg(long)]
    area: Vec<String>,
    /// List only requirements without a test or a reason
    #[arg(long)]
    missing: bool,
    /// Fail if a MUST or SHOULD has neither a test nor a reason, or if an id is unknown
    #[arg(long)]
    check: bool,
}

/// Requirements of the MCP specification, and the places in tests that name them.
struct RequirementTrace {
    tables: RequirementTables,
    named: Vec<RequirementMention>,
    /// Errors in `tests/apps/requirements.tsv`, as path, line number and text.
    catalogue_findings: Vec<(String, usize, String)>,
}

impl RequirementTrace {
    fn read(tree: &SourceTree) -> Result<Self, Problem> {
        let catalogue = AppRequirementCatalogue::read()?;
        let mut trace = Self::new(tree, RequirementTables::read(&workspace::tests_folder().join("conformance"))?);
        trace.named.extend(catalogue.mentions(tree));
        trace.catalogue_findings = catalogue.findings(tree, &trace.tables);
        Ok(trace)
    }

    fn new(tree: &SourceTree, tables: RequirementTables) -> Self {
        // Texts count as misspelled ids, not as unrelated brackets, if their first word is that of a known id or area.
        let begins_known = |id: &str| {
            let first = |id: &str| id.split('-').next().unwrap_or_default().to_owned();
            let begins_as = |known: &str| first(known) == first(id);
            tables.requirements.iter().any(|requirement| begins_as(&requirement.id) || begins_as(&requirement.area))
        };
        let named = named::find_mentions(tree, begins_known);
        Self { tables, named, catalogue_findings: Vec::new() }
    }

    fn tests<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a RequirementMention> {
        self.named.iter().filter(move |named| named.id == id)
    }

    fn lacks_test_and_reason(&self, requirement: &Requirement) -> bool {
        self.tables.reason_without_test(&requirement.id).is_none() && self.tests(&requirement.id).next().is_none()
    }

    /// Returns the requirements without a test and the unknown ids in tests, as path, line number (0 for the whole
    /// file) and text.
    fn findings(&self) -> Vec<(String, usize, String)> {
        let mut findings = self.catalogue_findings.clone();
        for named in self.named.iter().filter(|named| !self.tables.has_requirement(&named.id)) {
            findings.push((named.path.clone(), named.line, format!("`{}` is no requirement", named.id)));
        }
        const EXEMPTION_REASONS_FILE: &str = "tests/conformance/not-applicable.tsv";
        for (index, reason) in self.tables.reasons.iter().enumerate() {
            let mut say = |text: String| findings.push((EXEMPTION_REASONS_FILE.to_owned(), index + 2, text));
            if !self.tables.has_requirement(&reason.id) {
                say(format!("`{}` is no requirement", reason.id));
            }
            if let Some(test) = self.tests(&reason.id).next() {
                say(format!("`{}` has a test ({}:{}); the reason can go", reason.id, test.path, test.line));
            }
        }
        for requirement in &self.tables.requirements {
            let is_covered =
                SPECIFICATION_AREAS_REQUIRING_TESTS.contains(&requirement.area.as_str()) && requirement.level != "MAY";
            if is_covered && self.lacks_test_and_reason(requirement) {
                let text = format!("{} `{}` has neither a test nor a reason", requirement.level, requirement.id);
                findings.push(("tests/conformance/requirements.tsv".to_owned(), 0, text));
            }
        }
        findings
    }
}

/// Returns the violations of the rules about requirements, for `cargo xtask tidy`, as path, line number (0 for the
/// whole file) and text.
pub(crate) fn requirement_findings(tree: &SourceTree) -> Result<Vec<(String, usize, String)>, Problem> {
    Ok(RequirementTrace::read(tree)?.findings())
}

pub(crate) fn run(options: &RequirementsOptions) -> Result<(), Problem> {
    let trace = RequirementTrace::read(&SourceTree::read(&workspace::root_folder())?)?;
    if let Some(area) = options.area.iter().find(|area| !trace.has_area(area)) {
        return Err(Problem::Machine(format!(
            "there is no area `{area}`; the areas are {}",
            trace.specification_areas().join(", ")
        )));
    }
    print!("{}", trace.report(&options.area, options.missing));
    if !options.check {
        return Ok(());
    }
    let findings = trace.findings();
    for (path, line, text) in &findings {
        match line {
            0 => println!("{path}: {text}"),
            line => println!("{path}:{line}: {text}"),
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(Problem::ChecksFailed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::ExemptionReason;

    fn trace_with_test(test: &str, reasons: &[&str]) -> RequirementTrace {
        let requirement = |id: &str, area: &str, level: &str| Requirement {
            id: id.to_owned(),
            area: area.to_owned(),
            level: level.to_owned(),
            revisions: "2025-11-25".to_owned(),
            text: "Do it.".to_owned(),
        };
        let requirements = vec![
            requirement("ping-one", "ping", "MUST"),
            requirement("ping-two", "ping", "MAY"),
            requirement("client-one", "client", "MUST"),
        ];
        let reason = |id: &&str| ExemptionReason { id: (*id).to_owned(), text: "No.".to_owned() };
        let tables = RequirementTables { requirements, reasons: reasons.iter().map(reason).collect() };
        RequirementTrace::new(&SourceTree::from_files(&[("crates/a/tests/all.rs", test)]), tables)
    }

    fn finding_texts(trace: &RequirementTrace) -> Vec<String> {
        trace.findings().into_iter().map(|(_, _, text)| text).collect()
    }

    /// Returns the code of a test with a comment that names this id.
    fn test_source_naming_requirement(id: &str) -> String {
        format!("fn a() {{\n    // [{id}]\n}}\n")
    }

    #[test]
    fn must_requirement_needs_a_test_or_a_reason() {
        let missing = finding_texts(&trace_with_test("", &[]));
        assert_eq!(
            missing,
            ["MUST `ping-one` has neither a test nor a reason"],
            "only MUST and SHOULD of traced areas should be reported"
        );
        assert!(
            finding_texts(&trace_with_test(&test_source_naming_requirement("ping-one"), &[])).is_empty(),
            "a test should be sufficient"
        );
        assert!(finding_texts(&trace_with_test("", &["ping-one"])).is_empty(), "a reason should be sufficient");
    }

    #[test]
    fn misspelled_ids_and_unused_reasons_are_reported() {
        let found = finding_texts(&trace_with_test(&test_source_naming_requirement("ping-onne"), &["ping-one"]));
        assert_eq!(found, ["`ping-onne` is no requirement"], "an unknown id with a known prefix should be reported");
        let found =
            finding_texts(&trace_with_test(&test_source_naming_requirement("ping-one"), &["ping-one", "ping-three"]));
        assert_eq!(
            found.len(),
            2,
            "a reason for a tested requirement and one for an unknown requirement should be reported: {found:?}"
        );
    }
}
