//! Alternative spellings of a text that may be a path or an address, so that a rule can't be bypassed by a different
//! spelling of the same location.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use url::Url;

use crate::address::{default_port, has_user_info, normalized_host};
use crate::case_folding::{fold_case_and_width, narrow_full_width_separators};
use crate::folder_path::{PathRoot, split_path_root};
use crate::pattern::may_escape_folder;

/// Maximum number of nested percent-encodings in a text that are decoded.
const MAX_PERCENT_DECODING_ROUNDS: usize = 3;

/// Returns `true` if a text can have alternative spellings.
pub(crate) fn may_have_other_spellings(text: &str) -> bool {
    text.contains(['/', '\\', '%', ':'])
}

/// Returns alternative spellings of a text: as a path, normalized by names only, and as an address, in normal form and
/// in other forms with the same target. The text itself may be among them.
pub(crate) fn alternative_spellings(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut decoded = text.to_owned();
    for _ in 0..=MAX_PERCENT_DECODING_ROUNDS {
        add_path_spellings(&mut found, &decoded);
        add_address_spellings(&mut found, &decoded);
        let next = percent_decode_str(&decoded).decode_utf8_lossy().into_owned();
        if next == decoded {
            break;
        }
        found.insert(next.clone());
        decoded = next;
    }
    found
}

fn add_path_spellings(found: &mut BTreeSet<String>, text: &str) {
    for text in [text.to_owned(), text.trim().to_owned(), text.replace('\\', "/")] {
        let normal = normalize_path(&text);
        if let Some(bare) = normal.strip_suffix('/').filter(|bare| !bare.is_empty()) {
            found.insert(bare.to_owned());
        }
        found.insert(normal);
    }
}

fn add_address_spellings(found: &mut BTreeSet<String>, text: &str) {
    let trimmed = text.trim_start_matches(['/', '\\']);
    let opaque = Url::parse(text).ok().filter(|url| !url.has_host());
    if let Some(url) = Url::parse(text).ok().filter(|url| url.scheme() == "file") {
        add_file_url_path(found, &url);
    } else if let Some(nested) = opaque.as_ref().and_then(|url| parse_as_url(url.path())) {
        // `view-source:https://host` and `blob:https://host` lead to the nested address.
        add_url_spellings(found, &nested);
    }
    match parse_as_url(text) {
        Some(url) => add_url_spellings(found, &url),
        // Many programs add a scheme to a text without one.
        None => {
            for scheme in ["https", "http"] {
                if let Ok(url) = Url::parse(&format!("{scheme}://{trimmed}")) {
                    add_url_spellings(found, &url);
                }
            }
        }
    }
}

/// Adds the path in a `file:` address, with the Windows drive if it has one.
fn add_file_url_path(found: &mut BTreeSet<String>, url: &Url) {
    let path = percent_decode_str(url.path()).decode_utf8_lossy();
    add_path_spellings(found, &path);
    if let Some(bare) =
        path.strip_prefix('/').filter(|bare| matches!(split_path_root(bare), Some((PathRoot::Drive(_), _))))
    {
        add_path_spellings(found, bare);
    }
}

fn add_url_spellings(found: &mut BTreeSet<String>, url: &Url) {
    let mut plain = url.clone();
    // Fails for an address that can't have a user or another host, which is then left unchanged.
    let _ = plain.set_username("");
    let _ = plain.set_password(None);
    if let Some(host) = url.host_str().and_then(normalized_host) {
        let _ = plain.set_host(Some(&host));
    }
    let mut merged = plain.clone();
    merged.set_path(&normalize_path(plain.path()));
    let mut without_path_parameters = plain.clone();
    let bare_segments: Vec<&str> = plain.path().split('/').map(without_segment_parameters).collect();
    without_path_parameters.set_path(&normalize_path(&bare_segments.join("/")));
    for url in [url, &plain, &merged, &without_path_parameters] {
        let mut bare = url.clone();
        bare.set_fragment(None);
        for text in [url.as_str(), bare.as_str()] {
            found.insert(text.to_owned());
            found.insert(percent_decode_unreserved(text));
            if let Some(text) = text.strip_suffix('/') {
                found.insert(text.to_owned());
            }
        }
    }
    for plain in [&merged, &without_path_parameters] {
        add_host_spellings(found, plain);
    }
}

/// Adds the spellings of an address with its port, and with its host in Unicode.
fn add_host_spellings(found: &mut BTreeSet<String>, plain: &Url) {
    if let (Some(host), Some(port)) = (plain.host_str(), default_port(plain.scheme())) {
        let port = plain.port().unwrap_or(port);
        let unicode = url::quirks::domain_to_unicode(host);
        let rest = url::Position::BeforePath;
        for rest in [&plain[rest..], &plain[rest..url::Position::AfterQuery]] {
            found.insert(format!("{}://{host}:{port}{rest}", plain.scheme()));
            if !unicode.is_empty() && plain.port().is_none() {
                found.insert(format!("{}://{unicode}{rest}", plain.scheme()));
            }
        }
    }
}

