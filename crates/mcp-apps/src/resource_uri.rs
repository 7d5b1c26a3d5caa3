//! URIs of pages, which servers name in the metadata of tools.

use std::fmt;

use serde::Serialize;

use crate::text::has_only_visible_characters;

/// Maximum length of an app page's URI in bytes.
pub const MAX_UI_URI_BYTES: usize = 2048;

const UI_URI_SCHEME: &str = "ui://";

/// URI of an app page: `ui://` and at least one more character, without white space and hidden characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct UiUri(String);

/// Reason why a text is not a valid URI of an app page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UiUriProblem {
    /// The scheme is not `ui`.
    #[error("does not begin with \"ui://\"")]
    OtherScheme,
    /// The text has no characters after `ui://`.
    #[error("has nothing after \"ui://\"")]
    Empty,
    /// The text is longer than [`MAX_UI_URI_BYTES`].
    #[error("is longer than {MAX_UI_URI_BYTES} bytes")]
    TooLong,
    /// The text contains white space, or a control or invisible character.
    #[error("contains white space or a hidden character")]
    HiddenCharacter,
}

impl UiUri {
    /// Parses the URI of an app page. The text is retained as written, because servers compare it byte for byte.
    ///
    /// # Errors
    ///
    /// Returns [`UiUriProblem`] with the first reason why the text is not such a URI.
    pub fn parse(text: &str) -> Result<Self, UiUriProblem> {
        let has_scheme = text.get(..UI_URI_SCHEME.len()).is_some_and(|start| start.eq_ignore_ascii_case(UI_URI_SCHEME));
        if !has_scheme {
            return Err(UiUriProblem::OtherScheme);
        }
        if text.len() == UI_URI_SCHEME.len() {
            return Err(UiUriProblem::Empty);
        }
        if text.len() > MAX_UI_URI_BYTES {
            return Err(UiUriProblem::TooLong);
        }
        if !has_only_visible_characters(text) {
            return Err(UiUriProblem::HiddenCharacter);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the URI as the server wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if `echoed`, the URI in a server's response, names the same page. It may differ in letter case
    /// and in slashes at the end.
    #[must_use]
    pub fn matches_echoed_uri(&self, echoed: &str) -> bool {
        self.0.trim_end_matches('/').eq_ignore_ascii_case(echoed.trim_end_matches('/'))
    }
}

impl fmt::Display for UiUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ui_uris_are_accepted() {
        assert_eq!(UiUri::parse("ui://clock/app.html").map(|uri| uri.to_string()), Ok("ui://clock/app.html".into()));
        assert_eq!(UiUri::parse("UI://clock").map(|uri| uri.to_string()), Ok("UI://clock".into()));
        let refused = [
            ("https://clock/app.html", UiUriProblem::OtherScheme),
            ("ui:clock", UiUriProblem::OtherScheme),
            ("", UiUriProblem::OtherScheme),
            ("é://clock", UiUriProblem::OtherScheme),
            ("ui://", UiUriProblem::Empty),
            ("ui://a b", UiUriProblem::HiddenCharacter),
            ("ui://a\u{200b}b", UiUriProblem::HiddenCharacter),
            ("ui://a\nb", UiUriProblem::HiddenCharacter),
        ];
        for (text, problem) in refused {
            assert_eq!(UiUri::parse(text), Err(problem), "{text:?}");
        }
        assert_eq!(UiUri::parse(&format!("ui://{}", "a".repeat(MAX_UI_URI_BYTES))), Err(UiUriProblem::TooLong));
    }

    #[test]
    fn echoed_ui_uri_may_differ_in_case_and_trailing_slashes() {
        let uri = UiUri::parse("ui://Clock/app").unwrap();
        assert!(uri.matches_echoed_uri("ui://clock/app/"));
        assert!(uri.matches_echoed_uri("ui://Clock/app"));
        assert!(!uri.matches_echoed_uri("ui://clock/other"));
        assert!(!uri.matches_echoed_uri("ui://clock"));
    }
}
