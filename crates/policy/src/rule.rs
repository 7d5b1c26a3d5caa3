//! A written rule, as it stands in a file. What it fits is in `compiled.rs`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The most rules of one source.
pub(crate) const MAX_RULES: usize = 500;

/// What a rule says. The stricter one comes later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It may happen.
    Allow,
    /// The user decides each time.
    Ask,
    /// It may not happen.
    Deny,
}

/// Which way what a rule is about crosses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Calls of tools, prompts and resources.
    #[default]
    ToServer,
    /// What a server asks for: sampling, forms, URLs, folders.
    FromServer,
    /// Both. A "deny" of both without a tool also keeps the server from being started, connected to and signed in to.
    Both,
}

/// For how long a rule holds, beside its expiry.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RuleScope {
    /// Until it is removed. Only such rules are written to a file.
    #[default]
    Always,
    /// In this conversation, until the host ends.
    Conversation {
        /// The conversation.
        conversation: String,
    },
    /// Until the host ends.
    Session,
}

/// A condition on one argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenArgument", into = "WrittenArgument")]
pub struct ArgumentRule {
    /// Where it is: a JSON Pointer (RFC 6901), such as `/path` or `/options/0/name`.
    pub at: String,
    /// What it must be.
    pub is: ArgumentIs,
}

/// What an argument must be. Of a list, one item must fit where the rule denies or asks, and all where it allows. What can't
/// be judged, such as an object or a very long text, fits where the rule denies or asks, and not where it allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentIs {
    /// A text of this shape: `*` is any characters, `?` one, and `\*`, `\?` and `\\` are these characters.
    Glob(String),
    /// A text that this regular expression is found in; where the rule allows, one that it fits as a whole.
    Regex(String),
    /// A path of this folder or of something in it. Paths that are relative or hold `..` can't be judged, nor
    /// those that have second names, as under `/proc`.
    Folder(String),
    /// A path of this shape, or of something in it: `*` and `?` stay within one name, `**` is any number of names. `.`, `..` and
    /// links are followed; where that is not possible the path can't be judged.
    Path(String),
    /// An address (URL) of this origin, or below this path of it: `https://*.example.com/public/*`. It is compared as a browser
    /// reads it; one with a user's name, or that programs read in two ways, can't be judged.
    Address(String),
    /// A number within this range, its ends included: `1..10`, `1..`, `..10` or `5`. A text that looks like a number can't be
    /// judged.
    Number(String),
}

/// An argument's condition as files have it, with one of the kinds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenArgument {
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

impl TryFrom<WrittenArgument> for ArgumentRule {
    type Error = &'static str;

    fn try_from(written: WrittenArgument) -> Result<Self, Self::Error> {
        let kinds = [
            written.glob.map(ArgumentIs::Glob),
            written.regex.map(ArgumentIs::Regex),
            written.folder.map(ArgumentIs::Folder),
            written.path.map(ArgumentIs::Path),
            written.url.map(ArgumentIs::Address),
            written.number.map(ArgumentIs::Number),
        ];
        let mut given = kinds.into_iter().flatten();
        let (Some(is), None) = (given.next(), given.next()) else {
            return Err(
                "an argument's condition has one of \"glob\", \"regex\", \"folder\", \"path\", \"url\" and \"number\"",
            );
        };
        Ok(Self { at: written.at, is })
    }
}

impl From<ArgumentRule> for WrittenArgument {
    fn from(rule: ArgumentRule) -> Self {
        let written = Self { at: rule.at, ..Self::default() };
        match rule.is {
            ArgumentIs::Glob(glob) => Self { glob: Some(glob), ..written },
            ArgumentIs::Regex(regex) => Self { regex: Some(regex), ..written },
            ArgumentIs::Folder(folder) => Self { folder: Some(folder), ..written },
            ArgumentIs::Path(path) => Self { path: Some(path), ..written },
            ArgumentIs::Address(url) => Self { url: Some(url), ..written },
            ArgumentIs::Number(number) => Self { number: Some(number), ..written },
        }
    }
}

/// A condition on what a server says of a tool. It may only make a decision stricter, so a rule that allows has none. What a
/// tool does not say has the value that the specification gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimRule {
    /// The tool's `readOnlyHint` is this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool's `destructiveHint` is this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// The tool's `idempotentHint` is this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool's `openWorldHint` is this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// How much of the user's models a server may use without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingBudget {
    /// The most requests in an hour.
    pub requests_per_hour: u64,
    /// The most tokens in an hour, of requests and answers together.
    pub tokens_per_hour: u64,
}

/// How much of the user's models a server uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SamplingUse {
    /// Requests.
    pub requests: u64,
    /// Tokens, of requests and answers together.
    pub tokens: u64,
}

impl SamplingBudget {
    /// Whether so much is within it.
    #[must_use]
    pub const fn covers(self, used: SamplingUse) -> bool {
        used.requests <= self.requests_per_hour && used.tokens <= self.tokens_per_hour
    }
}

