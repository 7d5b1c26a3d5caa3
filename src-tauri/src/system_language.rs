//! Language of notifications and the tray menu. The page has separate translations.

/// Returns `true` if the system's language is Chinese.
fn is_system_language_chinese() -> bool {
    system_language().is_some_and(|language| language.starts_with("zh"))
}

/// Returns the language of messages, as the environment variables of this process set it.
#[cfg(target_os = "linux")]
fn system_language() -> Option<String> {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
}

/// Returns the user's first language in the system's settings. macOS and Windows set no environment variable to it.
#[cfg(not(target_os = "linux"))]
fn system_language() -> Option<String> {
    sys_locale::get_locale()
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
