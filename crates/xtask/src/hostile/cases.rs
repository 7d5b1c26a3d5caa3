//! The list of cases: what is tried, and what must hold beside the general criterion.

use std::fs;

use crate::problem::Problem;
use crate::workspace;

/// One case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) tried: String,
    pub(super) criterion: String,
}

pub(super) fn read() -> Result<Vec<Case>, Problem> {
    let path = workspace::tests().join("hostile/cases.tsv");
    let text = fs::read_to_string(&path).map_err(Problem::file(&path))?;
    parse(&text).map_err(|line| Problem::Machine(format!("{}: `{line}` is no case", path.display())))
}

/// A line with no three columns is an error.
fn parse(text: &str) -> Result<Vec<Case>, String> {
    let case = |line: &str| {
        let mut columns = line.split('\t').map(str::to_owned);
        let case = Case { id: columns.next()?, tried: columns.next()?, criterion: columns.next()? };
        columns.next().is_none().then_some(case)
    };
    text.lines().map(|line| case(line).ok_or_else(|| line.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_three_columns() {
        let read = parse("X01\tpoison\tit is seen\n").unwrap();
        assert_eq!((read[0].id.as_str(), read[0].criterion.as_str()), ("X01", "it is seen"), "each in its place");
        assert_eq!(parse("X01\tpoison\n"), Err("X01\tpoison".to_owned()), "what is missing is told");
    }
}
