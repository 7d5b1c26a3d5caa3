//! Page in the browser with the result of a sign-in: static, without scripts and without external resources.

/// Text of the page that the browser shows at the end of a sign-in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SignInResultPageText<'a> {
    SignedIn,
    /// The sign-in failed. Contains the cause in English, which may include untrusted text.
    Failed(&'a str),
    /// The request to the redirect listener was not the expected authorization response.
    UnexpectedRequest,
}

/// Language of the result page, selected by the browser's `Accept-Language` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignInResultPageLanguage {
    English,
    Chinese,
}

impl SignInResultPageLanguage {
    /// Parses `Accept-Language` (RFC 9110, 12.5.4) and returns the preferred supported language.
    pub(crate) fn preferred(accept: &str) -> SignInResultPageLanguage {
        let mut best = (0.0, SignInResultPageLanguage::English);
        for item in accept.split(',') {
            let mut parts = item.split(';').map(str::trim);
            let tag = parts.next().unwrap_or_default().split('-').next().unwrap_or_default();
            let language = match tag.to_ascii_lowercase().as_str() {
                "zh" => SignInResultPageLanguage::Chinese,
                "en" => SignInResultPageLanguage::English,
                _ => continue,
            };
            let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok()).unwrap_or(1.0);
            if weight > best.0 {
                best = (weight, language);
            }
        }
        best.1
    }

    const fn language_tag(self) -> &'static str {
        match self {
            SignInResultPageLanguage::English => "en",
            SignInResultPageLanguage::Chinese => "zh-CN",
        }
    }

    /// Returns the title and the text of the result page in this language.
    const fn title_and_text(self, words: SignInResultPageText<'_>) -> (&'static str, &'static str) {
        match (self, words) {
            (SignInResultPageLanguage::English, SignInResultPageText::SignedIn) => {
                ("You are signed in", "You can close this window and go back to the app.")
            }
            (SignInResultPageLanguage::English, SignInResultPageText::Failed(_)) => {
                ("The sign-in failed", "You can close this window and go back to the app.")
            }
            (SignInResultPageLanguage::English, SignInResultPageText::UnexpectedRequest) => {
                ("This is not the expected response", "The sign-in continues in the app.")
            }
            (SignInResultPageLanguage::Chinese, SignInResultPageText::SignedIn) => {
                ("你已登录", "你可以关闭这个窗口，回到应用。")
            }
            (SignInResultPageLanguage::Chinese, SignInResultPageText::Failed(_)) => {
                ("登录失败", "你可以关闭这个窗口，回到应用。")
            }
            (SignInResultPageLanguage::Chinese, SignInResultPageText::UnexpectedRequest) => {
                ("这不是正在等待的应答", "登录在应用里继续。")
            }
        }
    }
}

/// Returns a complete HTTP response that contains the result page.
pub(crate) fn sign_in_result_page_response(
    status: u16,
    words: SignInResultPageText<'_>,
    language: SignInResultPageLanguage,
) -> String {
    let (title, text) = language.title_and_text(words);
    let cause = match words {
        SignInResultPageText::Failed(cause) => format!("<p lang=\"en\">{}.</p>", escape_html(cause)),
        SignInResultPageText::SignedIn | SignInResultPageText::UnexpectedRequest => String::new(),
    };
    let tag = language.language_tag();
    let page = format!(
        "<!doctype html><html lang=\"{tag}\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>body{{font:16px/1.5 system-ui,sans-serif;margin:20vh auto;max-width:32rem;\
         padding:0 1rem;color-scheme:light dark}}</style><h1>{title}</h1>{cause}<p>{text}</p></html>"
    );
    format!(
        "HTTP/1.1 {status} -\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'none'\r\n\r\n{page}",
        page.len()
    )
}

fn escape_html(text: &str) -> String {
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
    fn untrusted_text_is_escaped_in_the_sign_in_result_page() {
        let page = sign_in_result_page_response(
            400,
            SignInResultPageText::Failed("<script>alert(\"x\")</script>&'"),
            SignInResultPageLanguage::English,
        );
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;"), "the cause must be escaped: {page}");
        let head = page.split("\r\n\r\n").next().unwrap_or_default();
        assert!(
            head.contains("default-src 'none'") && head.contains("no-referrer"),
            "nothing may be loaded and no referrer sent: {head}"
        );
    }

    #[test]
    fn sign_in_result_page_is_in_the_preferred_language_of_the_browser() {
        for (accept, expected) in [
            ("", SignInResultPageLanguage::English),
            ("zh-CN,zh;q=0.9,en;q=0.8", SignInResultPageLanguage::Chinese),
            ("en-GB, zh;q=0.5", SignInResultPageLanguage::English),
            ("fr, en;q=0.2, ZH-Hans;q=0.7", SignInResultPageLanguage::Chinese),
            ("de;q=1", SignInResultPageLanguage::English),
            ("zh;q=0, en;q=0.1", SignInResultPageLanguage::English),
            (";;q=,=", SignInResultPageLanguage::English),
        ] {
            assert_eq!(SignInResultPageLanguage::preferred(accept), expected, "for {accept:?}");
        }
        let page = sign_in_result_page_response(
            400,
            SignInResultPageText::Failed("it was refused"),
            SignInResultPageLanguage::Chinese,
        );
        assert!(page.contains("lang=\"zh-CN\"") && page.contains("登录失败"), "the page must be in Chinese: {page}");
        assert!(page.contains("<p lang=\"en\">it was refused.</p>"), "the cause must be marked as English: {page}");
        let (head, body) = page.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("Content-Length: {}\r\n", body.len())),
            "Content-Length must count bytes: {head}"
        );
    }
}
