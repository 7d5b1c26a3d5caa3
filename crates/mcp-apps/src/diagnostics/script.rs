//! The diagnostic script, and its place in the document of an app.

use std::sync::LazyLock;

const DIAGNOSTIC_SCRIPT_SOURCE: &str = include_str!("script.js");
/// Characters that HTML ignores before the document type.
const HTML_WHITE_SPACE: [char; 5] = [' ', '\t', '\n', '\u{c}', '\r'];
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Script element in a single line, so that errors of the app have the line numbers of the document that its server
/// provides.
static DIAGNOSTIC_SCRIPT_ELEMENT: LazyLock<String> = LazyLock::new(|| {
    let lines =
        DIAGNOSTIC_SCRIPT_SOURCE.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    format!("<script>{}</script>", lines.collect::<Vec<_>>().join(" "))
});

/// Returns the HTML document of an app with the diagnostic script before everything that the app can run.
///
/// The script reports blocked requests, uncaught errors and console output with messages that
/// [`View::handle_message`](crate::View::handle_message) recognizes. It is an inline script without a nonce, which the
/// policy of each app permits ([`SandboxPolicy`](crate::SandboxPolicy)): browsers ignore `'unsafe-inline'` in a policy
/// with a nonce or hash, so that the inline scripts of the app would no longer run.
#[must_use]
pub fn with_diagnostic_script(html: &str) -> String {
    let (before, after) = html.split_at(script_insertion_offset(html));
    format!("{before}{}{after}", *DIAGNOSTIC_SCRIPT_ELEMENT)
}

/// Returns the position after the document type, in bytes. An element before it would put the browser into quirks mode.
/// A document without a document type begins with the script.
fn script_insertion_offset(html: &str) -> usize {
    let document = html.strip_prefix(BYTE_ORDER_MARK).unwrap_or(html);
    let start = html.len() - document.len();
    let mut rest = document;
    loop {
        rest = rest.trim_start_matches(HTML_WHITE_SPACE);
        let is_document_type = rest.get(..9).is_some_and(|name| name.eq_ignore_ascii_case("<!doctype"));
        let after = match rest.strip_prefix("<!--") {
            Some(comment) => text_after_html_comment(comment),
            // Declarations other than the document type are comments, and end like it.
            None if rest.starts_with("<!") || rest.starts_with("<?") => rest.split_once('>').map(|(_, after)| after),
            None => None,
        };
        match after {
            Some(after) if is_document_type => return html.len() - after.len(),
            Some(after) => rest = after,
            None => return start,
        }
    }
}

/// Returns the text after a comment, of which `comment` is the content and everything after it. Returns `None` if the
/// comment has no end.
fn text_after_html_comment(comment: &str) -> Option<&str> {
    if let Some(after) = comment.strip_prefix('>').or_else(|| comment.strip_prefix("->")) {
        return Some(after);
    }
    let mut ends = comment.match_indices('>').map(|(at, _)| comment.split_at(at));
    let (_, end) = ends.find(|(content, _)| content.ends_with("--") || content.ends_with("--!"))?;
    end.strip_prefix('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostic_script_is_one_line_that_ends_with_its_element() {
        let script =
            DIAGNOSTIC_SCRIPT_ELEMENT.strip_prefix("<script>").and_then(|rest| rest.strip_suffix("</script>")).unwrap();
        assert!(script.starts_with("(() => {") && script.ends_with("})();"), "{script}");
        for forbidden in ["\n", "//", "/*", "</", "<!--"] {
            assert!(!script.contains(forbidden), "{forbidden:?} should not be in the script");
        }
    }

    #[test]
    fn diagnostic_script_follows_the_document_type() {
        for (before, after) in [
            ("<!doctype html>", "<script>app()</script>"),
            ("<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\">", "\n<html>"),
            ("\u{feff} \r\n\t<!Doctype html >", "<p>"),
            ("<!-- a <!doctype> --><!-->\n<!---><!----><!-- b --!><?xml version=\"1.0\"?><!x><!doctype html>", "<p>"),
            ("<!doctype html>", ""),
        ] {
            let expected = format!("{before}{}{after}", *DIAGNOSTIC_SCRIPT_ELEMENT);
            assert_eq!(with_diagnostic_script(&format!("{before}{after}")), expected);
        }
    }

    #[test]
    fn diagnostic_script_begins_a_document_without_document_type() {
        for html in [
            "",
            "<p>",
            "text<!doctype html>",
            "<!-- no end <!doctype html>",
            "<!doctype html",
            "<script></script>",
            "<ü>",
        ] {
            assert_eq!(with_diagnostic_script(html), format!("{}{html}", *DIAGNOSTIC_SCRIPT_ELEMENT), "{html}");
        }
        assert_eq!(with_diagnostic_script("\u{feff}<p>"), format!("\u{feff}{}<p>", *DIAGNOSTIC_SCRIPT_ELEMENT));
    }
}
