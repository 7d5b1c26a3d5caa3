//! Selects how the web view draws: with or without OpenGL.
//!
//! On Linux WebKit draws with OpenGL. Without a graphics card, as in a virtual machine or over a remote desktop, OpenGL
//! is emulated. Each new kind of shape, such as a shadow or a rounded corner, then requires a shader compilation, which
//! delays the first view and each consent request by a second. Drawing without OpenGL has no such delay.

use tauri::{Runtime, WebviewWindow};

/// Lets the web view draw without OpenGL if this computer has no graphics card. Must be called before the page is
/// drawn.
///
/// # Errors
/// Returns an error if the window is already closed.
#[cfg(target_os = "linux")]
pub(crate) fn select_rendering_method<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
    use webkit2gtk::{HardwareAccelerationPolicy, SettingsExt as _, WebViewExt as _};

    // Screenshots by WebDriver wait for a draw event that WebKit emits only with OpenGL.
    let driven = std::env::var_os("TAURI_WEBVIEW_AUTOMATION").is_some();
    if driven || has_graphics_render_node(std::path::Path::new("/dev/dri")) {
        return Ok(());
    }
    window.with_webview(|webview| {
        if let Some(settings) = webview.inner().settings() {
            settings.set_hardware_acceleration_policy(HardwareAccelerationPolicy::Never);
        }
    })
}

/// Does nothing, because the web views of macOS and Windows select the drawing method themselves.
#[cfg(not(target_os = "linux"))]
pub(crate) fn select_rendering_method<R: Runtime>(_: &WebviewWindow<R>) -> tauri::Result<()> {
    Ok(())
}

/// Returns `true` if a graphics card is available for drawing, for which the kernel has a render node in the folder
/// `devices`.
#[cfg(target_os = "linux")]
fn has_graphics_render_node(devices: &std::path::Path) -> bool {
    let Ok(entries) = std::fs::read_dir(devices) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("renderD"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn graphics_card_is_detected_by_its_render_node() {
        let devices = tempfile::tempdir().expect("a folder");
        assert!(!has_graphics_render_node(&devices.path().join("dri")), "without the folder there is no graphics card");
        std::fs::write(devices.path().join("card0"), "").expect("a file");
        assert!(!has_graphics_render_node(devices.path()), "a node for a screen is not sufficient");
        std::fs::write(devices.path().join("renderD128"), "").expect("a file");
        assert!(has_graphics_render_node(devices.path()), "a render node should be detected");
    }
}
