//! List of attack cases from `tests/hostile/cases.tsv`: the attack, its targets, and the criterion in addition to the
//! general one.

use std::fs;

use crate::problem::Problem;
use crate::workspace;

/// Component that an attack case is directed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttackTarget {
    /// The host, without a window.
    Host,
    /// The page, in Chromium.
    Page,
    /// A single crate, attacked in its unit tests.
    Unit,
    /// The real desktop window, tested on Linux only.
    Window,
}

impl AttackTarget {
    pub(super) const ALL: [AttackTarget; 4] =
        [AttackTarget::Host, AttackTarget::Page, AttackTarget::Unit, AttackTarget::Window];

    pub(super) fn name(self) -> &'static str {
        match self {
            AttackTarget::Host => "host",
            AttackTarget::Page => "page",
            AttackTarget::Unit => "unit",
            AttackTarget::Window => "window",
        }
    }
}

/// Attack case of the hostile tests: a line of `tests/hostile/cases.tsv`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostileCase {
    pub(super) id: String,
    /// Components to attack in this case. Each of them has a separate test.
    pub(super) targets: Vec<AttackTarget>,
    pub(super) tried: String,
    pub(super) criterion: String,
}

pub(super) fn read_hostile_cases() -> Result<Vec<HostileCase>, Problem> {
    let path = workspace::tests_folder().join("hostile/cases.tsv");
    let text = fs::read_to_string(&path).map_err(Problem::file_error(&path))?;
    parse_hostile_cases(&text).map_err(|line| Problem::Machine(format!("{}: `{line}` is no case", path.display())))
}

/// Parses the column with the targets, such as `host page`. Returns `None` if a word is not a target.
fn parse_attack_targets(column: &str) -> Option<Vec<AttackTarget>> {
    column.split(' ').map(|word| AttackTarget::ALL.into_iter().find(|target| target.name() == word)).collect()
}

/// Parses the table of cases. Returns the first line that does not have four valid columns as the error.
fn parse_hostile_cases(text: &str) -> Result<Vec<HostileCase>, String> {
    let case = |line: &str| {
        let mut columns = line.split('\t').map(str::to_owned);
        let (id, targets) = (columns.next()?, parse_attack_targets(&columns.next()?)?);
        let case = HostileCase { id, targets, tried: columns.next()?, criterion: columns.next()? };
        columns.next().is_none().then_some(case)
    };
    text.lines().map(|line| case(line).ok_or_else(|| line.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_model_names_existing_cases() {
        let path = workspace::root_folder().join("crates/threat-model.md");
        let text = fs::read_to_string(&path).unwrap();
        let known = read_hostile_cases().unwrap();
        let is_id = |word: &&str| {
            word.len() == 3
                && word.starts_with(['X', 'S', 'E', 'B'])
                && word[1..].bytes().all(|byte| byte.is_ascii_digit())
        };
        let named: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_id).collect();
        assert!(named.len() > 40, "the document should name its cases: {named:?}");
        let unknown: Vec<&str> = named.into_iter().filter(|id| known.iter().all(|case| case.id != *id)).collect();
        assert_eq!(unknown, Vec::<&str>::new(), "all named cases should be in tests/hostile/cases.tsv");
    }

    #[test]
    fn hostile_case_row_has_four_columns() {
        let read = parse_hostile_cases("X01\thost page unit window\tpoison\tit is seen\n").unwrap();
        assert_eq!(
            (read[0].id.as_str(), read[0].criterion.as_str()),
            ("X01", "it is seen"),
            "each column should be parsed"
        );
        assert_eq!(read[0].targets, AttackTarget::ALL, "all targets should be parsed");
        assert_eq!(
            parse_hostile_cases("X01\thost\tpoison\n"),
            Err("X01\thost\tpoison".to_owned()),
            "the error should contain the incomplete line"
        );
        assert!(
            parse_hostile_cases("X01\tmoon\tpoison\tit is seen\n").is_err(),
            "an unknown target should be rejected"
        );
    }
}
