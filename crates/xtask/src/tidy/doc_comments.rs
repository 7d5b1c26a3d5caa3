//! Rules for doc comments, which should describe the item in a plain sentence instead of repeating its name.

use super::Finding;
use super::tree::{SourceFile, Tree};

/// First words of doc comments that are clauses instead of descriptions. `/// Whether it is open` should be `/// Set if
/// the connection is open`.
const CLAUSE_WORDS: [&str; 3] = ["What", "Whether", "Why"];
/// Number of words up to which a doc comment counts as short, since it mostly repeats the name.
const SHORT_COMMENT_WORDS: usize = 3;
/// Maximum number of short doc comments in the repository. Some of them are useful, such as a unit.
const MAX_SHORT_COMMENTS: usize = 300;

/// Reports doc comments that begin with a clause instead of a description of the item.
pub(super) fn comments_do_not_begin_with_clauses(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, comment) in doc_comments(tree) {
        let first = comment.text.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
        if CLAUSE_WORDS.contains(&first) {
            let text = format!("a doc comment begins with \"{first}\"; begin with what the item is or does");
            findings.push(Finding::new(&file.path, comment.line, text));
        }
    }
    findings
}

/// Reports all short doc comments if there are more than [`MAX_SHORT_COMMENTS`].
pub(super) fn short_comments_are_few(tree: &Tree) -> Vec<Finding> {
    let short: Vec<_> = doc_comments(tree)
        .filter(|(_, comment)| comment.text.split_whitespace().count() <= SHORT_COMMENT_WORDS)
        .map(|(file, comment)| Finding::new(&file.path, comment.line, format!("few words: \"{}\"", comment.text)))
        .collect();
    if short.len() > MAX_SHORT_COMMENTS { short } else { Vec::new() }
}

/// Block of consecutive doc comment lines.
struct DocComment {
    /// Number of the first line, counted from 1.
    line: usize,
    /// All lines, joined by spaces.
    text: String,
}

fn doc_comments(tree: &Tree) -> impl Iterator<Item = (&SourceFile, DocComment)> {
    tree.rust_files().flat_map(|file| parse_blocks(&file.text).into_iter().map(move |comment| (file, comment)))
}

fn parse_blocks(text: &str) -> Vec<DocComment> {
    let mut found: Vec<DocComment> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).filter(|rest| !rest.starts_with('/'));
        match (doc, found.last_mut()) {
            (Some(doc), Some(comment)) if inside => {
                comment.text.push(' ');
                comment.text.push_str(doc.trim());
            }
            (Some(doc), _) => found.push(DocComment { line: number + 1, text: doc.trim().to_owned() }),
            (None, _) => {}
        }
        inside = doc.is_some();
    }
    found.retain(|comment| !comment.text.trim().is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clause_as_a_description_is_reported() {
        let text = "//! What this is for.\n\n/// Whether it is\n/// open.\nfn a() {}\n/// Whatever the caller sends.\nfn b() {}\n\
                    /// Returns why it failed.\n/// What follows is the body.\nfn c() {}\n// What is this?\n";
        let lines: Vec<_> = comments_do_not_begin_with_clauses(&Tree::from_files(&[("a.rs", text)]))
            .iter()
            .map(|finding| finding.line)
            .collect();
        assert_eq!(lines, [1, 3], "only the first word of a doc comment should be checked");
    }

    #[test]
    fn short_comments_are_reported_beyond_the_limit() {
        let few = "/// The name.\nfn a() {}\n/// Name that the user chose.\nfn b() {}\n".repeat(MAX_SHORT_COMMENTS);
        let tree = Tree::from_files(&[("a.rs", &few)]);
        assert!(short_comments_are_few(&tree).is_empty(), "{MAX_SHORT_COMMENTS} short comments should be accepted");
        let many = format!("{few}/// Its\n/// name.\nfn a() {{}}\n");
        let found = short_comments_are_few(&Tree::from_files(&[("a.rs", &many)]));
        assert_eq!(found.len(), MAX_SHORT_COMMENTS + 1, "one more short comment should report all of them");
    }
}
