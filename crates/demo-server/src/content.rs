//! Images, audio and texts that the server returns.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::Icon;

/// PNG image of a sea chart, 320 by 200 pixels.
pub(crate) const CHART_PNG: &[u8] = include_bytes!("../assets/chart.png");
/// WAV recording of a ship's bell, 0.8 seconds long.
pub(crate) const BELL_WAV: &[u8] = include_bytes!("../assets/bell.wav");
const ANCHOR_PNG: &[u8] = include_bytes!("../assets/anchor.png");

/// Text that introduces the server to new users.
pub(crate) const WELCOME_TEXT: &str = "Welcome to the harbour.\n\n\
    Try the tool \"add\" first, then \"show_everything\". \
    \"ask_user\" and \"ask_model\" show how a server asks you back. \
    \"show_board\" shows its result as an app.\n";

/// Content of the resource `guide.md`, in Markdown.
pub(crate) const GUIDE_TEXT: &str = include_str!("../assets/guide.md");

/// Encodes bytes as Base64, as the protocol requires.
pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// Returns the server's icon as a `data:` URL, so that no download is needed.
pub(crate) fn anchor_icon() -> Icon {
    Icon::new(format!("data:image/png;base64,{}", encode_base64(ANCHOR_PNG)))
        .with_mime_type("image/png")
        .with_sizes(vec!["48x48".to_owned()])
}

/// Returns the current time in UTC, formatted by RFC 3339 with a resolution of one second.
pub(crate) fn current_time_text() -> String {
    chrono::Utc::now().format("%Y-%m-%dT%H:%M:%SZ").to_string()
}
