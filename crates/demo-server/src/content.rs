//! The pictures, the sound and the texts that the server hands out.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::Icon;

/// A sea chart, 320 by 200 pixels.
pub(crate) const CHART_PNG: &[u8] = include_bytes!("../assets/chart.png");
/// A ship's bell, 0.8 seconds.
pub(crate) const BELL_WAV: &[u8] = include_bytes!("../assets/bell.wav");
const ANCHOR_PNG: &[u8] = include_bytes!("../assets/anchor.png");

/// The first text a newcomer reads.
pub(crate) const WELCOME: &str = "Welcome to the harbour.\n\n\
    Try the tool \"add\" first, then \"show_everything\". \
    \"ask_user\" and \"ask_model\" show how a server asks you back.\n";

/// The guide, in Markdown.
pub(crate) const GUIDE: &str = include_str!("../assets/guide.md");

/// Bytes as the protocol carries them.
pub(crate) fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The server's icon, inside the message itself so that nobody has to fetch it.
pub(crate) fn anchor() -> Icon {
    Icon::new(format!("data:image/png;base64,{}", base64(ANCHOR_PNG)))
        .with_mime_type("image/png")
        .with_sizes(vec!["48x48".to_owned()])
}

/// The time now, as RFC 3339 in UTC, to the second.
pub(crate) fn now() -> String {
    chrono::Utc::now().format("%Y-%m-%dT%H:%M:%SZ").to_string()
}
