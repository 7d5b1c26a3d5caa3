//! Rules as written in a file. Their compiled form is in `compiled_rule.rs`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Maximum number of rules per source (policy file or session).
pub(crate) const MAX_RULES_PER_SOURCE: usize = 500;

/// Effect of a rule on matching acts, ordered by strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// The act may take place without a consent request.
    Allow,
    /// The act requires a consent request each time.
    Ask,
    /// The act is denied without a consent request.
    Deny,
}

/// The direction of the acts to which a rule applies: from the host to servers, or the reverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RuleDirection {
    /// From the host to a server: tool calls, prompts and resources.
    #[default]
    ToServer,
    /// From a server to the host: sampling, forms, URLs, folders.
    FromServer,
    /// Both directions. A rule that denies both, without a tool, also denies starting, connecting to and signing in to
    /// the server.
    Both,
}

/// The period or conversation in which a rule is valid, in addition to its expiry.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RuleScope {
    /// Valid until removed. Only rules of this scope are written to a file.
    #[default]
    Always,
    /// Valid in one conversation, until the host stops.
    Conversation {
        /// Identifier of the conversation in which the rule is valid.
        conversation: String,
    },
    /// Valid until the host stops.
    Session,
}

/// A condition on one argument of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ArgumentRuleInFile", into = "ArgumentRuleInFile")]
pub struct ArgumentRule {
    /// JSON Pointer (RFC 6901) to the argument, such as `/path` or `/options/0/name`.
    pub at: String,
    /// Condition on the value at that location.
    pub is: ArgumentPattern,
}

/// The condition on an argument's value. For a list, one item must match if the rule denies or asks, and all items if
/// it allows. A value that can't be checked, such as an object or a very long string, matches if the rule denies or
/// asks, and doesn't match if it allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentPattern {
    /// A string that this glob matches: `*` stands for any characters, `?` for one character, and `\*`, `\?` and `\\`
    /// for literals.
    Glob(String),
    /// A string in which this regular expression matches. If the rule allows, the expression must match the whole
    /// string.
    Regex(String),
    /// The path of this folder or of anything below it. Relative paths, paths with `..`, and paths with a second name,
    /// as under `/proc`, can't be checked.
    Folder(String),
    /// A path that this glob matches, or anything below it: `*` and `?` match within one component, `**` any number of
    /// components. `.`, `..` and symbolic links are resolved. A path that can't be resolved can't be checked.
    Path(String),
    /// An address (URL) of this origin, or below this path of it: `https://*.example.com/public/*`. The address is
    /// compared as a browser parses it. An address with a user name, or one that programs parse differently, can't be
    /// checked.
    Address(String),
    /// A number within this inclusive range: `1..10`, `1..`, `..10` or `5`. A string that looks like a number can't be
    /// checked.
    Number(String),
}

/// An argument condition as written in a policy file, with exactly one of the pattern members set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentRuleInFile {
    at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    glob: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    regex: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<String>,
}

impl TryFrom<ArgumentRuleInFile> for ArgumentRule {
    type Error = &'static str;

    fn try_from(written: ArgumentRuleInFile) -> Result<Self, Self::Error> {
        let kinds = [
            written.glob.map(ArgumentPattern::Glob),
            written.regex.map(ArgumentPattern::Regex),
            written.folder.map(ArgumentPattern::Folder),
            written.path.map(ArgumentPattern::Path),
            written.url.map(ArgumentPattern::Address),
            written.number.map(ArgumentPattern::Number),
        ];
        let mut given = kinds.into_iter().flatten();
        let (Some(is), None) = (given.next(), given.next()) else {
            return Err(
                "an argument condition needs exactly one of \"glob\", \"regex\", \"folder\", \"path\", \"url\" and \"number\"",
            );
        };
        Ok(Self { at: written.at, is })
    }
}