/// A rule. All its conditions must hold for it to count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// To refer to it by, unlike all others of its file; 0 for a rule that has no number yet.
    #[serde(default)]
    pub id: u64,
    /// What it says.
    pub effect: Effect,
    /// The servers it is about, by the user's names for them; `*` and `?` as in [`ArgumentIs::Glob`].
    #[serde(default = "everything")]
    pub server: String,
    /// What the servers it is about are, whatever they are called: their command line, program or URL, likewise. Only of a rule
    /// that denies or asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// The tools it is about, likewise; without, it is not only about tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Which way.
    #[serde(default)]
    pub direction: Direction,
    /// Conditions on arguments of a tool's call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<ArgumentRule>,
    /// A condition on what the server says of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ClaimRule>,
    /// Where it allows requests for a model's answer: how much of that. Beyond it they ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingBudget>,
    /// For how long it holds.
    #[serde(skip)]
    pub scope: RuleScope,
    /// Until when, in milliseconds since 1970; in files as a date of RFC 3339.
    #[serde(default, with = "crate::date", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// The user's own words for it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Whether it stands for a server that the user trusts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trusted_server: bool,
    /// Whether it allows what a model asks for after the words of other servers, too. Without, such a call asks each time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_untrusted: bool,
}

fn everything() -> String {
    "*".to_owned()
}

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// The system-wide file, which a user can't loosen.
    Managed,
    /// The user's file.
    User,
    /// The user, for this run of the host or one conversation of it.
    Session,
}

/// One rule among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RuleRef {
    /// Where it comes from.
    pub source: RuleSource,
    /// Its number there.
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

/// How much is asked about where no rule says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Calls of tools ask once, and the user says for how long the answer holds. What the user reads does not ask.
    #[default]
    Balanced,
    /// All that crosses asks each time, reads too, whatever was allowed before.
    Careful,
}

/// Why a rule can't be used. Each says what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Annotations come from the server itself.
    #[error("a rule that allows can't rest on annotations, which the server makes up itself; use \"ask\" or \"deny\"")]
    AllowByAnnotation,
    /// What a server asks for always asks, but for a model's answer within a budget.
    #[error(
        "what a server asks for can't be allowed by a rule, but for \"sampling\" within a budget; set \"direction\" to \"to_server\""
    )]
    AllowFromServer,
    /// A budget for sampling stands in a rule that allows nothing else.
    #[error(
        "a budget for \"sampling\" goes with \"allow\", the direction \"from_server\", no tool and numbers from 1 on; to ask or deny, leave it out"
    )]
    SamplingOnly,
    /// A server may say of itself what it likes; what it is allows nothing by itself.
    #[error("what a server is can't allow anything by itself; use \"ask\" or \"deny\", or name the server")]
    AllowByIdentity,
    /// Only what allows can hold after others' words.
    #[error("only a rule that allows has \"after_untrusted\"; others hold after others' words anyway")]
    NotAllowing,
    /// It says nothing of what the server is.
    #[error("its identity is empty; leave \"identity\" out, or write part of a command or URL with \"*\" around it")]
    NoIdentity,
    /// Nothing of the sort has arguments or annotations.
    #[error("only calls of tools have a tool's name, arguments or annotations; set \"direction\" to \"to_server\"")]
    NotOfTools,
    /// It does not say which servers.
    #[error("it names no server; write \"*\" for all")]
    NoServer,
    /// It names no tool, but an empty text.
    #[error("its tool is empty; leave \"tool\" out, or write \"*\" for all")]
    NoTool,
    /// A trusted server is one server.
    #[error("a trusted server's rule allows all tools of one server, by its name, and has no conditions")]
    NotOneServer,
    /// A pointer that is none.
    #[error("\"{0}\" is no JSON Pointer; it begins with \"/\", such as \"/path\"")]
    Pointer(String),
    /// An expression that can't be used.
    #[error("the expression \"{expression}\" can't be used: {cause}")]
    Expression {
        /// As it was written.
        expression: String,
        /// What is wrong with it.
        cause: String,
    },
    /// An expression that fits everything.
    #[error("the expression is empty, so it fits every text; leave the condition out, or write what is meant")]
    EmptyExpression,
    /// A backslash that stands for nothing.
    #[error("a backslash in \"{0}\" is to be written twice; alone it only stands before *, ? and another one")]
    Backslash(String),
    /// A folder that is none.
    #[error("\"{0}\" is no whole path of a folder; it begins at the root and has no \"..\"")]
    Folder(String),
    /// A path that is none.
    #[error("\"{0}\" is no whole path; it begins at the root, has no \"..\", and * and ? in it stay within one name")]
    Path(String),
    /// An address that is none.
    #[error(
        "\"{0}\" is no address; write it as https://example.com, https://*.example.com or https://example.com/part/*, without a user, \"?\", \"#\" or \"..\""
    )]
    Address(String),
    /// A range that is none.
    #[error("\"{0}\" is no range of numbers; write it as 1..10, 1.., ..10 or 5")]
    Number(String),
    /// It expires after all calendars.
    #[error("it expires after the year 9999; leave the date out for a rule that stays")]
    Date,
    /// Something is too long.
    #[error("its {part} is longer than {most}")]
    TooLong {
        /// Which part.
        part: &'static str,
        /// The most there may be.
        most: usize,
    },
    /// Two rules have the same number.
    #[error("two rules have the number {0}; leave \"id\" out of one of them")]
    SameId(u64),
    /// There are as many as may be.
    #[error("there are more than {} rules; remove some first", MAX_RULES)]
    TooMany,
}
