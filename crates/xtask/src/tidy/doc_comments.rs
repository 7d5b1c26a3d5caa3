//! Rules for doc comments in Rust and in the page: none begins with a clause such as "Whether it is open", and few are
//! so short that they only repeat the name of their item.

use super::Finding;
use super::layout::GENERATED_FILES;
use super::source_tree::{SourceFile, SourceTree};

/// Words that begin a clause instead of a description. For example, `/// Set if the connection is open` is allowed, and
/// `/// Whether it is open` is not.
const FORBIDDEN_FIRST_WORDS_OF_COMMENTS: [&str; 3] = ["What", "Whether", "Why"];
/// Extensions of the files whose doc comments are blocks that begin with `/**`.
const PAGE_EXTENSIONS: [&str; 4] = ["ts", "svelte", "mjs", "js"];
/// Maximum number of words of a doc comment that counts as short. Most short comments only repeat the name of their
/// item.
const MAX_WORDS_OF_SHORT_COMMENT: usize = 3;
/// Maximum number of short doc comments in the whole repository. Some of them are useful, such as a unit.
const MAX_SHORT_COMMENTS: usize = 300;

/// Reports doc comments that begin with a clause instead of a description of the item.
pub(super) fn find_comments_beginning_with_clauses(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, comment) in doc_comments(tree) {
        let first = comment.text.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
        if FORBIDDEN_FIRST_WORDS_OF_COMMENTS.contains(&first) {
            let text = format!("a doc comment begins with \"{first}\"; begin with what the item is or does");
            findings.push(Finding::new(&file.path, comment.line, text));
        }
    }
    findings
}

/// Reports all short doc comments if there are more than [`MAX_SHORT_COMMENTS`].
pub(super) fn find_excess_short_comments(tree: &SourceTree) -> Vec<Finding> {
    let short: Vec<_> = doc_comments(tree)
        .filter(|(_, comment)| comment.text.split_whitespace().count() <= MAX_WORDS_OF_SHORT_COMMENT)
        .map(|(file, comment)| Finding::new(&file.path, comment.line, format!("few words: \"{}\"", comment.text)))
        .collect();
    if short.len() > MAX_SHORT_COMMENTS { short } else { Vec::new() }
}

/// A doc comment: a block of consecutive doc lines in Rust, or a `/** */` block in the page's sources.
struct DocComment {
    /// Number of the comment's first line in the file, counted from 1.
    line: usize,
    /// Text of all lines without comment marks, joined by spaces.
    text: String,
}

fn doc_comments(tree: &SourceTree) -> impl Iterator<Item = (&SourceFile, DocComment)> {
    tree.files.iter().flat_map(|file| {
        let comments = if file.is_rust() {
            parse_doc_lines(&file.text)
        } else if file.has_extension(&PAGE_EXTENSIONS) && !GENERATED_FILES.contains(&file.path.as_str()) {
            parse_doc_blocks(&file.text)
        } else {
            Vec::new()
        };
        comments.into_iter().map(move |comment| (file, comment))
    })
}

/// Returns the `/** */` blocks in a text that begin on a new line.
fn parse_doc_blocks(text: &str) -> Vec<DocComment> {
    let mut found = Vec::new();
    let mut block: Option<DocComment> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let (mut comment, rest) = match (block.take(), line.strip_prefix("/**")) {
            (Some(comment), _) => (comment, line),
            (None, Some(rest)) => (DocComment { line: number + 1, text: String::new() }, rest),
            (None, None) => continue,
        };
        let (words, is_last) = rest.split_once("*/").map_or((rest, false), |(words, _)| (words, true));
        let words = words.trim_start_matches('*').trim();
        if !comment.text.is_empty() && !words.is_empty() {
            comment.text.push(' ');
        }
        comment.text.push_str(words);
        if is_last {
            found.push(comment);
        } else {
            block = Some(comment);
        }
    }
    found.retain(|comment| !comment.text.is_empty());
    found
}

/// Returns the blocks of consecutive `///` or `//!` lines in a text.
fn parse_doc_lines(text: &str) -> Vec<DocComment> {
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
    fn doc_comment_beginning_with_a_clause_word_is_reported() {
        let text = "//! What this is for.\n\n/// Whether it is\n/// open.\nfn a() {}\n/// Whatever the caller sends.\nfn b() {}\n\
                    /// Returns why it failed.\n/// What follows is the body.\nfn c() {}\n// What is this?\n";
        let lines: Vec<_> = find_comments_beginning_with_clauses(&SourceTree::from_files(&[("a.rs", text)]))
            .iter()
            .map(|finding| finding.line)
            .collect();
        assert_eq!(lines, [1, 3], "the first word of a block counts, and only in doc comments");
    }

    #[test]
    fn comments_of_the_page_are_checked() {
        let text = "/** Whether it is open. */\nlet a;\n  /**\n   * Why the call\n   * failed.\n   */\n  let b;\n\
                    /** Returns why it failed. */\nlet c;\n/* What is this? */\n// Whether it is.\nlet d = \"/** What */\";\n";
        for path in ["ui/a.ts", "ui/a.svelte", "tests/a.mjs"] {
            let tree = SourceTree::from_files(&[(path, text)]);
            let found: Vec<_> =
                find_comments_beginning_with_clauses(&tree).iter().map(|finding| finding.line).collect();
            assert_eq!(found, [1, 3], "{path}: only blocks that begin on a new line are doc comments");
        }
        for path in ["ui/src/lib/api/generated.ts", "ui/a.css"] {
            assert!(
                find_comments_beginning_with_clauses(&SourceTree::from_files(&[(path, text)])).is_empty(),
                "{path} is not checked"
            );
        }
    }

    #[test]
    fn page_comment_over_several_lines_is_one_text() {
        let comments = parse_doc_blocks("/**\n * Name of the\n *\n * server.\n */\nlet a;\n/** */\nlet b;\n/** Open\n");
        let texts: Vec<_> = comments.iter().map(|comment| (comment.line, comment.text.as_str())).collect();
        assert_eq!(texts, [(1, "Name of the server.")], "empty and unclosed blocks are ignored");
    }

    #[test]
    fn short_comments_are_reported_beyond_the_limit() {
        let few = "/// The name.\nfn a() {}\n/// Name that the user chose.\nfn b() {}\n".repeat(MAX_SHORT_COMMENTS);
        let tree = SourceTree::from_files(&[("a.rs", &few)]);
        assert!(find_excess_short_comments(&tree).is_empty(), "{MAX_SHORT_COMMENTS} of them are allowed");
        let many = format!("{few}/// Its\n/// name.\nfn a() {{}}\n");
        let found = find_excess_short_comments(&SourceTree::from_files(&[("a.rs", &many)]));
        assert_eq!(found.len(), MAX_SHORT_COMMENTS + 1, "one more, over two lines, shows all of them");
    }
}