impl From<ArgumentRule> for ArgumentRuleInFile {
    fn from(rule: ArgumentRule) -> Self {
        let written = Self { at: rule.at, ..Self::default() };
        match rule.is {
            ArgumentPattern::Glob(glob) => Self { glob: Some(glob), ..written },
            ArgumentPattern::Regex(regex) => Self { regex: Some(regex), ..written },
            ArgumentPattern::Folder(folder) => Self { folder: Some(folder), ..written },
            ArgumentPattern::Path(path) => Self { path: Some(path), ..written },
            ArgumentPattern::Address(url) => Self { url: Some(url), ..written },
            ArgumentPattern::Number(number) => Self { number: Some(number), ..written },
        }
    }
}

/// A condition on the annotations of a tool. Annotations can only make a decision stricter, so rules that allow can't
/// have this condition. A missing annotation has the default that the MCP specification sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimRule {
    /// Required value of the tool's `readOnlyHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// Required value of the tool's `destructiveHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Required value of the tool's `idempotentHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Required value of the tool's `openWorldHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// Maximum usage of models by a server's sampling requests that need no consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingBudget {
    /// Maximum number of sampling requests within an hour.
    pub requests_per_hour: u64,
    /// Maximum number of tokens per hour, of requests and answers together.
    pub tokens_per_hour: u64,
}

/// Model usage of a server: requests and tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SamplingUse {
    /// Number of sampling requests.
    pub requests: u64,
    /// Number of tokens, of requests and answers together.
    pub tokens: u64,
}

impl SamplingBudget {
    /// Returns `true` if this usage is within the budget.
    #[must_use]
    pub const fn covers(self, used: SamplingUse) -> bool {
        used.requests <= self.requests_per_hour && used.tokens <= self.tokens_per_hour
    }
}

/// A rule. It applies if all of its conditions hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// Identifier, unique in its file. 0 for a rule without an assigned identifier.
    #[serde(default)]
    pub id: u64,
    /// Effect on an act if all conditions of the rule are met.
    pub effect: RuleEffect,
    /// Glob for the user's names of servers, with `*` and `?` as in [`ArgumentPattern::Glob`].
    #[serde(default = "match_all_glob")]
    pub server: String,
    /// Glob for the identity of servers, independent of their names: command line, program or URL. Only in rules that
    /// deny or ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Glob for the names of tools. Without it, the rule is not limited to tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Direction of the acts to which the rule applies.
    #[serde(default)]
    pub direction: RuleDirection,
    /// Conditions on the arguments of a tool call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<ArgumentRule>,
    /// Condition on the annotations that the server declares for the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ClaimRule>,
    /// Budget of sampling requests that the rule allows. Requests beyond the budget require consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingBudget>,
    /// Period or conversation in which the rule is valid. Not part of the file.
    #[serde(skip)]
    pub scope: RuleScope,
    /// Time of expiry, in milliseconds since 1970. An RFC 3339 date in files.
    #[serde(default, with = "crate::date", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// Note that the user wrote about the rule.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Set if the rule was created because the user trusts one server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trusted_server: bool,
    /// Set if the rule also allows calls after untrusted content. Otherwise such a call requires consent each time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_untrusted: bool,
}

fn match_all_glob() -> String {
    "*".to_owned()
}

/// The source of a rule: a file or the current session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// The system-wide file, whose rules a user can't loosen.
    Managed,
    /// The user's policy file, `policy.json`.
    User,
    /// A decision of the user for this run of the host, or for one conversation.
    Session,
}

/// Reference to a rule by its source and identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RuleRef {
    /// Source that contains the rule.
    pub source: RuleSource,
    /// Identifier of the rule, unique in its source.
    pub id: u64,
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.source {
            RuleSource::Managed => "managed ",
            RuleSource::User => "",
            RuleSource::Session => "session ",
        };
        write!(f, "{source}rule {}", self.id)
    }
}

/// The level of consent for acts about which no rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Tool calls require consent, and the user chooses the scope of the approval. Reads at the user's request need no
    /// consent.
    #[default]
    Balanced,
    /// Every payload requires consent each time, including reads, regardless of earlier grants.
    Careful,
}

