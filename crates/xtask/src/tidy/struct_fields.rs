//! Rule against large structs in the host: a struct with many fields should be divided.

use super::Finding;
use super::source_tree::SourceTree;

/// Maximum number of fields of a struct in the host.
const MAX_STRUCT_FIELDS: usize = 15;
/// Folders with the sources in which the rule checks structs.
const FOLDERS_WITH_STRUCT_SIZE_LIMIT: [&str; 2] = ["crates/host/src/", "crates/host-state/src/"];

/// Structs that may have more fields, each with the reason.
const LARGE_STRUCT_EXCEPTIONS: [(&str, &str); 1] =
    [("ServerView", "the page draws a server from these facts, which have no parts of their own")];

pub(super) fn find_large_host_structs(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut excused = Vec::new();
    let files = || FOLDERS_WITH_STRUCT_SIZE_LIMIT.iter().flat_map(|folder| tree.files_in_folder(folder));
    for file in files().filter(|file| file.is_rust()) {
        let code: String = file.lines_without_comments_and_tests().into_iter().map(|(_, line)| line + "\n").collect();
        for StructDefinition { name, line, fields } in parse_structs(&code) {
            if fields <= MAX_STRUCT_FIELDS {
                continue;
            }
            if LARGE_STRUCT_EXCEPTIONS.iter().any(|(excepted, _)| *excepted == name) {
                excused.push(name);
            } else {
                let text = format!(
                    "{name} has {fields} fields, more than {MAX_STRUCT_FIELDS}; group those that change together"
                );
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    let is_needed = |name: &str| excused.contains(&name.to_owned()) || files().next().is_none();
    for (name, _) in LARGE_STRUCT_EXCEPTIONS.iter().filter(|(name, _)| !is_needed(name)) {
        let text = format!("{name} has {MAX_STRUCT_FIELDS} fields or fewer; it needs no exception in struct_fields.rs");
        findings.push(Finding::new(FOLDERS_WITH_STRUCT_SIZE_LIMIT[1], 0, text));
    }
    findings
}

/// Struct with named fields that a source file defines.
struct StructDefinition {
    name: String,
    /// Number of the line with the keyword `struct`, counted from 1.
    line: usize,
    fields: usize,
}

fn parse_structs(code: &str) -> Vec<StructDefinition> {
    let mut found = Vec::new();
    let mut start = 0;
    for (number, line) in code.lines().enumerate() {
        let at = start;
        start += line.len() + 1;
        let Some(place) = line.find("struct ").filter(|place| is_visibility_or_empty(&line[..*place])) else {
            continue;
        };
        let rest = &code[at + place + "struct ".len()..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // Tuple structs and unit structs are skipped, since they have no named fields.
        let Some(body) = rest.find(['{', '(', ';']).filter(|at| rest[*at..].starts_with('{')) else { continue };
        found.push(StructDefinition { name, line: number + 1, fields: count_fields(&rest[body + 1..]) });
    }
    found
}

/// Returns `true` if the text before the keyword `struct` is empty or a visibility.
fn is_visibility_or_empty(before: &str) -> bool {
    let before = before.trim();
    before.is_empty() || before == "pub" || (before.starts_with("pub(") && before.ends_with(')'))
}

/// Returns the number of fields in the text that follows the opening brace of a struct.
fn count_fields(body: &str) -> usize {
    let (mut depth, mut count, mut is_in_field, mut previous) = (0_usize, 0, false, ' ');
    for character in body.chars() {
        match character {
            '(' | '[' | '{' | '<' => depth += 1,
            // The `>` of an arrow `->` is not a closing bracket.
            '>' if previous == '-' => {}
            '}' if depth == 0 => break,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && previous != ':' && !is_in_field => {
                (is_in_field, count) = (true, count + 1);
            }
            ',' if depth == 0 => is_in_field = false,
            _ => {}
        }
        previous = character;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn struct_with_fields(fields: usize) -> String {
        let fields: String =
            (0..fields).map(|n| format!("    /// One: {n}, two.\n    pub(crate) f{n}: Vec<a::B, C>,\n")).collect();
        format!("pub(super) struct Large<'a> {{\n{fields}}}\n")
    }

    fn struct_names(text: &str) -> Vec<String> {
        let view = format!("pub struct ServerView {{{}}}\n", "a: u8, ".repeat(MAX_STRUCT_FIELDS + 1));
        let tree = SourceTree::from_files(&[("crates/host/src/a.rs", text), ("crates/host-state/src/view.rs", &view)]);
        find_large_host_structs(&tree).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn struct_with_too_many_fields_is_reported() {
        assert_eq!(
            struct_names(&struct_with_fields(MAX_STRUCT_FIELDS)),
            Vec::<String>::new(),
            "the maximum number of fields should be accepted"
        );
        assert!(
            struct_names(&struct_with_fields(MAX_STRUCT_FIELDS + 1))[0].starts_with("Large has 16 fields"),
            "one more field should be reported"
        );
        let nested = "struct A {\n    act: Box<dyn FnOnce(&mut B, C) -> (D, E) + Send>,\n    #[serde(rename = \"x\")]\n    b: [u8; 2],\n}\n";
        assert_eq!(parse_structs(nested)[0].fields, 2, "commas within types should not separate fields");
        assert!(
            parse_structs("struct Place;\nstruct Pair(u8, u8);\n").is_empty(),
            "structs without named fields should be skipped"
        );
    }

    #[test]
    fn structs_in_other_crates_and_tests_may_have_more_fields() {
        let large = struct_with_fields(MAX_STRUCT_FIELDS + 1);
        let tests = format!("struct A {{}}\n#[cfg(test)]\nmod tests {{\n{large}}}\n");
        assert_eq!(struct_names(&tests), Vec::<String>::new(), "structs in tests should be accepted");
        let tree = SourceTree::from_files(&[("crates/store/src/a.rs", &large)]);
        assert_eq!(find_large_host_structs(&tree), [], "structs in other crates should be accepted");
    }

    #[test]
    fn unused_exception_of_large_struct_is_reported() {
        let tree = SourceTree::from_files(&[("crates/host-state/src/view.rs", "pub struct ServerView { a: u8 }\n")]);
        assert_eq!(find_large_host_structs(&tree).len(), 1, "an unused exception should be reported");
    }
}
