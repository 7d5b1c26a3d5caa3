//! Zoom of the page.
//!
//! The web view's zoom scales text, images and the widths in media queries alike, as in a browser. The setting is
//! stored by the host, and the page applies it when it loads and after each change.

use api::data::{MAX_ZOOM, MIN_ZOOM};
use tauri::{Runtime, Webview};

/// Command that sets the zoom of the page, in percent, clamped to the permitted range.
///
/// # Errors
/// Returns a message if the window is already closed.
#[tauri::command]
pub(crate) fn set_zoom<R: Runtime>(webview: Webview<R>, percent: u16) -> Result<(), String> {
    webview.set_zoom(zoom_scale(percent)).map_err(|error| error.to_string())
}

fn zoom_scale(percent: u16) -> f64 {
    f64::from(percent.clamp(MIN_ZOOM, MAX_ZOOM)) / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e11_zoom_is_limited_to_a_usable_range() {
        for (percent, expected) in [(0, 0.5), (50, 0.5), (110, 1.1), (200, 2.0), (u16::MAX, 2.0)] {
            assert!(
                (zoom_scale(percent) - expected).abs() < f64::EPSILON,
                "{percent} % is a factor of {}",
                zoom_scale(percent)
            );
        }
    }
}
