//! How large the page is drawn. The web view's own zoom scales text, pictures and the widths that styles ask for alike, as in a browser.
//! The size is among the app's settings; the page passes it on when it starts, and whenever it changes.

use api::data::{LEAST_ZOOM, MOST_ZOOM};
use tauri::{Runtime, Webview};

/// Draws the page in this size, in percent. Sizes out of bounds become the nearest that is within.
///
/// # Errors
/// In words, if the window is gone already.
#[tauri::command]
pub(crate) fn set_zoom<R: Runtime>(webview: Webview<R>, percent: u16) -> Result<(), String> {
    webview.set_zoom(scale(percent)).map_err(|error| error.to_string())
}

fn scale(percent: u16) -> f64 {
    f64::from(percent.clamp(LEAST_ZOOM, MOST_ZOOM)) / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e11_the_page_is_never_too_small_or_too_large_to_be_used() {
        for (percent, expected) in [(0, 0.5), (50, 0.5), (110, 1.1), (200, 2.0), (u16::MAX, 2.0)] {
            assert!((scale(percent) - expected).abs() < f64::EPSILON, "{percent} % is a factor of {}", scale(percent));
        }
    }
}
