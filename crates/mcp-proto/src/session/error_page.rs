//! The text of the HTML pages with which web servers report errors.

/// Elements whose content is not shown by a browser, each with the beginning of its end tag.
const HIDDEN_ELEMENTS: [(&str, &str); 3] = [("head", "</head"), ("script", "</script"), ("style", "</style")];
/// Escaped white space of bodies, and the usual character references, with their text. References to `&` are last, so
/// that nothing is decoded twice.
const REPLACEMENTS: [(&str, &str); 9] = [
    ("\\x0a", " "),
    ("\\x0d", " "),
    ("\\x09", " "),
    ("&nbsp;", " "),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&amp;", "&"),
];

/// Returns the text of an HTML page on one line, or `None` if `body` does not begin like an HTML page. The body may be
/// truncated.
pub(super) fn html_page_text(body: &str) -> Option<String> {
    let page = body.trim_start();
    let begins_with = |tag: &str| page.get(..tag.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(tag));
    if !begins_with("<!doctype html") && !begins_with("<html") {
        return None;
    }
    let lowercase = page.to_ascii_lowercase();
    let mut text = String::new();
    for piece in (ShownText { lowercase: &lowercase, rest: page }) {
        text.push_str(piece);
        text.push(' ');
    }
    for (written, shown) in REPLACEMENTS {
        text = text.replace(written, shown);
    }
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The text between the tags of a page, without the content of hidden elements. Each byte of the page is searched a
/// constant number of times, because a hostile server could send a page with many tags.
struct ShownText<'a> {
    /// The whole page in lowercase, in which end tags are searched.
    lowercase: &'a str,
    /// End of the page that was not searched yet.
    rest: &'a str,
}

impl<'a> Iterator for ShownText<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = std::mem::take(&mut self.rest);
        let Some((text, tag)) = rest.split_once('<') else { return (!rest.is_empty()).then_some(rest) };
        let (tag, after) = tag.split_once('>').unwrap_or((tag, ""));
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        self.rest = match HIDDEN_ELEMENTS.iter().find(|(hidden, _)| name.eq_ignore_ascii_case(hidden)) {
            Some((_, end_tag)) => {
                let end = self.lowercase[self.lowercase.len() - after.len()..].find(*end_tag);
                end.map_or("", |end| &after[end..])
            }
            None => after,
        };
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_reduced_to_its_text() {
        let express = "<!DOCTYPE html>\\x0a<html lang=\"en\">\\x0a<head>\\x0a<meta charset=\"utf-8\">\\x0a\
                       <title>Error</title>\\x0a</head>\\x0a<body>\\x0a<pre>Cannot POST /mpc</pre>\\x0a</body>\\x0a</html>";
        let cases = [
            (express, "Cannot POST /mpc"),
            ("<HTML><Style>p { a: b }</style><p>a &lt;b&gt; &amp;lt; c</p>", "a <b> &lt; c"),
            (" <html><body><h1>404</h1><hr><center>nginx</center>", "404 nginx"),
            ("<html><header>Top</header>x", "Top x"),
            ("<html><head><title>cut o", ""),
            ("<html><body>a <b", "a"),
        ];
        for (body, text) in cases {
            assert_eq!(html_page_text(body).as_deref(), Some(text), "{body}");
        }
    }

    #[test]
    fn each_step_continues_after_the_part_that_it_searched() {
        let elements = 1_000;
        let page = "<STYLE>p<a></Style>ä".repeat(elements) + &"<style>".repeat(elements);
        let lowercase = page.to_ascii_lowercase();
        let (mut steps, mut text) = (0, String::new());
        for piece in (ShownText { lowercase: &lowercase, rest: &page }) {
            steps += 1;
            text.push_str(piece);
        }
        assert_eq!(text, "ä".repeat(elements));
        let start_and_end_tags = 2 * elements;
        assert_eq!(steps, start_and_end_tags + 1, "an element without an end tag should end the page");
    }

    #[test]
    fn other_bodies_are_no_pages() {
        for body in ["", "no <b>such</b> path", "{\"error\": \"<html>\"}", "ä"] {
            assert_eq!(html_page_text(body), None, "{body}");
        }
    }
}
