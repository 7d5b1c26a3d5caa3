//! The text of the HTML pages with which web servers report errors.

/// Elements whose content is not shown by a browser.
const HIDDEN_ELEMENTS: [&str; 3] = ["head", "script", "style"];
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
    let mut rest = body.trim_start();
    let begins_with = |tag: &str| rest.get(..tag.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(tag));
    if !begins_with("<!doctype html") && !begins_with("<html") {
        return None;
    }
    let mut text = String::new();
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let (tag, after) = tag.split_once('>').unwrap_or((tag, ""));
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        rest = match HIDDEN_ELEMENTS.iter().find(|hidden| name.eq_ignore_ascii_case(hidden)) {
            Some(hidden) => {
                let end = after.to_ascii_lowercase().find(&format!("</{hidden}"));
                end.map_or("", |end| &after[end..])
            }
            None => after,
        };
    }
    text.push_str(rest);
    for (written, shown) in REPLACEMENTS {
        text = text.replace(written, shown);
    }
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
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
    fn other_bodies_are_no_pages() {
        for body in ["", "no <b>such</b> path", "{\"error\": \"<html>\"}", "ä"] {
            assert_eq!(html_page_text(body), None, "{body}");
        }
    }
}
