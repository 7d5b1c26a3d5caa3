//! Results of comparing a value with a condition, and their reasons.

use serde::{Deserialize, Serialize};

/// Result of comparing an argument's value with the condition of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchVerdict {
    /// The value matches in every way in which programs may parse it.
    Fits,
    /// The value doesn't match in any form in which programs parse it. Contains the reason.
    Differs(JudgementReason),
    /// Programs may parse the value differently, so it may match. A rule that denies or asks then applies, and a rule
    /// that allows doesn't.
    Doubtful(JudgementReason),
}

impl MatchVerdict {
    /// Returns `true` if a rule applies with this result. `is_allow` is set for a rule that allows.
    pub(crate) const fn is_match(self, is_allow: bool) -> bool {
        match self {
            Self::Fits => true,
            Self::Differs(_) => false,
            Self::Doubtful(_) => !is_allow,
        }
    }

    pub(crate) const fn reason(self) -> JudgementReason {
        match self {
            Self::Fits => JudgementReason::Matches,
            Self::Differs(reason) | Self::Doubtful(reason) => reason,
        }
    }

    /// Combines the results for two forms of the same value: the common result, or a doubtful one with the reason
    /// `if_not`.
    pub(crate) const fn and(self, other: Self, if_not: JudgementReason) -> Self {
        match (self, other) {
            (Self::Fits, Self::Fits) => Self::Fits,
            (Self::Differs(reason), Self::Differs(_)) => Self::Differs(reason),
            (Self::Doubtful(reason), _) | (_, Self::Doubtful(reason)) => Self::Doubtful(reason),
            _ => Self::Doubtful(if_not),
        }
    }
}

/// The reason why a value matches a condition, or doesn't.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum JudgementReason {
    /// The value meets the condition in the rule.
    Matches,
    /// The value does not meet the condition in the rule.
    Differs,
    /// The argument is missing from the call.
    Missing,
    /// The value is not a string, number or Boolean, or the pointer continues into a list or string.
    NotJudged,
    /// The string or list is too long to be checked.
    TooLong,
    /// Programs may parse the value in several ways, for example before or after percent-decoding, and it may match in
    /// some of them only.
    Respelled,
    /// The value contains `..` or a NUL byte, so its real location may differ from the written one.
    Climbs,
    /// A wildcard covers more than one component of the address, such as host and path.
    CrossesParts,
    /// The path is relative, or its root is of another kind than that of the path in the rule, such as a Windows drive
    /// instead of `/`.
    NotWhole,
    /// The path starts in a folder through which every file has a second name, such as `/proc`.
    SecondName,
    /// The value differs only in case or Unicode composition.
    Letters,
    /// The symbolic links on the path could not be resolved.
    Unresolved,
    /// Because of symbolic links, only one of the written path and its resolved location matches.
    LeadsElsewhere,
    /// The value is a parent folder of the location in the rule, so a recursive operation would include that location.
    Holds,
    /// The address contains a user name or password.
    UserInfo,
    /// The value is not an absolute address.
    NotAddress,
    /// The value is not a number.
    NotNumber,
    /// The value is a string that may be parsed as a number.
    TextNumber,
}

impl JudgementReason {
    /// Returns the stable name of the reason, for which Drawbridge's page has a text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matches => "matches",
            Self::Differs => "differs",
            Self::Missing => "missing",
            Self::NotJudged => "not-judged",
            Self::TooLong => "too-long",
            Self::Respelled => "respelled",
            Self::Climbs => "climbs",
            Self::CrossesParts => "crosses-parts",
            Self::NotWhole => "not-whole",
            Self::SecondName => "second-name",
            Self::Letters => "letters",
            Self::Unresolved => "unresolved",
            Self::LeadsElsewhere => "leads-elsewhere",
            Self::Holds => "holds",
            Self::UserInfo => "user-info",
            Self::NotAddress => "not-address",
            Self::NotNumber => "not-number",
            Self::TextNumber => "text-number",
        }
    }
}
