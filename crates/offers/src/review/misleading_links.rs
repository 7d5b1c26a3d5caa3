//! Detects links whose text shows one host but whose target is another. Used by `results.rs`.
//!
//! Markdown and HTML links are recognized everywhere, including in code and attributes, since a model reads those too
//! and a parser of one format would miss links in the other. Each part of a text is scanned once, even if links are
//! nested.

use url::Url;

/// Returns the part of a text that starts with the first misleading link, or `None` if there is no such link.
pub(super) fn find_misleading_link(text: &str) -> Option<&str> {
    find_misleading_markdown_link(text).or_else(|| find_misleading_html_link(text))
}

/// Returns the part of a text that starts with the first misleading Markdown link, `[shown](address)`.
fn find_misleading_markdown_link(text: &str) -> Option<&str> {
    let mut from = 0;
    while let Some(found) = text[from..].find("](") {
        let (middle, after) = (from + found, from + found + 2);
        // The link's text begins at the innermost bracket.
        let begin = text[from..middle].rfind('[').map(|at| from + at);
        from = after;
        // An image shows its alternative text only if the image can't be loaded.
        let Some(begin) = begin.filter(|begin| !text[..*begin].ends_with('!')) else { continue };
        let address = text[after..].trim_start_matches([' ', '<']);
        let address = address.split([')', '>', '[', ']', ' ', '\n']).next().unwrap_or_default();
        if is_misleading_link(&text[begin + 1..middle], address) {
            return Some(&text[begin..]);
        }
    }
    None
}

/// Returns the part of a text that starts with the first misleading HTML link, `<a href="address">shown</a>`.
fn find_misleading_html_link(text: &str) -> Option<&str> {
    let mut from = 0;
    while let Some(begin) = next_anchor_tag(text, from) {
        let end = next_anchor_tag(text, begin + 2).unwrap_or(text.len());
        from = end;
        let Some((tag, inside)) = text[begin..end].split_once('>') else { continue };
        let Some(address) = anchor_tag_href(tag) else { continue };
        if is_misleading_link(&without_html_tags(inside), address) {
            return Some(&text[begin..]);
        }
    }
    None
}

/// Returns the position of the next HTML link at or after `from`.
fn next_anchor_tag(text: &str, from: usize) -> Option<usize> {
    let begins = |at: &usize| {
        let after = &text.as_bytes()[at + 1..];
        matches!(after, [b'a' | b'A', blank, ..] if blank.is_ascii_whitespace() || *blank == b'/')
    };
    text[from..].match_indices('<').map(|(at, _)| from + at).find(begins)
}

/// Returns the address in the opening tag of a link.
fn anchor_tag_href(tag: &str) -> Option<&str> {
    let at = tag.as_bytes().windows(4).position(|word| word.eq_ignore_ascii_case(b"href"))?;
    let value = tag[at + 4..].trim_start().strip_prefix('=')?.trim_start();
    let (quote, rest) = value.split_at_checked(1)?;
    match quote {
        "\"" | "'" => rest.split(quote).next(),
        _ => value.split_ascii_whitespace().next(),
    }
}

/// Returns the visible text of an HTML link.
fn without_html_tags(inside: &str) -> String {
    let mut shown = String::new();
    let mut parts = inside.split('<');
    shown.push_str(parts.next().unwrap_or_default());
    for part in parts {
        if part.get(..2).is_some_and(|name| name.eq_ignore_ascii_case("/a")) {
            break;
        }
        shown.push_str(part.split_once('>').map_or("", |(_, text)| text));
    }
    shown
}

fn is_misleading_link(shown: &str, address: &str) -> bool {
    let Some(leads_to) = link_address_host(address) else { return false };
    // The owner of a domain also owns its subdomains.
    let is_below = |host: &str| leads_to.strip_suffix(host).is_some_and(|before| before.ends_with('.'));
    host_in_link_text(shown).is_some_and(|host| host != leads_to && !is_below(&host))
}

