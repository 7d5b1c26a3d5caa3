//! Compiled matchers of a single argument value.

use serde_json::Value;

use crate::address::AddressPattern;
use crate::folder::{Folder, Lies};
use crate::number::Range;
use crate::path::{PathFacts, PathPattern, normal_path};
use crate::pattern::{Glob, expression};
use crate::spelling::{address, spellings};
use crate::text::{GlobOn, RegexOn};
use crate::verdict::{JudgedReason, Verdict};
use crate::{ArgumentIs, Effect, RuleError};

/// Maximum length of a string that is checked, in bytes. Longer strings are reported as doubtful.
const MAX_JUDGED: usize = 64 * 1024;
/// Maximum number of normalized forms that are shown per value.
const MAX_SHOWN: usize = 4;

#[derive(Debug, Clone)]
pub(crate) enum Matcher {
    Glob(GlobOn),
    Regex(RegexOn),
    Folder(Folder),
    Path(PathPattern),
    Address(AddressPattern),
    Number(Range),
}

impl Matcher {
    pub(crate) fn compile(is: &ArgumentIs, effect: Effect) -> Result<Self, RuleError> {
        Ok(match is {
            ArgumentIs::Glob(glob) => Self::Glob(GlobOn::compile(glob)?),
            ArgumentIs::Regex(regex) => Self::Regex(RegexOn {
                expression: expression(regex, effect == Effect::Allow)?,
                of_paths: regex.contains(['/', '\\']),
            }),
            ArgumentIs::Folder(folder) => Self::Folder(Folder::compile(folder)?),
            ArgumentIs::Path(path) => Self::Path(PathPattern::compile(path)?),
            ArgumentIs::Address(address) => Self::Address(AddressPattern::compile(address)?),
            ArgumentIs::Number(range) => Self::Number(Range::compile(range)?),
        })
    }

    /// Checks a value that is not a list.
    pub(crate) fn judge(&self, value: &Value, facts: &PathFacts) -> Verdict {
        match (self, value) {
            (_, Value::String(text)) if text.len() > MAX_JUDGED => Verdict::Doubtful(JudgedReason::TooLong),
            (Self::Number(range), value) => range.judge(value),
            (_, Value::Array(_) | Value::Object(_)) => Verdict::Doubtful(JudgedReason::NotJudged),
            (_, Value::Null) => Verdict::Differs(JudgedReason::Missing),
            (_, Value::String(text)) => self.judge_text(text, facts),
            (_, Value::Bool(value)) => self.judge_word(if *value { "true" } else { "false" }),
            (_, Value::Number(number)) => match self.judge_word(&number.to_string()) {
                Verdict::Differs(_) if self.is_number(number) => Verdict::Doubtful(JudgedReason::Respelled),
                verdict => verdict,
            },
        }
    }

    pub(crate) fn judge_text(&self, text: &str, facts: &PathFacts) -> Verdict {
        match self {
            Self::Glob(glob) => glob.judge(text),
            Self::Regex(regex) => regex.judge(text),
            Self::Folder(folder) => match folder.lies(text) {
                Lies::Inside => Verdict::Fits,
                Lies::Outside => Verdict::Differs(JudgedReason::Differs),
                Lies::PerhapsInside => Verdict::Doubtful(JudgedReason::Letters),
                Lies::Unclear => Verdict::Doubtful(JudgedReason::NotWhole),
            },
            Self::Path(path) => path.judge(text, facts),
            Self::Address(address) => address.judge(text),
            Self::Number(_) => Verdict::Differs(JudgedReason::NotNumber),
        }
    }

    /// Checks a number or Boolean by its JSON text. It is never a path or an address.
    fn judge_word(&self, word: &str) -> Verdict {
        let fits = match self {
            Self::Glob(glob) => glob.glob().fits(word),
            Self::Regex(regex) => regex.expression.is_match(word),
            Self::Folder(_) | Self::Path(_) | Self::Address(_) | Self::Number(_) => false,
        };
        if fits { Verdict::Fits } else { Verdict::Differs(JudgedReason::Differs) }
    }

    /// Returns `true` if the glob is a literal with the same numeric value, in any notation: `1000` is `1e3`.
    fn is_number(&self, number: &serde_json::Number) -> bool {
        let Self::Glob(glob) = self else { return false };
        let Glob::Exactly(own) = glob.glob() else { return false };
        own.parse::<f64>().ok().zip(number.as_f64()).is_some_and(|(own, number)| own.total_cmp(&number).is_eq())
    }

    /// Returns the literal beginning of a path pattern, whose symbolic links must be resolved.
    pub(crate) fn beginning(&self) -> Option<&str> {
        match self {
            Self::Path(path) => Some(&path.beginning),
            _ => None,
        }
    }

    /// Returns the normalized forms of a value for display, where they differ from the value as written.
    pub(crate) fn normal(&self, value: &Value, facts: &PathFacts) -> Vec<String> {
        let Value::String(text) = value else { return Vec::new() };
        let mut shown: Vec<String> = match self {
            _ if text.len() > MAX_JUDGED => Vec::new(),
            Self::Path(_) => normal_path(text, facts),
            Self::Address(_) => address(text).map(|url| url.to_string()).into_iter().collect(),
            Self::Folder(_) => normal_path(text, &PathFacts::Elsewhere),
            Self::Glob(_) | Self::Regex(_) => match address(text) {
                Some(url) => vec![url.to_string()],
                None if text.contains(['/', '\\']) => vec![crate::spelling::normal_path(text)],
                None => spellings(text).into_iter().filter(|_| text.contains('%')).collect(),
            },
            Self::Number(_) => Vec::new(),
        };
        shown.retain(|spelling| spelling != text);
        shown.truncate(MAX_SHOWN);
        shown
    }
}