/// The reason why a rule is invalid. Each message says what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A rule that allows has a condition on annotations, which the server declares itself.
    #[error(
        "a rule that allows can't depend on annotations, which the server declares itself; use \"ask\" or \"deny\""
    )]
    AllowByAnnotation,
    /// A rule allows requests of a server other than sampling within a budget.
    #[error(
        "a rule can't allow requests of a server, except \"sampling\" within a budget; set \"direction\" to \"to_server\""
    )]
    AllowFromServer,
    /// A sampling budget is in a rule that isn't limited to allowing sampling.
    #[error(
        "a budget for \"sampling\" requires \"allow\", the direction \"from_server\", no tool and numbers of at least 1; omit it to ask or deny"
    )]
    SamplingOnly,
    /// A rule that allows has a condition on the server's identity, which the server can choose.
    #[error("a rule that allows can't depend on \"identity\"; use \"ask\" or \"deny\", or name the server")]
    AllowByIdentity,
    /// A rule that denies or asks has `after_untrusted`, which only rules that allow can have.
    #[error("only a rule that allows can have \"after_untrusted\"; other rules always apply after untrusted content")]
    AfterUntrustedWithoutAllow,
    /// The identity is an empty string.
    #[error("\"identity\" is empty; omit it, or write part of a command or URL with \"*\" around it")]
    NoIdentity,
    /// A rule about requests of a server has conditions that apply only to tool calls: a tool, arguments or
    /// annotations.
    #[error("only tool calls have \"tool\", \"arguments\" or \"annotations\"; set \"direction\" to \"to_server\"")]
    ToolConditionsOnServerRequests,
    /// The server pattern is an empty string.
    #[error("\"server\" is empty; write \"*\" for all")]
    NoServer,
    /// The tool pattern is an empty string.
    #[error("\"tool\" is empty; omit it, or write \"*\" for all")]
    NoTool,
    /// The rule of a trusted server doesn't name exactly one server, or has conditions.
    #[error("the rule of a trusted server must allow all tools of one server, by its exact name, without conditions")]
    NotOneTrustedServer,
    /// The location in an argument condition is not a JSON Pointer.
    #[error("\"{0}\" is not a JSON Pointer, which begins with \"/\", such as \"/path\"")]
    Pointer(String),
    /// The regular expression is invalid or too large.
    #[error("the expression \"{expression}\" is invalid: {cause}")]
    Expression {
        /// Expression as written in the rule.
        expression: String,
        /// Error message of the `regex` crate.
        cause: String,
    },
    /// The regular expression is empty.
    #[error("the expression is empty and matches every text; omit the condition, or write an expression")]
    EmptyExpression,
    /// A backslash precedes a character that can't be escaped.
    #[error("a backslash in \"{0}\" must be doubled; a single one is only valid before *, ? and \\")]
    Backslash(String),
    /// The folder in an argument condition is not an absolute path.
    #[error("\"{0}\" is not an absolute path of a folder; it must begin at the root, without \"..\"")]
    Folder(String),
    /// The text is not an absolute path pattern.
    #[error(
        "\"{0}\" is not an absolute path; it must begin at the root, without \"..\", and * and ? match within one name"
    )]
    Path(String),
    /// The text is not an address pattern.
    #[error(
        "\"{0}\" is not an address; write it as https://example.com, https://*.example.com or https://example.com/part/*, without a user, \"?\", \"#\" or \"..\""
    )]
    Address(String),
    /// The text of a number condition is not a range of numbers.
    #[error("\"{0}\" is not a range of numbers; write it as 1..10, 1.., ..10 or 5")]
    Number(String),
    /// The expiry is after the year 9999.
    #[error("the rule expires after the year 9999; omit the date for a permanent rule")]
    Date,
    /// A part of the rule is too long.
    #[error("the {part} is longer than {most}")]
    TooLong {
        /// Name of the part that is too long.
        part: &'static str,
        /// Maximum length in bytes, or maximum number of elements.
        most: usize,
    },
    /// Two rules have the same identifier.
    #[error("two rules have the number {0}; omit \"id\" in one of them")]
    SameId(u64),
    /// There are more rules than [`RuleSet::MAX_RULES`](crate::RuleSet::MAX_RULES).
    #[error("there are more than {} rules; remove some first", MAX_RULES_PER_SOURCE)]
    TooMany,
}
