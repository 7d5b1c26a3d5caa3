//! The page that the browser shows at the end: static, without scripts, and with nothing from outside.

/// A whole HTTP answer with a page. The texts may come from anywhere.
pub(crate) fn answer(status: u16, title: &str, text: &str) -> String {
    let (title, text) = (escape(title), escape(text));
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>body{{font:16px/1.5 system-ui,sans-serif;margin:20vh auto;max-width:32rem;\
         padding:0 1rem;color-scheme:light dark}}</style><h1>{title}</h1><p>{text}</p></html>"
    );
    format!(
        "HTTP/1.1 {status} -\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'none'\r\n\r\n{page}",
        page.len()
    )
}

fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            other => shown.push(other),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_text() {
        let page = answer(400, "a", "<script>alert(\"x\")</script>&'");
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;"), "nothing in it is markup: {page}");
        let head = page.split("\r\n\r\n").next().unwrap_or_default();
        assert!(
            head.contains("default-src 'none'") && head.contains("no-referrer"),
            "nothing is loaded or told: {head}"
        );
    }
}
