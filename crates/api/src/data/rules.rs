//! Rules: what stands, what would happen, and why.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Direction, DryAct, Effect, Judged, Preset, RuleScope, RuleSource, Standing, Trust};

/// All rules, and where they come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// The preset that the user chose.
    pub preset: Preset,
    /// The least strict one that holds on this computer. A stricter choice of the user's counts.
    pub managed_preset: Preset,
    /// Every rule, those of this computer first.
    pub rules: Vec<Rule>,
    /// The user's file.
    pub user: RuleFile,
    /// The file for all users of this computer.
    pub managed: RuleFile,
}

/// A file of rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleFile {
    /// Where it is, or would be.
    pub path: String,
    /// Whether it is there.
    pub exists: bool,
    /// Why it can't be used, if it can't. Then everything asks.
    pub problem: Option<String>,
    /// When another program changed it while Drawbridge was running, in milliseconds since 1970.
    pub changed: Option<u64>,
}

/// A condition on one argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ArgumentRule {
    /// Where it is: a JSON Pointer such as `/path`.
    pub at: String,
    /// How it is looked at.
    pub test: ArgumentTest,
    /// What it must be.
    pub pattern: String,
}

/// How an argument is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentTest {
    /// A text with `*` for any characters and `?` for one.
    Glob,
    /// A regular expression that is found in it, or that fits all of it where the rule allows.
    Regex,
    /// A path of this folder or of something in it.
    Folder,
    /// A path of this shape or of something in it, with links followed.
    Path,
    /// An address of this origin, or below this path of it.
    Url,
    /// A number in this range.
    Number,
}

/// A condition on what a server says of a tool; it can only make things stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ClaimRule {
    /// The tool says that it only reads.
    #[serde(default)]
    pub read_only: Option<bool>,
    /// The tool says, or does not deny, that it destroys.
    #[serde(default)]
    pub destructive: Option<bool>,
    /// The tool says that doing it twice is doing it once.
    #[serde(default)]
    pub idempotent: Option<bool>,
    /// The tool says, or does not deny, that it reaches out.
    #[serde(default)]
    pub open_world: Option<bool>,
}

/// How much of the user's models a server may use without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingBudget {
    /// The most requests in an hour.
    pub requests_per_hour: u64,
    /// The most tokens in an hour, of requests and answers together.
    pub tokens_per_hour: u64,
}

/// A rule. All its conditions must hold for it to count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Its number where it comes from; empty for a new one.
    pub id: String,
    /// Where it comes from.
    pub source: RuleSource,
    /// What it says.
    pub effect: Effect,
    /// The servers it is about, with `*` and `?`.
    pub server: String,
    /// The tools it is about; none for all that crosses.
    pub tool: Option<String>,
    /// Which way.
    pub direction: Direction,
    /// Conditions on arguments.
    pub arguments: Vec<ArgumentRule>,
    /// A condition on what the server says of a tool.
    pub annotations: Option<ClaimRule>,
    /// Where it allows requests for a model's answer: how much of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sampling: Option<SamplingBudget>,
    /// For how long it holds.
    pub scope: RuleScope,
    /// Until when, in milliseconds since 1970.
    pub expires_at: Option<u64>,
    /// The user's own words for it.
    pub note: String,
    /// Whether it stands for a server that the user trusts.
    pub trusted_server: bool,
    /// What the servers it is about are: a command line, program or URL, with `*` and `?`. Never of a rule that allows.
    #[serde(default)]
    pub identity: Option<String>,
    /// Whether it allows what a model asks for after the words of other servers, too.
    #[serde(default)]
    pub after_untrusted: bool,
}

/// A rule, by where it comes from and its number there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleRef {
    /// Where it comes from.
    pub source: RuleSource,
    /// Its number.
    pub id: String,
}

/// A preset to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetPreset {
    /// The preset.
    pub preset: Preset,
}

/// Trust in a server, or the end of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetTrust {
    /// The server.
    pub server: String,
    /// For how long.
    pub trust: Trust,
}

/// A dry run: what would happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DryRun {
    /// The server.
    pub server: String,
    /// What would be done.
    pub act: DryAct,
}

/// What would happen, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DryRunResult {
    /// What would happen.
    pub effect: Effect,
    /// The reason, by its stable name.
    pub reason: String,
    /// What decided.
    pub by: DecidedBy,
    /// For how long an approval could hold, if it asks.
    pub scopes: Vec<super::Scope>,
    /// All that was looked at, the most important first.
    pub considered: Vec<Considered>,
    /// Whether a definition or a command had to be taken as unchanged, as the server is not running.
    pub assumed_unchanged: bool,
    /// Of a call whether the tool was reviewed as it is, or as it was when its server ran last.
    pub standing: Option<Standing>,
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DecidedBy {
    /// What always holds.
    BuiltIn,
    /// A standing approval.
    Grant {
        /// Its id.
        id: String,
    },
    /// A rule.
    Rule {
        /// Which.
        rule: RuleRef,
    },
    /// The user's preset.
    Preset,
    /// The preset of this computer.
    ManagedPreset,
}

/// A rule, approval or preset that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Considered {
    /// Which.
    pub by: DecidedBy,
    /// What it says when it fits.
    pub effect: Effect,
    /// Whether it fits, or the first condition that does not hold: `fits`, `other-server`, `other-direction`, `other-tool`,
    /// `other-argument`, `other-annotations`, `other-conversation`, `expired`, `changed`, `not-reviewed`,
    /// `over-budget` or `after-untrusted`.
    pub fit: String,
    /// The number of the argument's condition that does not hold, from 0.
    pub argument: Option<u32>,
    /// How each condition on an argument was judged.
    pub arguments: Vec<Judged>,
}

/// Rules and approvals as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PolicyText {
    /// JSON with all that stands.
    pub text: String,
}
