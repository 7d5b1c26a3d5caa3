//! The language of what the system shows for the app: notifications and the tray. The page has its own messages.

use std::env;

/// Whether the system's language is Chinese.
fn is_system_chinese() -> bool {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .filter_map(|name| env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_some_and(|value| value.starts_with("zh"))
}

/// Whether the app speaks Chinese with this language in its settings: `en`, `zh`, or what the system says.
pub(crate) fn is_chinese(language: &str) -> bool {
    match language {
        "zh" => true,
        "en" => false,
        _ => is_system_chinese(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_choose_the_language() {
        assert!(is_chinese("zh") && !is_chinese("en"), "whatever the system says");
        assert_eq!(is_chinese("system"), is_system_chinese(), "else as the system says");
    }
}
