//! Explanations of decisions: the decision, and each rule, grant and preset that was considered.

use crate::{ArgumentJudgement, DecisionSource, PolicyDecision, RuleEffect};

/// The decision about an act, and the rules, grants and presets that were considered for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionExplanation {
    /// The decision, as returned by [`Policy::decide`](crate::Policy::decide).
    pub decision: PolicyDecision,
    /// Rules, grants and presets that were considered: first those that apply, the strictest of them first. Unusable
    /// rule files and a muted server also influence the decision, but are not included.
    pub considered: Vec<ConsideredRule>,
}

/// A rule, grant or preset that was compared with an act to explain the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsideredRule {
    /// Rule, grant or preset that was compared with the act.
    pub by: DecisionSource,
    /// Effect of the rule, grant or preset if it applies.
    pub effect: RuleEffect,
    /// Result of matching the rule, grant or preset with the act.
    pub fit: RuleFit,
    /// Results of the rule's argument conditions. Empty if the rule is not about this call.
    pub arguments: Vec<ArgumentJudgement>,
}

/// The result of matching a rule, grant or preset with an act: [`RuleFit::Fits`], or the first condition that isn't
/// met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleFit {
    /// All conditions are met, so the rule or grant applies.
    Fits,
    /// The rule is only about other servers.
    OtherServer,
    /// The rule, grant or preset is about acts of another kind: for example, the rule is only about requests of
    /// servers to the host, the act can't be granted, or the preset leaves it to an approval of its own.
    OtherKindOfAct,
    /// The rule is about other tools, or only about tool calls.
    OtherTool,
    /// The argument condition with this index isn't met.
    OtherArgument(usize),
    /// The tool's annotations differ from those that the rule requires.
    OtherAnnotations,
    /// The rule or grant is valid in another conversation.
    OtherConversation,
    /// The rule or grant has expired at the time of the decision.
    Expired,
    /// The command, address or tool that the grant is for has another hash now than the one that the grant is bound to.
    Changed,
    /// The rule or grant would apply, but the user has not reviewed the tool's current definition.
    NotReviewed,
    /// The rule or grant would apply, but the tool's definition requires consent for each call.
    AsksEachTime,
    /// The request would exceed the rule's budget for sampling.
    OverBudget,
    /// The rule or grant would apply, but a model requests the call after it has read another server's output, or
    /// content of the same server that third parties may have written, or an app that reaches other hosts requests it.
    AfterUntrusted,
}

impl RuleFit {
    /// Returns the stable name of the result, for which Drawbridge's page has a text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::OtherServer => "other-server",
            Self::OtherKindOfAct => "other-direction",
            Self::OtherTool => "other-tool",
            Self::OtherArgument(_) => "other-argument",
            Self::OtherAnnotations => "other-annotations",
            Self::OtherConversation => "other-conversation",
            Self::Expired => "expired",
            Self::Changed => "changed",
            Self::NotReviewed => "not-reviewed",
            Self::AsksEachTime => "asks-each-time",
            Self::OverBudget => "over-budget",
            Self::AfterUntrusted => "after-untrusted",
        }
    }
}
