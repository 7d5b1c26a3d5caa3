//! Settings of the app, paths of its files, and encryption at rest.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::exact_object::deserialize_exact_or_default;
use super::{ChatBounds, ServerLimits};

/// Settings of the app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Color theme of the page.
    pub theme: Theme,
    /// Language of the page.
    pub language: Language,
    /// `true` if the welcome was closed.
    pub welcome_done: bool,
    /// `true` if consent requests are announced by system notifications while the window is in the background.
    pub announce: bool,
    /// Limits of each server, or `None` for the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_exact_or_default")]
    #[ts(optional)]
    pub limits: Option<ServerLimits>,
    /// Retention of audit log entries in days, or 0 for unlimited.
    pub audit_days: u32,
    /// Maximum size of the audit log in megabytes, or 0 for unlimited.
    pub audit_megabytes: u32,
    /// `true` if the audit log stores payloads in addition to their hashes.
    pub audit_contents: bool,
    /// Bounds on the part of a conversation that a model receives, or `None` for the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_exact_or_default")]
    #[ts(optional)]
    pub chat: Option<ChatBounds>,
    /// Behavior when the window is closed while servers run.
    pub on_close: CloseAction,
    /// `true` if the app checks for updates automatically.
    pub check_updates: bool,
    /// Zoom of the page in percent, from [`MIN_ZOOM`] to [`MAX_ZOOM`].
    pub zoom: u16,
}

/// Minimum zoom of the page, in percent.
pub const MIN_ZOOM: u16 = 50;
/// Maximum zoom of the page, in percent.
pub const MAX_ZOOM: u16 = 200;

/// Behavior when the window is closed while servers run. The app quits if none runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CloseAction {
    /// Prompts the user for a choice.
    #[default]
    Ask,
    /// Hides the window and keeps the servers running.
    Background,
    /// Quits, which stops the servers.
    Quit,
}

/// Color theme of the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// Theme of the operating system.
    #[default]
    System,
    /// Theme with light colors.
    Light,
    /// Theme with dark colors.
    Dark,
}

/// Language of the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Language of the operating system.
    #[default]
    System,
    /// English, without a regional variant.
    En,
    /// Chinese in simplified characters.
    Zh,
}

/// Paths of Drawbridge's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Paths {
    /// Path of the settings file with the servers.
    pub config: String,
    /// Path of the folder with all other data.
    pub data: String,
    /// Path of the audit log.
    pub audit: String,
}

/// Encryption of conversations and of the audit log's contents on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ContentProtection {
    /// State of the conversations' contents.
    pub conversations: ContentAtRest,
    /// State of the payloads in the audit log.
    pub decisions: ContentAtRest,
}

/// Encryption state of contents on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ContentAtRest {
    /// Encrypted with a key in the system's keychain.
    Encrypted,
    /// Not encrypted, because the keychain provided no key.
    Plain,
    /// The contents can't be read.
    Unreadable {
        /// Cause and suggested remedy, for the user.
        cause: String,
    },
}
