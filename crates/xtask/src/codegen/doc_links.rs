//! Replaces intra-doc links in the comments of the generated TypeScript by the names of the items, since the links do
//! not work there. Used by `codegen.rs`.

/// Returns the text with every link to a Rust item in a comment replaced by the item's name. Links to URLs are not
/// changed.
pub(super) fn replace_doc_links(text: &str) -> String {
    let is_comment = |line: &str| line.trim_start().starts_with(['*', '/']);
    text.split_inclusive('\n')
        .map(|line| if is_comment(line) { replace_doc_links_in_line(line) } else { line.to_owned() })
        .collect()
}

fn replace_doc_links_in_line(line: &str) -> String {
    let mut result = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('[') {
        let (before, link) = rest.split_at(at);
        result.push_str(before);
        if let Some((name, after)) = linked_item_name(link) {
            result.push_str(&name);
            rest = after;
        } else {
            result.push('[');
            rest = &link[1..];
        }
    }
    result + rest
}

/// Returns the displayed text of the link to a Rust item with which `link` starts, and the rest of `link`. Returns
/// `None` if `link` does not start with such a link.
fn linked_item_name(link: &str) -> Option<(String, &str)> {
    let (text, after) = link.strip_prefix('[')?.split_once(']')?;
    let code = text.strip_prefix('`').and_then(|text| text.strip_suffix('`'));
    let target =
        [('(', ')'), ('[', ']')].into_iter().find_map(|(open, close)| after.strip_prefix(open)?.split_once(close));
    match (code, target) {
        (_, Some((target, after))) if is_rust_item_path(target.trim_matches('`')) => Some((text.to_owned(), after)),
        (Some(item), None) if is_rust_item_path(item) => {
            let name = item.rsplit("::").next().unwrap_or(item);
            Some((format!("`{}`", name.rsplit('@').next().unwrap_or(name)), after))
        }
        _ => None,
    }
}

/// Returns `true` if the link target is a Rust path such as `crate::a::B`, `Self::c()`, `macro!` or `fn@d`.
fn is_rust_item_path(path: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let path = path.trim_end_matches("()").trim_end_matches('!');
    let path = path.split_once('@').map_or(path, |(_, path)| path);
    path.split("::").all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_to_an_item_becomes_its_name() {
        for (link, name) in [
            ("[`Foo`]", "`Foo`"),
            ("[`Foo::bar`]", "`bar`"),
            ("[`crate::a::b()`]", "`b()`"),
            ("[`fn@c`]", "`c`"),
            ("[`Suspicious`](Self::Suspicious)", "`Suspicious`"),
            ("[`Suspicious`][`Self::Suspicious`]", "`Suspicious`"),
            ("[the limit](super::MOST)", "the limit"),
        ] {
            let text = |inside: &str| format!("/**\n * At most {inside}, {inside}.\n */\nlet a = [`Foo`];\n");
            assert_eq!(replace_doc_links(&text(link)), text(name), "links should be replaced in comments only");
        }
    }

    #[test]
    fn brackets_that_link_to_no_item_are_unchanged() {
        for text in
            ["[`a`](https://a.test/b)", "[RFC 6570](https://a.test)", "`[redacted]`", "[`a b`]", "[1, 2]", "[", "a[`"]
        {
            let text = format!(" * {text}\n");
            assert_eq!(replace_doc_links(&text), text, "the text should be unchanged");
        }
    }
}
