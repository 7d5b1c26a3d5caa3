//! Rules for words: types must be named by nouns, and concepts by the words of the glossary in `crates/README.md`.

use super::Finding;
use super::layout::GENERATED_FILES;
use super::rust_code;
use super::source_tree::{SourceFile, SourceTree};

/// Words that are not sufficient as the name of a type: pronouns, adverbs, prepositions, conjunctions, and participles
/// without a noun.
const WORDS_THAT_ARE_NOT_NOUNS: [&str; 71] = [
    "About",
    "After",
    "Again",
    "Already",
    "And",
    "Appended",
    "Asked",
    "Asking",
    "Before",
    "Beside",
    "Blocked",
    "Both",
    "By",
    "Called",
    "Came",
    "Changed",
    "Chosen",
    "Considered",
    "Decided",
    "Done",
    "Drawn",
    "Each",
    "Ended",
    "Expanded",
    "Failed",
    "Fetched",
    "Filled",
    "Finished",
    "For",
    "Found",
    "From",
    "Given",
    "Gone",
    "Granted",
    "Hashed",
    "Held",
    "Here",
    "Hidden",
    "How",
    "Imported",
    "In",
    "Inside",
    "Judged",
    "Kept",
    "Known",
    "Large",
    "Left",
    "Lies",
    "Listed",
    "Looked",
    "Meanwhile",
    "Moved",
    "Named",
    "Next",
    "Nothing",
    "Now",
    "Of",
    "Opened",
    "Refused",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Stopped",
    "Taken",
    "Tell",
    "Then",
    "Together",
    "Told",
    "Tried",
    "Why",
];

/// Words that must not occur in identifiers, each with the word of the glossary to use instead.
const RETIRED_WORDS_IN_NAMES: [(&str, &str); 3] =
    [("crossing", "payload"), ("whence", "source, or origin"), ("whither", "target, or destination")];

/// Phrases that must not occur in comments, messages and documents, each with the phrase to use instead.
const RETIRED_WORDS_IN_TEXTS: [(&str, &str); 7] = [
    ("what crosses", "the payload"),
    ("would cross", "would be sent"),
    ("passed over", "ignored, or skipped"),
    ("taken back", "revoked"),
    ("takes back", "revokes"),
    ("take-back", "revocation"),
    ("is left out", "is omitted"),
];

/// Path of this file, which is skipped because it contains the retired words.
const NAMES_RULE_PATH: &str = "crates/xtask/src/tidy/names.rs";

/// Reports structs, enums, traits and type aliases whose name is one of [`WORDS_THAT_ARE_NOT_NOUNS`].
pub(super) fn find_type_names_without_noun(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let code = rust_code::without_comments_and_strings(&file.text);
        for (number, line) in code.lines().enumerate() {
            if let Some(name) = defined_type_name(line).filter(|name| WORDS_THAT_ARE_NOT_NOUNS.contains(name)) {
                let text = format!("the type `{name}` is not named by a noun; say what it is outside its module");
                findings.push(Finding::new(&file.path, number + 1, text));
            }
        }
    }
    findings
}

/// Reports identifiers with a retired word, and texts with a retired phrase.
pub(super) fn find_retired_words(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_text = |file: &&SourceFile| {
        file.has_extension(&["rs", "ts", "svelte", "mjs", "md"]) || file.path.starts_with("ui/messages/en/")
    };
    let is_written =
        |file: &&SourceFile| file.path != NAMES_RULE_PATH && !GENERATED_FILES.contains(&file.path.as_str());
    for file in tree.files.iter().filter(is_text).filter(is_written) {
        for (number, line) in file.text.lines().enumerate() {
            let lower = line.to_lowercase();
            for (phrase, better) in RETIRED_WORDS_IN_TEXTS.iter().filter(|(phrase, _)| lower.contains(phrase)) {
                findings.push(Finding::new(&file.path, number + 1, format!("\"{phrase}\" is now \"{better}\"")));
            }
        }
        if !file.is_rust() {
            continue;
        }
        let code = rust_code::without_comments_and_strings(&file.text);
        for (number, line) in code.lines().enumerate() {
            let retired = identifier_words(line)
                .into_iter()
                .filter_map(|word| RETIRED_WORDS_IN_NAMES.iter().find(|(retired, _)| *retired == word));
            for (word, better) in retired {
                findings.push(Finding::new(
                    &file.path,
                    number + 1,
                    format!("\"{word}\" in a name is now \"{better}\""),
                ));
            }
        }
    }
    findings
}

/// Returns the name of the type that a line defines, or `None` if it defines none.
fn defined_type_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|keyword| line.strip_prefix(keyword))?;
    let end = rest.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(rest.len());
    Some(&rest[..end])
}

/// Returns the words of all identifiers in a line of code, in lower case. `open_payload` and `OpenPayload` have the
/// same two words.
fn identifier_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for character in line.chars() {
        if (character.is_uppercase() || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding_lines(findings: Vec<Finding>) -> Vec<usize> {
        findings.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn type_without_a_noun_is_reported() {
        let text = "struct Said;\npub(crate) enum Kept {}\npub trait Sender {}\n// struct Told\ntype Then = u8;\nstruct KeptEntry;\n";
        assert_eq!(
            finding_lines(find_type_names_without_noun(&SourceTree::from_files(&[("a.rs", text)]))),
            [1, 2, 5],
            "a word inside a longer name should be accepted"
        );
    }

    #[test]
    fn retired_word_is_reported_in_names_and_texts() {
        let text = "fn open_crossing() {}\nstruct CrossingBytes;\nfn recrossing_all() {}\n// An entry that was passed over.\nlet a = \"crossing\";\n";
        assert_eq!(
            finding_lines(find_retired_words(&SourceTree::from_files(&[("a.rs", text)]))),
            [4, 1, 2],
            "only whole words of identifiers should be reported, not contents of strings"
        );
        let message = "{ \"a\": \"Show What crosses\" }";
        assert_eq!(
            finding_lines(find_retired_words(&SourceTree::from_files(&[
                ("ui/messages/en/a.json", message),
                ("b.json", message)
            ]))),
            [1]
        );
    }
}
