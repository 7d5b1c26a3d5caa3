//! Why an act is decided as it is: the decision, and each rule that was looked at.

use crate::{By, Decision, Effect, Judged};

/// The decision about an act, and all that was considered for it, the most important first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// As [`Policy::decide`](crate::Policy::decide) gives it.
    pub decision: Decision,
    /// Each rule, grant and preset that could have had a say.
    pub considered: Vec<Considered>,
}

/// One rule, grant or preset that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Considered {
    /// Which.
    pub by: By,
    /// What it says when it fits.
    pub effect: Effect,
    /// Whether it fits.
    pub fit: Fit,
    /// How each condition of a rule on an argument was judged; none if the rule is not about this call.
    pub arguments: Vec<Judged>,
}

/// Whether a rule fits an act, and if not, the first condition that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It fits.
    Fits,
    /// It is about other servers.
    OtherServer,
    /// It is about the other direction.
    OtherDirection,
    /// It is about other tools, or about calls of tools only.
    OtherTool,
    /// The argument of this number among its conditions is not as it says.
    OtherArgument(usize),
    /// The server says something else of the tool.
    OtherAnnotations,
    /// It holds in another conversation.
    OtherConversation,
    /// It has expired.
    Expired,
    /// What it rests on has changed.
    Changed,
    /// It would fit, but nobody has seen the tool's definition as it is now.
    NotReviewed,
    /// Its budget would be used up.
    OverBudget,
    /// It would fit, but a model asks that has read another server's output.
    AfterUntrusted,
}

impl Fit {
    /// A stable name, which the page translates.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::OtherServer => "other-server",
            Self::OtherDirection => "other-direction",
            Self::OtherTool => "other-tool",
            Self::OtherArgument(_) => "other-argument",
            Self::OtherAnnotations => "other-annotations",
            Self::OtherConversation => "other-conversation",
            Self::Expired => "expired",
            Self::Changed => "changed",
            Self::NotReviewed => "not-reviewed",
            Self::OverBudget => "over-budget",
            Self::AfterUntrusted => "after-untrusted",
        }
    }
}