/// Parses a text as an address. Returns `None` for a Windows path.
pub(crate) fn parse_as_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_one = url.has_host() && url.scheme().len() > 1 && (url.is_special() || text.contains("://"));
    is_one.then_some(url)
}

/// Returns `true` if the text is an address in the normal form of RFC 3986, which all programs parse in the same way.
/// The single `/` after the host is optional.
pub(crate) fn is_normalized_address(text: &str, url: &Url) -> bool {
    let is_same = url.as_str() == text || url.as_str().strip_suffix('/') == Some(text);
    let path = url.path().to_ascii_lowercase();
    let has_dots = path.split('/').any(|segment| matches!(without_segment_parameters(segment), "." | ".."));
    let is_plain = !has_ambiguous_encoding(&path) && !path.contains("//") && !has_dots;
    let has_dot = url.host_str().is_some_and(|host| host.ends_with('.'));
    is_same && is_plain && !has_dot && !has_user_info(url) && percent_decode_unreserved(text) == text
}

/// Returns `true` if a text is a path in a normal form, which all programs parse in the same way. A rule that allows
/// matches only such paths.
pub(crate) fn is_normalized_path(text: &str) -> bool {
    !may_escape_folder(text)
        && normalize_path(text) == text
        && !has_ambiguous_encoding(&narrow_full_width_separators(text).to_ascii_lowercase())
}

/// Returns `true` if a lower-case text contains a percent-encoded dot, separator, NUL byte or percent sign.
fn has_ambiguous_encoding(text: &str) -> bool {
    ["%2e", "%2f", "%5c", "%00", "%25"].iter().any(|code| text.contains(code))
}

/// Returns `true` if the beginning of a text looks like a path.
pub(crate) fn looks_like_path(text: &str) -> bool {
    split_path_root(text).is_some()
        || text.starts_with(['~', '\\'])
        || text.starts_with("./")
        || text.starts_with(".\\")
}

/// Normalizes a path by resolving `.`, `..` and empty components by names only. A trailing `/` is preserved.
pub(crate) fn normalize_path(text: &str) -> String {
    let mut left: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if left.last().is_none_or(|last| *last == "..") && !text.starts_with('/') => left.push(".."),
            ".." => {
                left.pop();
            }
            part => left.push(part),
        }
    }
    let begin = if text.starts_with('/') { "/" } else { "" };
    let end = if text.ends_with('/') && !left.is_empty() { "/" } else { "" };
    format!("{begin}{}{end}", left.join("/"))
}

/// Returns a path segment without its parameters, which follow a `;`. Some programs ignore them, also in `..;`.
pub(crate) fn without_segment_parameters(segment: &str) -> &str {
    segment.split(';').next().unwrap_or(segment)
}

/// Decodes percent-encoded characters that are unreserved in RFC 3986.
fn percent_decode_unreserved(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        left.push_str(before);
        let code = after.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()).map(char::from);
        match code.filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~')) {
            Some(character) => {
                left.push(character);
                rest = &after[2..];
            }
            None => {
                left.push('%');
                rest = after;
            }
        }
    }
    left.push_str(rest);
    left
}

