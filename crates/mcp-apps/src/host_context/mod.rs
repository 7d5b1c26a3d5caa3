//! Information about the host that a page receives: appearance, size, language and platform.

mod styles;
mod tool_info;

pub use styles::{STYLE_VARIABLES, StyleVariables, StyleVariablesError};
pub use tool_info::ToolInfo;

use mcp_proto::types::Map;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::display_mode::DisplayMode;

/// Color theme of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppTheme"))]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Dark text on light surfaces.
    Light,
    /// Light text on dark surfaces.
    Dark,
}

/// Kind of device that the host runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HostPlatform {
    /// The host is a page in a browser.
    Web,
    /// The host is a desktop app.
    Desktop,
    /// The host is an app on a phone or tablet.
    Mobile,
}

/// Extent of a view's container along one axis, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContainerAxisSize {
    /// The host sets the extent.
    Fixed(u32),
    /// The app page chooses the extent, up to this maximum.
    UpTo(u32),
    /// The app page chooses the extent, without a maximum.
    #[default]
    Unbounded,
}

/// Extent of the container of a view along both axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContainerSize {
    /// Horizontal extent of the container.
    pub width: ContainerAxisSize,
    /// Vertical extent of the container.
    pub height: ContainerAxisSize,
}

/// Input devices of the computer, as reported to an app in `deviceCapabilities` of the host context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct InputDevices {
    /// Set if the computer has a touch screen.
    pub touch: bool,
    /// Set if the computer has a pointing device that can hover over elements, such as a mouse.
    pub hover: bool,
}

/// Information about the host for one app page. `None` members are not reported to the page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostContext {
    /// Tool call that the view belongs to.
    pub tool: Option<ToolInfo>,
    /// Color theme of the host.
    pub theme: Option<Theme>,
    /// Style variables that adapt the app page to the host. Not reported if empty.
    pub styles: StyleVariables,
    /// CSS that loads fonts: `@font-face` and `@import` rules.
    pub fonts: Option<String>,
    /// Mode in which the view is displayed.
    pub display_mode: DisplayMode,
    /// Modes in which the host can display the view.
    pub available_display_modes: Vec<DisplayMode>,
    /// Extent of the container of the view.
    pub container: ContainerSize,
    /// Language and region as a BCP 47 tag, such as `en-US`.
    pub locale: Option<String>,
    /// Time zone by its IANA name, such as `Europe/Berlin`.
    pub time_zone: Option<String>,
    /// Name of the host.
    pub user_agent: Option<String>,
    /// Kind of device that the host runs on.
    pub platform: Option<HostPlatform>,
    /// Input devices of the computer.
    pub input_devices: Option<InputDevices>,
}

impl HostContext {
    /// Returns the context as a JSON object, the `hostContext` of the response to `ui/initialize`.
    #[must_use]
    pub fn to_map(&self) -> Map {
        let mut styles = Map::new();
        if !self.styles.is_empty() {
            styles.insert("variables".into(), self.styles.to_value());
        }
        if let Some(fonts) = &self.fonts {
            styles.insert("css".into(), json!({ "fonts": fonts }));
        }
        let modes = (!self.available_display_modes.is_empty()).then(|| json!(self.available_display_modes));
        let members = [
            ("toolInfo", self.tool.as_ref().map(ToolInfo::to_value)),
            ("theme", self.theme.map(|theme| json!(theme))),
            ("styles", (!styles.is_empty()).then_some(Value::Object(styles))),
            ("displayMode", Some(json!(self.display_mode))),
            ("availableDisplayModes", modes),
            ("containerDimensions", self.container.to_value()),
            ("locale", self.locale.as_ref().map(|locale| json!(locale))),
            ("timeZone", self.time_zone.as_ref().map(|zone| json!(zone))),
            ("userAgent", self.user_agent.as_ref().map(|agent| json!(agent))),
            ("platform", self.platform.map(|platform| json!(platform))),
            ("deviceCapabilities", self.input_devices.map(|devices| json!(devices))),
        ];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

impl ContainerSize {
    fn to_value(self) -> Option<Value> {
        let mut members = Map::new();
        for (axis, fixed, maximum) in [(self.width, "width", "maxWidth"), (self.height, "height", "maxHeight")] {
            match axis {
                ContainerAxisSize::Fixed(pixels) => members.insert(fixed.into(), json!(pixels)),
                ContainerAxisSize::UpTo(pixels) => members.insert(maximum.into(), json!(pixels)),
                ContainerAxisSize::Unbounded => None,
            };
        }
        (!members.is_empty()).then_some(Value::Object(members))
    }
}

/// Returns the members of `new` that differ from `old`. Members that only `old` has are not included, since the
/// protocol can't report a removal.
pub(crate) fn changed_context_members(old: &Map, new: &Map) -> Map {
    let changed = new.iter().filter(|(name, value)| old.get(name.as_str()) != Some(*value));
    changed.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_context_members_are_omitted() {
        assert_eq!(Value::Object(HostContext::default().to_map()), json!({ "displayMode": "inline" }));
    }

    #[test]
    fn container_size_is_reported_per_axis() {
        let context = HostContext {
            theme: Some(Theme::Dark),
            container: ContainerSize { width: ContainerAxisSize::Fixed(640), height: ContainerAxisSize::UpTo(800) },
            available_display_modes: vec![DisplayMode::Inline, DisplayMode::Fullscreen],
            platform: Some(HostPlatform::Desktop),
            input_devices: Some(InputDevices { touch: false, hover: true }),
            fonts: Some("@import url(a.css)".into()),
            ..HostContext::default()
        };
        let expected = json!({
            "theme": "dark",
            "styles": { "css": { "fonts": "@import url(a.css)" } },
            "displayMode": "inline",
            "availableDisplayModes": ["inline", "fullscreen"],
            "containerDimensions": { "width": 640, "maxHeight": 800 },
            "platform": "desktop",
            "deviceCapabilities": { "touch": false, "hover": true },
        });
        assert_eq!(Value::Object(context.to_map()), expected);
    }

    #[test]
    fn only_changed_context_members_are_reported() {
        let light = HostContext { theme: Some(Theme::Light), locale: Some("en".into()), ..HostContext::default() };
        let dark = HostContext { theme: Some(Theme::Dark), ..light.clone() };
        assert_eq!(Value::Object(changed_context_members(&light.to_map(), &dark.to_map())), json!({ "theme": "dark" }));
        assert!(changed_context_members(&light.to_map(), &light.to_map()).is_empty());
    }
}
