//! Rule for components: displayed text must come from the message files.

use super::Finding;
use super::source_tree::SourceTree;

/// HTML attributes whose values are displayed or read aloud.
const DISPLAYED_ATTRIBUTES: [&str; 6] = ["aria-label", "aria-description", "title", "placeholder", "alt", "label"];

/// Reports phrases and Chinese text in the markup of components. Single words are allowed, since they are names of
/// keys, units or brands.
pub(super) fn find_hard_coded_texts(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files_in_folder("ui/src/").filter(|file| file.has_extension(&["svelte"])) {
        for (line, text) in displayed_texts(&file.text) {
            if is_prose(&text) {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                findings.push(Finding::new(&file.path, line, format!("the text \"{text}\" belongs in ui/messages")));
            }
        }
    }
    findings
}

fn is_prose(text: &str) -> bool {
    let is_chinese = |character: char| {
        ('\u{2e80}'..='\u{9fff}').contains(&character) || ('\u{ff00}'..='\u{ffef}').contains(&character)
    };
    let is_word = |word: &&str| {
        let word = word.trim_matches(|character: char| character.is_ascii_punctuation());
        word.len() >= 3 && word.chars().all(|character| character.is_ascii_alphabetic())
    };
    text.contains(is_chinese) || text.split_whitespace().filter(is_word).count() >= 2
}

/// Returns the texts between tags and in [`DISPLAYED_ATTRIBUTES`], each with its line number.
fn displayed_texts(component: &str) -> Vec<(usize, String)> {
    let markup = blank_out_elements(&blank_out_between(component, "<!--", "-->"), &["script", "style"]);
    let mut found = Vec::new();
    let mut scanner = MarkupScanner { rest: &markup, line: 1 };
    while !scanner.rest.is_empty() {
        let line = scanner.line;
        if scanner.rest.starts_with('{') {
            scanner.skip_expression();
        } else if scanner.rest.starts_with('<') {
            found.extend(scanner.read_displayed_attributes_of_tag());
        } else {
            let end = scanner.rest.find(['{', '<']).unwrap_or(scanner.rest.len());
            let text = scanner.take(end);
            let blank_lines = text.len() - text.trim_start().len();
            found.push((line + text[..blank_lines].matches('\n').count(), text.to_owned()));
        }
    }
    found
}

struct MarkupScanner<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> MarkupScanner<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Skips an expression `{ ... }`, which may contain strings and nested braces.
    fn skip_expression(&mut self) {
        let mut depth = 0;
        let mut quote = None;
        let mut escaped = false;
        let mut end = self.rest.len();
        for (at, character) in self.rest.char_indices() {
            match (quote, character) {
                _ if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(open), _) if open == character => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'' | '`') => quote = Some(character),
                (None, '{') => depth += 1,
                (None, '}') => {
                    depth -= 1;
                    if depth == 0 {
                        end = at + 1;
                        break;
                    }
                }
                (None, _) => {}
            }
        }
        self.take(end);
    }

    /// Moves past a tag, and returns the values of its [`DISPLAYED_ATTRIBUTES`] with their line numbers.
    fn read_displayed_attributes_of_tag(&mut self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        self.take(1);
        let mut name = String::new();
        while let Some(character) = self.rest.chars().next() {
            match character {
                '>' => {
                    self.take(1);
                    break;
                }
                '{' => {
                    self.skip_expression();
                    name.clear();
                }
                '"' | '\'' => {
                    let line = self.line;
                    self.take(1);
                    let value = self.attribute_value(character);
                    if DISPLAYED_ATTRIBUTES.contains(&name.trim_end_matches('=')) {
                        found.push((line, value));
                    }
                    name.clear();
                }
                _ => {
                    self.take(character.len_utf8());
                    if character.is_whitespace() || character == '/' {
                        name.clear();
                    } else {
                        name.push(character);
                    }
                }
            }
        }
        found
    }

    /// Consumes an attribute value including its closing quote, and returns it without the expressions in it.
    fn attribute_value(&mut self, quote: char) -> String {
        let mut value = String::new();
        while let Some(character) = self.rest.chars().next() {
            if character == '{' {
                self.skip_expression();
                continue;
            }
            self.take(character.len_utf8());
            if character == quote {
                break;
            }
            value.push(character);
        }
        value
    }
}

fn blank_out_elements(text: &str, names: &[&str]) -> String {
    names
        .iter()
        .fold(text.to_owned(), |text, name| blank_out_between(&text, &format!("<{name}"), &format!("</{name}>")))
}

/// Returns the text with each range from `opening` to `closing` reduced to its line breaks, so that line numbers stay
/// the same.
fn blank_out_between(text: &str, opening: &str, closing: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(opening) {
        let end = rest[start..].find(closing).map_or(rest.len(), |at| start + at + closing.len());
        result.push_str(&rest[..start]);
        result.extend(rest[start..end].chars().filter(|character| *character == '\n'));
        rest = &rest[end..];
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding_lines(component: &str) -> Vec<usize> {
        find_hard_coded_texts(&SourceTree::from_files(&[("ui/src/a/A.svelte", component)]))
            .iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn prose_in_markup_is_reported() {
        let text =
            "<script>\n  const a = \"some long text\";\n</script>\n<p>\n  Nothing here yet.\n</p>\n<p>服务器</p>\n";
        assert_eq!(finding_lines(text), [5, 7], "a phrase and Chinese text should be reported, but not the script");
    }

    #[test]
    fn prose_in_a_displayed_attribute_is_reported() {
        let text = "<button aria-label=\"Close the window\" class=\"wide primary button\">x</button>\n<input placeholder='Your own name'>";
        assert_eq!(finding_lines(text), [1, 2], "attributes that are read aloud should be reported, but not classes");
    }

    #[test]
    fn text_from_messages_is_accepted() {
        let text = "{#if a && b > \"one } two three\"}\n  <kbd>Ctrl K</kbd> {m.hello({ name: `dear {x} friend here` })}\n\
                    <Field label={m.some_label()} title=\"{m.one()} {m.two()}\" onclick={() => go(\"over there now\")} />\n\
                    {:else}\n<!-- a longer comment here -->\n{/if}\n<style>\n  .a { color: red; }\n</style>\n";
        assert_eq!(finding_lines(text), [] as [usize; 0], "expressions, comments and styles should be ignored");
    }
}
