//! Report of `cargo xtask requirements`: for each area, the requirements with their tests, or the reason why there is
//! none.

use std::fmt::Write;

use super::{Requirement, RequirementMention, RequirementTrace};

/// Numbers of requirements of one level (MUST, SHOULD or MAY) with a test, with only a reason for having none, and with
/// neither.
#[derive(Default)]
struct RequirementTotals {
    tested: usize,
    excused: usize,
    missing: usize,
}

impl RequirementTotals {
    fn add(&mut self, trace: &RequirementTrace, requirement: &Requirement) {
        if trace.tests(&requirement.id).next().is_some() {
            self.tested += 1;
        } else if trace.tables.reason_without_test(&requirement.id).is_some() {
            self.excused += 1;
        } else {
            self.missing += 1;
        }
    }

    fn summary_line(&self, label: &str) -> String {
        let Self { tested, excused, missing } = self;
        format!("{label:<24} {tested:>4} tested {excused:>4} with a reason {missing:>4} missing\n")
    }
}

impl RequirementTrace {
    /// Returns the areas of the specification in the order in which the requirements table lists them.
    pub(super) fn specification_areas(&self) -> Vec<&str> {
        let mut areas: Vec<&str> = Vec::new();
        for requirement in &self.tables.requirements {
            if !areas.contains(&requirement.area.as_str()) {
                areas.push(&requirement.area);
            }
        }
        areas
    }

    pub(super) fn has_area(&self, area: &str) -> bool {
        self.specification_areas().contains(&area)
    }

    /// Returns the report on the requested areas, or on all areas if none is requested, with the totals.
    pub(super) fn report(&self, areas: &[String], only_missing: bool) -> String {
        let mut list = String::new();
        let mut totals = String::from("\ntotals\n");
        for area in self.specification_areas() {
            if !areas.is_empty() && !areas.iter().any(|areas| areas == area) {
                continue;
            }
            let of_area = || self.tables.requirements.iter().filter(|requirement| requirement.area == area);
            let mut rows = String::new();
            for level in ["MUST", "SHOULD", "MAY"] {
                let mut sum = RequirementTotals::default();
                for requirement in of_area().filter(|requirement| requirement.level == level) {
                    sum.add(self, requirement);
                    if !only_missing || self.lacks_test_and_reason(requirement) {
                        rows.push_str(&self.report_lines(requirement));
                    }
                }
                totals.push_str(&sum.summary_line(&format!("{area} {level}")));
            }
            if !rows.is_empty() {
                let _ = write!(list, "\n{area}\n{rows}");
            }
        }
        list + &totals
    }

    fn report_lines(&self, requirement: &Requirement) -> String {
        let Requirement { id, level, revisions, text, .. } = requirement;
        let mut rows = format!("  {level:<6} {id}: {text} ({revisions})\n");
        for RequirementMention { path, line, test, .. } in self.tests(id) {
            let _ = writeln!(rows, "           {path}:{line} {test}");
        }
        match self.tables.reason_without_test(id) {
            Some(reason) => {
                let _ = writeln!(rows, "           no test: {reason}");
            }
            None if self.lacks_test_and_reason(requirement) => rows.push_str("           no test and no reason\n"),
            None => {}
        }
        rows
    }
}
