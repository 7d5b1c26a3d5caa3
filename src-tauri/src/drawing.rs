//! How the window draws. On Linux WebKit draws with OpenGL. Where no graphics card is at hand, as in a virtual machine or over
//! a remote desktop, that is emulated, and every new shape (a shadow, a rounded corner) first costs a compiler run: the first
//! view and each question come a second late. Drawn without OpenGL they come at once.

use tauri::{Runtime, WebviewWindow};

/// Has the window draw in the way that is fast on this machine. To be called before its page is drawn.
///
/// # Errors
/// If the window is gone already.
#[cfg(target_os = "linux")]
pub(crate) fn suit_the_machine<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
    use webkit2gtk::{HardwareAccelerationPolicy, SettingsExt as _, WebViewExt as _};

    // WebDriver's pictures wait for a drawing that WebKit reports only with OpenGL.
    let driven = std::env::var_os("TAURI_WEBVIEW_AUTOMATION").is_some();
    if driven || has_graphics_card(std::path::Path::new("/dev/dri")) {
        return Ok(());
    }
    window.with_webview(|webview| {
        if let Some(settings) = webview.inner().settings() {
            settings.set_hardware_acceleration_policy(HardwareAccelerationPolicy::Never);
        }
    })
}

/// The other systems' web views see to it themselves.
#[cfg(not(target_os = "linux"))]
pub(crate) fn suit_the_machine<R: Runtime>(_: &WebviewWindow<R>) -> tauri::Result<()> {
    Ok(())
}

/// Whether the kernel offers a graphics card to draw with: it does so as "render nodes" beside those for screens.
#[cfg(target_os = "linux")]
fn has_graphics_card(devices: &std::path::Path) -> bool {
    let Ok(entries) = std::fs::read_dir(devices) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("renderD"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_graphics_card_is_a_render_node() {
        let devices = tempfile::tempdir().expect("a folder");
        assert!(!has_graphics_card(&devices.path().join("dri")), "no folder, no card");
        std::fs::write(devices.path().join("card0"), "").expect("a file");
        assert!(!has_graphics_card(devices.path()), "a screen alone draws nothing");
        std::fs::write(devices.path().join("renderD128"), "").expect("a file");
        assert!(has_graphics_card(devices.path()), "a render node is a card");
    }
}
