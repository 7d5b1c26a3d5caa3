//! Language of notifications and the tray menu. The page has separate translations.

use std::env;

/// Returns `true` if the system's language is Chinese.
fn is_system_language_chinese() -> bool {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .filter_map(|name| env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_some_and(|value| value.starts_with("zh"))
}

/// Returns `true` if Drawbridge's language is Chinese for this value of the language setting: `zh`, or any value other
/// than `en` and `zh` if the system's language is Chinese.
pub(crate) fn is_chinese(language: &str) -> bool {
    match language {
        "zh" => true,
        "en" => false,
        _ => is_system_language_chinese(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_setting_selects_the_language() {
        assert!(is_chinese("zh") && !is_chinese("en"), "the setting should take precedence over the system");
        assert_eq!(is_chinese("system"), is_system_language_chinese(), "the language of the system should be used");
    }
}
