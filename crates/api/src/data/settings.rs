//! Settings of Drawbridge, paths of its files, and encryption at rest.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::complete_object::deserialize_object_with_all_members_or_null;
use super::{ChatBounds, ServerLimits};

/// Settings of Drawbridge that the user can change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Color theme of Drawbridge's page.
    pub theme: Theme,
    /// Language of Drawbridge's page and of its system notifications.
    pub language: Language,
    /// `true` if the user has closed the welcome screen.
    pub welcome_done: bool,
    /// `true` to show a system notification about each new consent request while Drawbridge's window is in the
    /// background.
    pub announce: bool,
    /// Limits for each server, or `None` for the defaults.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_object_with_all_members_or_null"
    )]
    #[ts(optional)]
    pub limits: Option<ServerLimits>,
    /// Time for which entries of the audit log are kept, in days, or 0 for an unlimited time.
    pub audit_days: u32,
    /// Maximum size of the audit log in megabytes, or 0 for unlimited.
    pub audit_megabytes: u32,
    /// `true` if the audit log stores payloads in addition to their hashes.
    pub audit_contents: bool,
    /// Limits on the content that a model receives, or `None` for the defaults.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_object_with_all_members_or_null"
    )]
    #[ts(optional)]
    pub chat: Option<ChatBounds>,
    /// Action of Drawbridge when the user closes its window while servers run.
    pub on_close: CloseAction,
    /// `true` if Drawbridge checks for newer versions of itself automatically.
    pub check_updates: bool,
    /// Zoom of Drawbridge's page in percent, from [`MIN_ZOOM`] to [`MAX_ZOOM`], where 100 is the normal size.
    pub zoom: u16,
    /// `true` to show a menu bar in each window. Has no effect on macOS, which always shows one.
    pub menu_bar: bool,
}

/// Settings of the windows. A window that shows a single conversation can change these settings only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WindowSettings {
    /// Zoom of Drawbridge's page in percent, from [`MIN_ZOOM`] to [`MAX_ZOOM`], where 100 is the normal size.
    pub zoom: u16,
    /// `true` to show a menu bar in each window. Has no effect on macOS, which always shows one.
    pub menu_bar: bool,
}

/// Minimum zoom of Drawbridge's page, in percent.
pub const MIN_ZOOM: u16 = 50;
/// Maximum zoom of Drawbridge's page, in percent.
pub const MAX_ZOOM: u16 = 200;

/// Action of Drawbridge when the user closes its window while servers run. Without running servers, Drawbridge quits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CloseAction {
    /// Shows a dialog in which the user chooses between the other two actions.
    #[default]
    Ask,
    /// Hides the window while the servers continue to run.
    Background,
    /// Quits Drawbridge, which stops the servers.
    Quit,
}

/// Color theme of Drawbridge's page.
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

/// Language of Drawbridge's page and of its system notifications.
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

/// Paths of the files that Drawbridge uses, for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct AppPaths {
    /// Path of the settings file with the servers.
    pub config: String,
    /// Path of the folder that contains all other files.
    pub data: String,
    /// Path of the file with the audit log.
    pub audit: String,
}

/// Encryption of stored conversations and audit log payloads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ContentProtection {
    /// Encryption state of the conversations' contents.
    pub conversations: ContentAtRest,
    /// Encryption state of the payloads that the audit log stores.
    pub decisions: ContentAtRest,
}

/// Encryption state of stored content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ContentAtRest {
    /// The content is encrypted with a key in the keychain.
    Encrypted,
    /// The content is not encrypted, because the keychain provided no key.
    Plain,
    /// The content can't be decrypted or read.
    Unreadable {
        /// Cause and suggested remedy, for the user.
        cause: String,
    },
}
