//! Rules against nested results: the success type of a function must not be another `Result`.

use super::Finding;
use super::rust_paths::tokens;
use super::source_tree::SourceTree;

/// Source folder of the crate `host`, whose functions flatten the results of turns.
const HOST_SOURCE_FOLDER: &str = "crates/host/src/";

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

/// Reports each `.await??` in the crate `host`, where the type of a nested result is inferred and not written.
pub(super) fn find_twice_propagated_results(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files_in_folder(HOST_SOURCE_FOLDER).filter(|file| file.is_rust()) {
        for (line, code) in file.lines_without_comments_and_tests() {
            if code.contains(".await??") {
                let text = "a result of a result; use with_owner_result or with_owner_reply_result";
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
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
    fn twice_propagated_result_is_reported_in_the_host() {
        let text = "let a = b.await??;\n// let a = b.await??;\nlet a = b\n    .await??;\nb.await?;\n";
        let files = [("crates/host/src/a.rs", text), ("crates/host/tests/a.rs", text), ("crates/x/src/a.rs", text)];
        let found = find_twice_propagated_results(&SourceTree::from_files(&files));
        let places: Vec<_> = found.iter().map(|finding| (finding.path.as_str(), finding.line)).collect();
        assert_eq!(places, [("crates/host/src/a.rs", 1), ("crates/host/src/a.rs", 4)], "comments should be ignored");
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