/// Returns the host of a web address, without a trailing dot and a leading `www.`, which are not significant for the
/// comparison.
fn link_address_host(address: &str) -> Option<String> {
    let address = address.trim();
    let url = match address.strip_prefix("//") {
        Some(rest) => Url::parse(&format!("https://{rest}")),
        None => Url::parse(address),
    };
    let url = url.ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?.trim_end_matches('.');
    Some(host.strip_prefix("www.").unwrap_or(host).to_owned())
}

/// Returns the host in the text of a link, if the text looks like a web address.
fn host_in_link_text(text: &str) -> Option<String> {
    let is_around = |c: char| matches!(c, '*' | '_' | '`' | '"' | '\'' | '(' | ')' | ',' | ';' | '!' | '?' | '.' | '…');
    let mut words = text.split_whitespace().map(|word| word.trim_matches(is_around));
    if let Some(host) = words.clone().filter(|word| word.contains("://")).find_map(link_address_host) {
        return Some(host);
    }
    // A single word such as `example.com/login` is an address, unlike `setup.sh`, `docs/setup.md` and `@zip.js/zip.js`.
    let word = words.next().filter(|word| words.next().is_none() && !word.contains('@'))?;
    let name = word.split('/').next().unwrap_or_default();
    let ends_as_host = name.rsplit_once('.').is_some_and(|(before, end)| {
        !before.is_empty()
            && (name.starts_with("www.")
                || TOP_LEVEL_DOMAINS_UNLIKE_FILE_ENDINGS.contains(&end.to_ascii_lowercase().as_str()))
    });
    let has_path = name.contains('.') && word.len() > name.len() && !name.starts_with('.');
    (ends_as_host || has_path).then(|| link_address_host(&format!("https://{word}"))).flatten()
}

/// Top-level domains that hardly occur at the end of file or product names. A word such as `bank.com` is therefore
/// treated as a domain name, but `setup.sh` and `Node.js` are not.
const TOP_LEVEL_DOMAINS_UNLIKE_FILE_ENDINGS: &[&str] = &["com", "org", "gov", "edu", "bank"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s27_misleading_links_are_detected() {
        for text in [
            "See [https://bank.example/login](https://evil.example/x).",
            "[bank.example/login](http://evil.example)",
            "[bank.com](https://evil.example)",
            "[www.bank.example](<https://evil.example/>)",
            "[**https://bank.example**](//evil.example \"Your bank\")",
            "[Sign in at https://bank.example, now](https://evil.example)",
            "[https://bank.example/](https://bank.example@evil.example/)",
            "[https://bank.example/](https://bank.example.evil.example/)",
            "[a](b) [![c](https://d.example/e.png)](https://f.example) [https://bank.example](https://evil.example)",
            "<a href=\"https://evil.example\">https://bank.example</a>",
            "<p>x<A class=b HREF='https://evil.example'><b>bank.com</b></A>",
            "<a href=https://evil.example>www.<i>bank</i>.example</a>",
        ] {
            assert!(
                find_misleading_link(text).is_some_and(|found| found.contains("evil")),
                "S27: the link in {text} is misleading"
            );
        }
    }

    #[test]
    fn s27_ordinary_links_are_not_misleading() {
        for text in [
            "[the page](https://bank.example/login)",
            "[https://bank.example/](https://bank.example/login)",
            "[bank.com](https://www.bank.com/)",
            "[https://bank.example.](https://bank.example)",
            "[docs/setup.md](docs/setup.md)",
            "[setup.sh](https://bank.example/setup.sh)",
            "[Node.js](https://nodejs.example)",
            "![diagram](https://cdn.example/diagram.png)",
            "[![build](https://ci.example/badge.svg)](https://code.example/ci)",
            "[![Chat at https://chat.example](https://badges.example/a.svg)](https://chat.example)",
            "[code.com](https://docs.code.com/keys)",
            "[`@zip.js/zip.js`](https://packages.example/zip)",
            "<a href=\"https://bank.example\">Your bank</a>, <a name=x>https://bank.example</a>",
            "<a href='/login'>https://bank.example/login</a>",
            "<a",
            "<a href",
            "<a href=>x",
            "a](b",
            "](",
            "no link at all",
        ] {
            assert_eq!(find_misleading_link(text), None, "S27: no link in {text} is misleading");
        }
    }
}
