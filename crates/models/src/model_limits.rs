//! Options that some models reject although their API has them, derived from the model's name. Newer models of a family
//! are treated like the newest known one, as providers have not restored a removed option so far.

/// A version number in a model's name, as major and minor.
type ModelVersion = (u32, u32);

/// Condition under which an OpenAI reasoning model supports tools in the chat completions API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolSupport {
    /// Tools are supported with any reasoning effort.
    Thinking,
    /// Tools are supported only in requests that set no reasoning effort.
    NoEffort,
    /// Tools are supported only in requests that set the reasoning effort `none`. Without an effort, the model would
    /// reason.
    EffortNone,
}

/// Returns the tool support of an OpenAI reasoning model, or `None` for other models. Reasoning models support neither
/// a temperature nor stop sequences. <https://platform.openai.com/docs/guides/reasoning>
pub(crate) fn openai_tool_support(id: &str) -> Option<ToolSupport> {
    if id.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Some(ToolSupport::Thinking);
    }
    let name = id.strip_prefix("gpt-")?;
    // Azure writes 3.5 as "35", and the first chat model of the family doesn't think.
    if name.starts_with("35") || name.starts_with("5-chat") {
        return None;
    }
    let (major, rest) = split_leading_number(name)?;
    let minor = rest.strip_prefix('.').and_then(split_leading_number).map_or(0, |(minor, _)| minor);
    match (major, minor) {
        version if version < (5, 0) => None,
        version if version < (5, 2) => Some(ToolSupport::Thinking),
        version if version < (5, 6) => Some(ToolSupport::NoEffort),
        _ => Some(ToolSupport::EffortNone),
    }
}

/// Returns `true` if an Anthropic model supports a sampling temperature.
/// <https://platform.claude.com/docs/en/about-claude/models/migration-guide>
pub(crate) fn anthropic_supports_temperature(id: &str) -> bool {
    const LAST_VERSION_WITH_TEMPERATURE: ModelVersion = (4, 6);
    let Some((_, name)) = id.split_once("claude-") else { return true };
    // `sonnet-4-20250514`, `3-5-haiku-latest`: a number of more than two digits is a date.
    let words = name.split('-').map(|word| word.parse::<u32>().ok().filter(|_| word.len() <= 2));
    let mut numbers = words.skip_while(Option::is_none).map_while(|number| number);
    let version = numbers.next().map(|major| (major, numbers.next().unwrap_or(0)));
    version.is_none_or(|version| version <= LAST_VERSION_WITH_TEMPERATURE)
}

/// Returns the number at the beginning of a text, and the text after it. `None` if there is none.
fn split_leading_number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openai_models_are_classified_by_tool_support() {
        let cases = [
            ("gpt-4o-mini", None),
            ("gpt-4.1", None),
            ("gpt-4-0613", None),
            ("gpt-35-turbo", None),
            ("gpt-oss-120b", None),
            ("gpt-5-chat-latest", None),
            ("omni-moderation-latest", None),
            ("o3", Some(ToolSupport::Thinking)),
            ("o4-mini-2025-04-16", Some(ToolSupport::Thinking)),
            ("gpt-5-2025-08-07", Some(ToolSupport::Thinking)),
            ("gpt-5-mini", Some(ToolSupport::Thinking)),
            ("gpt-5.1", Some(ToolSupport::Thinking)),
            ("gpt-5.4-nano", Some(ToolSupport::NoEffort)),
            ("gpt-5.5", Some(ToolSupport::NoEffort)),
            ("gpt-5.6", Some(ToolSupport::EffortNone)),
            ("gpt-5.6-terra", Some(ToolSupport::EffortNone)),
            ("gpt-5.10", Some(ToolSupport::EffortNone)),
            ("gpt-6-sol", Some(ToolSupport::EffortNone)),
            ("gpt-6.1-terra", Some(ToolSupport::EffortNone)),
            ("gpt-7", Some(ToolSupport::EffortNone)),
        ];
        for (id, expected) in cases {
            assert_eq!(openai_tool_support(id), expected, "tool support of {id}");
        }
    }

    #[test]
    fn anthropic_models_are_classified_by_temperature_support() {
        let cases = [
            ("claude-3-5-haiku-latest", true),
            ("claude-3-7-sonnet-20250219", true),
            ("claude-sonnet-4-20250514", true),
            ("claude-haiku-4-5-20251001", true),
            ("claude-opus-4-6", true),
            ("some-other-model", true),
            ("claude-opus-4-7", false),
            ("claude-opus-4-8", false),
            ("claude-opus-5", false),
            ("claude-sonnet-5", false),
            ("claude-sonnet-5-5-20260901", false),
            ("claude-fable-5", false),
            ("claude-fable-5-1", false),
            ("anthropic/claude-haiku-5-5", false),
        ];
        for (id, expected) in cases {
            assert_eq!(anthropic_supports_temperature(id), expected, "temperature support of {id}");
        }
    }
}
