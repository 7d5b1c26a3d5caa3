//! Compiled matchers of a single argument value.

use serde_json::Value;

use crate::address::AddressPattern;
use crate::folder_path::{FolderPath, PathContainment};
use crate::match_verdict::{JudgementReason, MatchVerdict};
use crate::number_range::NumberRange;
use crate::path_pattern::{PathPattern, ResolvedPaths, normalized_path_spellings};
use crate::pattern::{GlobPattern, compile_regex};
use crate::spelling::{alternative_spellings, parse_as_url};
use crate::text_pattern::{TextGlob, TextRegex};
use crate::{ArgumentPattern, RuleEffect, RuleError};

/// Maximum length in bytes of an argument's string that is checked. Longer strings are doubtful.
const MAX_CHECKED_STRING_BYTES: usize = 64 * 1024;
/// Maximum number of normalized forms of an argument's value that are shown.
const MAX_EXPLAINED_NORMALIZED_VALUES: usize = 4;

/// Compiled condition on the value of one argument.
#[derive(Debug, Clone)]
pub(crate) enum ArgumentMatcher {
    Glob(TextGlob),
    Regex(TextRegex),
    Folder(FolderPath),
    Path(PathPattern),
    Address(AddressPattern),
    Number(NumberRange),
}

impl ArgumentMatcher {
    pub(crate) fn compile(is: &ArgumentPattern, effect: RuleEffect) -> Result<Self, RuleError> {
        Ok(match is {
            ArgumentPattern::Glob(glob) => Self::Glob(TextGlob::compile(glob)?),
            ArgumentPattern::Regex(regex) => Self::Regex(TextRegex {
                expression: compile_regex(regex, effect == RuleEffect::Allow)?,
                is_for_paths: regex.contains(['/', '\\']),
            }),
            ArgumentPattern::Folder(folder) => Self::Folder(FolderPath::compile(folder)?),
            ArgumentPattern::Path(path) => Self::Path(PathPattern::compile(path)?),
            ArgumentPattern::Address(address) => Self::Address(AddressPattern::compile(address)?),
            ArgumentPattern::Number(range) => Self::Number(NumberRange::compile(range)?),
        })
    }

    /// Compares an argument's value that is not a list with the pattern.
    pub(crate) fn judge(&self, value: &Value, facts: &ResolvedPaths) -> MatchVerdict {
        match (self, value) {
            (_, Value::String(text)) if text.len() > MAX_CHECKED_STRING_BYTES => {
                MatchVerdict::Doubtful(JudgementReason::TooLong)
            }
            (Self::Number(range), value) => range.judge(value),
            (_, Value::Array(_) | Value::Object(_)) => MatchVerdict::Doubtful(JudgementReason::NotJudged),
            (_, Value::Null) => MatchVerdict::Differs(JudgementReason::Missing),
            (_, Value::String(text)) => self.judge_text(text, facts),
            (_, Value::Bool(value)) => self.judge_json_literal(if *value { "true" } else { "false" }),
            (_, Value::Number(number)) => match self.judge_json_literal(&number.to_string()) {
                MatchVerdict::Differs(_) if self.is_number_literal(number) => {
                    MatchVerdict::Doubtful(JudgementReason::Respelled)
                }
                verdict => verdict,
            },
        }
    }

    pub(crate) fn judge_text(&self, text: &str, facts: &ResolvedPaths) -> MatchVerdict {
        match self {
            Self::Glob(glob) => glob.judge(text),
            Self::Regex(regex) => regex.judge(text),
            Self::Folder(folder) => match folder.containment(text) {
                PathContainment::Inside => MatchVerdict::Fits,
                PathContainment::Outside => MatchVerdict::Differs(JudgementReason::Differs),
                PathContainment::PerhapsInside => MatchVerdict::Doubtful(JudgementReason::Letters),
                PathContainment::Unclear => MatchVerdict::Doubtful(JudgementReason::NotWhole),
            },
            Self::Path(path) => path.judge(text, facts),
            Self::Address(address) => address.judge(text),
            Self::Number(_) => MatchVerdict::Differs(JudgementReason::NotNumber),
        }
    }

    /// Checks a number or Boolean by its JSON text, which is never a path or an address.
    fn judge_json_literal(&self, word: &str) -> MatchVerdict {
        let fits = match self {
            Self::Glob(glob) => glob.glob().matches(word),
            Self::Regex(regex) => regex.expression.is_match(word),
            Self::Folder(_) | Self::Path(_) | Self::Address(_) | Self::Number(_) => false,
        };
        if fits { MatchVerdict::Fits } else { MatchVerdict::Differs(JudgementReason::Differs) }
    }

    /// Returns `true` if the glob is a literal with the same numeric value in any notation: `1000` is `1e3`.
    fn is_number_literal(&self, number: &serde_json::Number) -> bool {
        let Self::Glob(glob) = self else { return false };
        let GlobPattern::Exactly(own) = glob.glob() else { return false };
        own.parse::<f64>().ok().zip(number.as_f64()).is_some_and(|(own, number)| own.total_cmp(&number).is_eq())
    }

    /// Returns the literal beginning of a path pattern, whose symbolic links must be resolved, or `None`.
    pub(crate) fn literal_prefix(&self) -> Option<&str> {
        match self {
            Self::Path(path) => Some(&path.beginning),
            _ => None,
        }
    }

    /// Returns the normalized forms of a value for display, where they differ from the value as written.
    pub(crate) fn normalized_values(&self, value: &Value, facts: &ResolvedPaths) -> Vec<String> {
        let Value::String(text) = value else { return Vec::new() };
        let mut shown: Vec<String> = match self {
            _ if text.len() > MAX_CHECKED_STRING_BYTES => Vec::new(),
            Self::Path(_) => normalized_path_spellings(text, facts),
            Self::Address(_) => parse_as_url(text).map(|url| url.to_string()).into_iter().collect(),
            Self::Folder(_) => normalized_path_spellings(text, &ResolvedPaths::Elsewhere),
            Self::Glob(_) | Self::Regex(_) => match parse_as_url(text) {
                Some(url) => vec![url.to_string()],
                None if text.contains(['/', '\\']) => vec![crate::spelling::normalize_path(text)],
                None => alternative_spellings(text).into_iter().filter(|_| text.contains('%')).collect(),
            },
            Self::Number(_) => Vec::new(),
        };
        shown.retain(|spelling| spelling != text);
        shown.truncate(MAX_EXPLAINED_NORMALIZED_VALUES);
        shown
    }
}
