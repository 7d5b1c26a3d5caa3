//! Checks the version of the web view that renders the window, as reported by the shell.

use crate::computer::WebView;
use crate::finding::CheckOutcome;
use crate::text::{FindingText, NumericVersion};

/// Oldest supported version of WebKitGTK. It is the version of Debian 12, the oldest distribution with packages of
/// Drawbridge.
const OLDEST_WEBKIT_VERSION: &[u32] = &[2, 40];

pub(crate) fn check_web_view(web_view: Option<&WebView>) -> CheckOutcome {
    let Some(WebView { name, version }) = web_view else {
        return CheckOutcome::unknown(
            FindingText::new("This program has no window."),
            FindingText::new(
                "If the app's window stays empty, update the system's web view (on Linux the package libwebkit2gtk-4.1-0).",
            ),
        );
    };
    let Some(version) = NumericVersion::find(version) else {
        return CheckOutcome::unknown(
            FindingText::new(name).and(" reports no readable version: ").foreign(version),
            FindingText::new("If the window is drawn wrong, update it with the system's updates."),
        );
    };
    let observation = FindingText::new(name).and(" ").version(&version).and(".");
    if name.contains("WebKitGTK") && version.is_before(OLDEST_WEBKIT_VERSION) {
        return CheckOutcome::warning(
            observation,
            FindingText::new("Update the system: the window is tried with WebKitGTK 2.40 and later."),
        );
    }
    CheckOutcome::ok(observation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::FindingState;

    #[test]
    fn old_web_view_is_reported() {
        let of =
            |version: &str| check_web_view(Some(&WebView { name: "WebKitGTK", version: version.to_owned() })).state;
        assert_eq!(of("2.48.1"), FindingState::Ok);
        assert_eq!(of("2.38.6"), FindingState::Warning, "versions are compared by number rather than as text");
        assert_eq!(of("new"), FindingState::Unknown);
        assert_eq!(check_web_view(None).state, FindingState::Unknown, "without a window, the state is unknown");
    }
}
