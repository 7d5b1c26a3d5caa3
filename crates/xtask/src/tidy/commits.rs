//! `cargo xtask tidy --commits RANGE`: rules for the commit subjects of a push or a branch.

use super::Finding;
use crate::problem::Problem;
use crate::process::Program;
use crate::workspace;

/// Maximum length of a commit subject in characters, so that tools do not truncate it.
const MAX_SUBJECT_CHARS: usize = 72;

/// Returns the commits in a git range, such as `origin/main..HEAD`, whose subjects break a rule. Merge commits are
/// skipped.
pub(super) fn commit_subject_findings(range: &str) -> Result<Vec<Finding>, Problem> {
    let log =
        Program::new("git").dir(workspace::root_folder()).args(["log", "--no-merges", "--format=%h %s", range, "--"]);
    Ok(log.output()?.lines().filter_map(|line| line.split_once(' ')).flat_map(findings_for_commit).collect())
}

fn findings_for_commit((id, subject): (&str, &str)) -> Vec<Finding> {
    let mut findings = Vec::new();
    let length = subject.chars().count();
    if length > MAX_SUBJECT_CHARS {
        findings.push(Finding::new(
            id,
            0,
            format!("the subject has {length} characters, more than {MAX_SUBJECT_CHARS}"),
        ));
    }
    if subject.contains(';') {
        findings.push(Finding::new(id, 0, "the subject joins topics with \";\"; make a commit of each"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_or_combined_commit_subjects_are_reported() {
        let longest = "é".repeat(MAX_SUBJECT_CHARS);
        assert!(findings_for_commit(("a1", &longest)).is_empty(), "characters should be counted, not bytes");
        assert_eq!(findings_for_commit(("a1", &format!("{longest}!"))).len(), 1);
        assert_eq!(findings_for_commit(("a1", "host: stop calls; ui: name them")).len(), 1);
        assert!(findings_for_commit(("a1", "host: stop calls")).is_empty());
    }
}
