//! Appearance and place of a shown app, as the page of Drawbridge reports them. Used by `AppViews::open` and
//! `AppViews::change_context`.

use std::collections::BTreeMap;

use mcp_apps::{
    ContainerAxisSize, ContainerSize, DisplayMode, HostContext, HostPlatform, InputDevices, StyleVariables, Theme,
};
use mcp_apps::{ToolInfo, limits};
use serde::{Deserialize, Serialize};

/// Name and version of Drawbridge, which apps receive as the name of their host.
const USER_AGENT: &str = concat!("drawbridge/", env!("CARGO_PKG_VERSION"));

/// Appearance and surroundings of a shown app: theme, display mode, size, locale and input devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AppContext {
    /// Color theme of the window.
    pub theme: Theme,
    /// Standard style variables with their CSS values: all colors or none.
    pub styles: BTreeMap<String, String>,
    /// Mode in which the app is displayed, such as inline or fullscreen.
    pub display_mode: DisplayMode,
    /// Width of the frame, in CSS pixels.
    pub width: u32,
    /// Maximum height of the frame if the app is inline, and its height in other modes, in CSS pixels.
    pub height: u32,
    /// Language and region as a BCP 47 tag.
    pub locale: String,
    /// Time zone by its IANA name.
    pub time_zone: String,
    /// Set if the computer has a touch screen.
    pub touch: bool,
    /// Set if a pointer can hover.
    pub hover: bool,
}

impl AppContext {
    /// Converts this to the MCP Apps host context that an app receives. `tool` is the tool whose result the app shows.
    /// If one style variable is not standard, all of them are omitted.
    pub(crate) fn to_host_context(&self, tool: Option<ToolInfo>) -> HostContext {
        let styles = StyleVariables::new(self.styles.iter().map(|(name, value)| (name.as_str(), value.clone())));
        let styles = styles.inspect_err(|error| tracing::warn!(%error, "apps get no style variables"));
        let height = self.height.min(limits::MAX_VIEW_PIXELS);
        HostContext {
            tool,
            theme: Some(self.theme),
            styles: styles.unwrap_or_default(),
            display_mode: self.display_mode,
            available_display_modes: vec![DisplayMode::Inline, DisplayMode::Fullscreen, DisplayMode::Pip],
            container: ContainerSize {
                width: ContainerAxisSize::Fixed(self.width.min(limits::MAX_VIEW_PIXELS)),
                height: match self.display_mode {
                    DisplayMode::Inline => ContainerAxisSize::UpTo(height),
                    DisplayMode::Fullscreen | DisplayMode::Pip => ContainerAxisSize::Fixed(height),
                },
            },
            locale: Some(self.locale.clone()),
            time_zone: Some(self.time_zone.clone()),
            user_agent: Some(USER_AGENT.to_owned()),
            platform: Some(HostPlatform::Desktop),
            input_devices: Some(InputDevices { touch: self.touch, hover: self.hover }),
            ..HostContext::default()
        }
    }
}
