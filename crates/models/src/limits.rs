//! What models refuse that their wires carry, as far as their names tell. Of a family's newer models the same is held as of the
//! newest that is known, since what providers took away they have not given back so far.

/// A version, as a model's name has it.
type Version = (u32, u32);

/// How a model of OpenAI that thinks takes tools in chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tools {
    /// As others do.
    Thinking,
    /// Only where no effort is given.
    NoEffort,
    /// Only where the effort is `none`; without a word it would think.
    EffortNone,
}

/// Whether a model of OpenAI is one of those that think, and how it takes tools then. Those that think take no temperature and no
/// texts that end the answer. <https://platform.openai.com/docs/guides/reasoning>
pub(crate) fn openai(id: &str) -> Option<Tools> {
    if id.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Some(Tools::Thinking);
    }
    let name = id.strip_prefix("gpt-")?;
    // 3.5 is "35" at Azure, and the first of "chat" does not think.
    if name.starts_with("35") || name.starts_with("5-chat") {
        return None;
    }
    let (major, rest) = number(name)?;
    let minor = rest.strip_prefix('.').and_then(number).map_or(0, |(minor, _)| minor);
    match (major, minor) {
        version if version < (5, 0) => None,
        version if version < (5, 2) => Some(Tools::Thinking),
        version if version < (5, 6) => Some(Tools::NoEffort),
        _ => Some(Tools::EffortNone),
    }
}

/// Whether a model of Anthropic takes a temperature. <https://platform.claude.com/docs/en/about-claude/models/migration-guide>
pub(crate) fn anthropic_takes_temperature(id: &str) -> bool {
    const LAST: Version = (4, 6);
    let Some((_, name)) = id.split_once("claude-") else { return true };
    // `sonnet-4-20250514`, `3-5-haiku-latest`: what is longer than two digits is a date.
    let words = name.split('-').map(|word| word.parse::<u32>().ok().filter(|_| word.len() <= 2));
    let mut numbers = words.skip_while(Option::is_none).map_while(|number| number);
    let version = numbers.next().map(|major| (major, numbers.next().unwrap_or(0)));
    version.is_none_or(|version| version <= LAST)
}

/// The number that a text begins with, and what follows.
fn number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_openai_are_told_apart() {
        let cases = [
            ("gpt-4o-mini", None),
            ("gpt-4.1", None),
            ("gpt-4-0613", None),
            ("gpt-35-turbo", None),
            ("gpt-oss-120b", None),
            ("gpt-5-chat-latest", None),
            ("omni-moderation-latest", None),
            ("o3", Some(Tools::Thinking)),
            ("o4-mini-2025-04-16", Some(Tools::Thinking)),
            ("gpt-5-2025-08-07", Some(Tools::Thinking)),
            ("gpt-5-mini", Some(Tools::Thinking)),
            ("gpt-5.1", Some(Tools::Thinking)),
            ("gpt-5.4-nano", Some(Tools::NoEffort)),
            ("gpt-5.5", Some(Tools::NoEffort)),
            ("gpt-5.6", Some(Tools::EffortNone)),
            ("gpt-5.6-terra", Some(Tools::EffortNone)),
            ("gpt-5.10", Some(Tools::EffortNone)),
            ("gpt-6-sol", Some(Tools::EffortNone)),
            ("gpt-6.1-terra", Some(Tools::EffortNone)),
            ("gpt-7", Some(Tools::EffortNone)),
        ];
        for (id, wanted) in cases {
            assert_eq!(openai(id), wanted, "how {id} takes tools");
        }
    }

    #[test]
    fn models_of_anthropic_are_told_apart() {
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
        for (id, wanted) in cases {
            assert_eq!(anthropic_takes_temperature(id), wanted, "whether {id} takes a temperature");
        }
    }
}
