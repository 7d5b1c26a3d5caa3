//! The app's own settings.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::whole::whole_or_none;
use super::{ChatBounds, Limits};

/// The app's own settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Light or dark.
    pub theme: Theme,
    /// The language.
    pub language: Language,
    /// Whether the welcome was closed.
    pub welcome_done: bool,
    /// Whether the system announces a question while the window is in the background.
    pub announce: bool,
    /// How much each server gets; none for what Drawbridge has set.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole_or_none")]
    #[ts(optional)]
    pub limits: Option<Limits>,
    /// For how many days decisions stay in the audit log; 0 for ever.
    pub audit_days: u32,
    /// How many megabytes the audit log may have; 0 for no bound.
    pub audit_megabytes: u32,
    /// Whether the audit log has what crossed, and not only its hash.
    pub audit_contents: bool,
    /// How much of a conversation a model gets; none for what Drawbridge has set.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole_or_none")]
    #[ts(optional)]
    pub chat: Option<ChatBounds>,
    /// What closing the window does while servers run.
    pub on_close: OnClose,
    /// Whether the app looks for newer versions of itself without being told to.
    pub check_updates: bool,
    /// How large the page is drawn, in percent; from [`LEAST_ZOOM`] to [`MOST_ZOOM`].
    pub zoom: u16,
}

/// The smallest that the page is drawn, in percent.
pub const LEAST_ZOOM: u16 = 50;
/// The largest that the page is drawn, in percent.
pub const MOST_ZOOM: u16 = 200;

/// What closing the window does while servers run. Without a running server it quits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OnClose {
    /// Asks the user.
    #[default]
    Ask,
    /// Hides the window; the servers run on.
    Background,
    /// Quits, which ends the servers.
    Quit,
}

/// Light or dark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system says.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// The language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// As the system says.
    #[default]
    System,
    /// English.
    En,
    /// Simplified Chinese.
    Zh,
}

/// Where things lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Paths {
    /// The settings file with the servers.
    pub config: String,
    /// The folder with all else.
    pub data: String,
    /// The audit log.
    pub audit: String,
}

/// How conversations and contents of the audit log stand on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ContentProtection {
    /// What is said in conversations.
    pub conversations: ContentAtRest,
    /// What crossed, as the audit log has it.
    pub decisions: ContentAtRest,
}

/// How contents stand on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ContentAtRest {
    /// Encrypted, with a key in the system's keychain.
    Encrypted,
    /// Not encrypted, as the keychain gave no key.
    Plain,
    /// They can't be read.
    Unreadable {
        /// Why, and what to do.
        cause: String,
    },
}
