//! How a value stands to a condition, and why.

use serde::{Deserialize, Serialize};

/// How a value stands to a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is as the condition says, however it is read.
    Fits,
    /// It is not.
    Differs(JudgedReason),
    /// It may be. A rule that denies or asks then fits, and one that allows does not.
    Doubtful(JudgedReason),
}

impl Verdict {
    /// Whether a rule fits. `is_allow` is whether it allows.
    pub(crate) const fn fits(self, is_allow: bool) -> bool {
        match self {
            Self::Fits => true,
            Self::Differs(_) => false,
            Self::Doubtful(_) => !is_allow,
        }
    }

    pub(crate) const fn reason(self) -> JudgedReason {
        match self {
            Self::Fits => JudgedReason::Matches,
            Self::Differs(reason) | Self::Doubtful(reason) => reason,
        }
    }

    /// Of two readings of the same value: what they agree on, else a doubt.
    pub(crate) const fn and(self, other: Self, if_not: JudgedReason) -> Self {
        match (self, other) {
            (Self::Fits, Self::Fits) => Self::Fits,
            (Self::Differs(reason), Self::Differs(_)) => Self::Differs(reason),
            (Self::Doubtful(reason), _) | (_, Self::Doubtful(reason)) => Self::Doubtful(reason),
            _ => Self::Doubtful(if_not),
        }
    }
}

/// Why a value fits a condition, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum JudgedReason {
    /// It is as the condition says.
    Matches,
    /// It is something else.
    Differs,
    /// The argument is not there.
    Missing,
    /// It is no text, number or truth value, or the pointer goes on through a list or a text.
    NotJudged,
    /// The text or the list is too long to be judged.
    TooLong,
    /// It fits, or may fit, but is not written in its normal form.
    Respelled,
    /// It has `..` or a zero byte, so that its letters do not say where it leads.
    Climbs,
    /// A wildcard covers more than one part of the address, such as its host and its path.
    CrossesParts,
    /// The path is relative, or has another kind of root.
    NotWhole,
    /// The path goes through a folder with second names, such as `/proc`.
    SecondName,
    /// It is the same but for capital and small letters, or how letters are composed.
    Letters,
    /// The links on the path could not be followed.
    Unresolved,
    /// The links on the path lead elsewhere.
    LeadsElsewhere,
    /// It is the folder that holds what the rule names.
    Holds,
    /// The address has a user's name or password.
    UserInfo,
    /// It is no whole address.
    NotAddress,
    /// It is no number.
    NotNumber,
    /// It is a text that may be read as a number.
    TextNumber,
}

impl JudgedReason {
    /// A stable name, which the page translates.
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