/// Returns all spellings of a server's command line or URL: each word, and the targets of addresses in it, folded.
pub(crate) fn identity_spellings(words: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::from([words.to_owned(), fold_case_and_width(words)]);
    let parts = words.split(|c: char| c.is_whitespace() || c == '=').filter(|word| !word.is_empty());
    for word in std::iter::once(words).chain(parts).filter(|word| may_have_other_spellings(word)) {
        let others = [word.to_owned(), fold_case_and_width(word)];
        let addresses = others.iter().filter_map(|word| parse_as_url(word));
        for url in addresses {
            let mut of_word = BTreeSet::new();
            add_url_spellings(&mut of_word, &url);
            for spelling in of_word {
                // The other words are retained, because a rule may match all of them.
                found.insert(fold_case_and_width(&words.replacen(word, &spelling, 1)));
                found.insert(fold_case_and_width(&spelling));
            }
            if let Some(host) = url.host_str().and_then(normalized_host) {
                found.insert(fold_case_and_width(&url::quirks::domain_to_unicode(&host)));
                found.insert(host);
            }
        }
        let decoded = percent_decode_str(word).decode_utf8_lossy().into_owned();
        found.insert(fold_case_and_width(&words.replacen(word, &decoded, 1)));
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn path_spellings_have_one_normal_form() {
        for (text, expected) in [
            ("//secret/x", "/secret/x"),
            ("/./secret/x", "/secret/x"),
            ("/a/../secret/x", "/secret/x"),
            ("/../x", "/x"),
            ("a/./b", "a/b"),
            ("../a", "../a"),
            ("../../a", "../../a"),
            ("a/../../b", "../b"),
            ("a/..", ""),
            ("/a/", "/a/"),
            ("/", "/"),
            ("", ""),
            ("a", "a"),
        ] {
            assert_eq!(normalize_path(text), expected, "{text}");
            assert_eq!(is_normalized_path(text), expected == text && !text.contains(".."), "{text}");
        }
        assert!(!is_normalized_path(r"a\..\b"), "a Windows path with `..`");
        for text in ["/a/%2E%2e/b", "/a/..%2Fb", "/a%5cb", "/a%00", "/%252e"] {
            assert!(!is_normalized_path(text), "{text} is parsed in two ways");
        }
        assert!(is_normalized_path("/a%20b"), "an encoded space is parsed in one way");
        for (text, expected) in
            [("/a", true), (r"C:\a", true), ("~/a", true), ("./a", true), (r".\a", true), (r"\a", true), ("a/b", false)]
        {
            assert_eq!(looks_like_path(text), expected, "{text}");
        }
    }

    #[test]
    fn address_has_equivalent_spellings() {
        for text in [
            "HTTPS://EVIL.x/A",
            "https:evil.x/A",
            r"https:\\evil.x\A",
            "https://evil.x:443/A",
            "https://user:password@evil.x/A",
            "https://evil.x./A",
            "https://evil%2ex/A",
            "https://\u{ff45}\u{ff56}il.x/A",
            "https://evil\u{3002}x/A",
            "https://evil.x/%41",
            "https://evil.x/b/../A",
            "https://evil.x/b/%2e%2e/A",
            "https://evil.x/A#part",
            " https://evil.x/A",
            "https://ev\til.x/A",
            "//evil.x/A",
            "evil.x/A",
            "https%3A%2F%2Fevil.x%2FA",
            "https://evil.x/A/",
            "https://evil.x//b/../A",
            "https://evil.x/b/..;/A;c=d",
        ] {
            let found = alternative_spellings(text);
            assert!(found.contains("https://evil.x/A"), "{text:?}: {found:?}");
            assert!(found.contains("https://evil.x:443/A") || text.ends_with('/'), "{text:?} with its port: {found:?}");
            assert!(may_have_other_spellings(text), "{text:?} has other spellings");
        }
        assert!(
            alternative_spellings("https://xn--bcher-kva.x/").contains("https://b\u{fc}cher.x/"),
            "the Unicode form of a Punycode host"
        );
        assert!(
            alternative_spellings("http://evil.x:81/").contains("http://evil.x:81/"),
            "a port other than the default stays"
        );
        assert!(
            !alternative_spellings("http://evil.x:81/").contains("http://evil.x/"),
            "the spelling without the port is another address"
        );
        assert!(!may_have_other_spellings("plain words"), "plain words have no other spelling");
    }

    #[test]
    fn normal_address_is_unambiguous() {
        let is_normal = |text: &str| parse_as_url(text).is_some_and(|url| is_normalized_address(text, &url));
        for text in ["https://a.x", "https://a.x/", "https://a.x/b%20c?q=%2F..%2F#f", "https://a.x:8443/b/"] {
            assert!(is_normal(text), "{text}");
        }
        for text in [
            "https://A.x/",
            "https://a.x:443/",
            "https://user@a.x/",
            "https://:word@a.x/",
            "https://a.x./",
            "https://a.x/b/../c",
            "https://a.x/%2E%2E/c",
            "https://a.x/..;/c",
            "https://a.x/%2fc",
            "https://a.x/%5Cc",
            "https://a.x/%252e",
            "https://a.x/%00",
            "https://a.x//c",
            "https://a.x/%61",
            r"https://a.x\c",
            "https:a.x",
            "a.x",
            r"C:\a",
            "mailto:a@x",
            "note:x",
        ] {
            assert!(!is_normal(text), "{text}");
        }
        assert!(parse_as_url("foo://a.x/").is_some(), "any scheme with a host");
        assert!(parse_as_url("C://a/b").is_none(), "not a Windows drive");
        assert_eq!(percent_decode_unreserved("%41%2f%7E%zz%4"), "A%2f~%zz%4", "only unreserved characters are decoded");
    }

    #[test]
    fn identity_has_the_spellings_of_its_addresses() {
        let found = identity_spellings("npx mcp-remote HTTPS://EVIL-MCP%2eexample./mcp --flag");
        for expected in
            ["npx mcp-remote https://evil-mcp.example/mcp --flag", "https://evil-mcp.example/mcp", "evil-mcp.example"]
        {
            assert!(found.contains(expected), "{expected}: {found:?}");
        }
        assert!(identity_spellings("NPX Evil-MCP").contains("npx evil-mcp"), "in lower case");
        assert!(identity_spellings("run evil%2dmcp").contains("run evil-mcp"), "percent-decoded");
        assert!(
            identity_spellings("https://xn--bcher-kva.x/").contains("b\u{fc}cher.x"),
            "the Unicode form of a Punycode host"
        );
        assert_eq!(
            fold_case_and_width("\u{ff25}vil\u{ff61}\u{ff38}"),
            "evil.x",
            "full-width letters and an ideographic full stop"
        );
    }
}
