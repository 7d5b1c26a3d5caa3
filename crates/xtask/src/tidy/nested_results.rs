//! Rule against nested results: the success type of a function must not be another `Result`.

use super::Finding;
use super::rust_paths::tokens;
use super::source_tree::SourceTree;

/// Reports each `Result<Result<..>>` in the code of the app, also if written with paths such as `io::Result`.
pub(super) fn find_nested_result_types(tree: &SourceTree) -> Vec<Finding> {
    const NESTED_RESULT_FINDING: &str =
        "a result of a result; name the outcomes in an enum, or give both failures one error type";
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let lines = file.lines_without_comments_and_tests();
        let tokens: Vec<(usize, &str)> =
            lines.iter().flat_map(|(line, code)| tokens(code).into_iter().map(|token| (*line, token))).collect();
        for (at, (line, _)) in tokens.iter().enumerate().filter(|(at, _)| starts_with_result_type(&tokens[*at..])) {
            // Only the last name of a path is compared.
            let argument = &tokens[at + 2..];
            let prefix = argument.chunks_exact(2).take_while(|pair| pair[1].1 == "::").count();
            if starts_with_result_type(&argument[2 * prefix..]) {
                findings.push(Finding::new(&file.path, *line, NESTED_RESULT_FINDING));
            }
        }
    }
    findings
}

fn starts_with_result_type(tokens: &[(usize, &str)]) -> bool {
    matches!(tokens, [(_, "Result"), (_, "<"), ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_result_is_reported() {
        let text = "fn a() -> Result<Result<u8, A>, B> {}\ntype C = io::Result<std::result::Result<\n    u8,\n    A>>;\n\
                    fn d() -> Result<\n    Result<u8, A>,\n    B,\n> {}\n";
        let found = find_nested_result_types(&SourceTree::from_files(&[("crates/x/src/a.rs", text)]));
        let lines: Vec<_> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [1, 2, 5], "paths and line breaks should be accepted between the names");
    }

    #[test]
    fn results_without_nesting_are_accepted() {
        let text = "fn a() -> Result<Option<Result<u8, A>>, B> {}\nfn b() -> Result<u8, ResultError> {}\n\
                    // Result<Result<u8, A>, B>\nfn c(r: Vec<Result<u8, A>>) -> Result<MyResult<u8>, B> {}\n\
                    #[cfg(test)]\nmod tests {\n    type D = Result<Result<u8, A>, B>;\n}\n";
        assert_eq!(
            find_nested_result_types(&SourceTree::from_files(&[("crates/x/src/a.rs", text)])),
            [],
            "comments and tests should be ignored"
        );
    }
}
