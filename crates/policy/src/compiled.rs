//! A rule made ready, and whether it fits an act. To look at an act allocates nothing, but for numbers among the arguments.

use regex::Regex;
use serde_json::{Map, Value};

use crate::folder::{Folder, Lies};
use crate::pattern::{Glob, climbs, expression};
use crate::{
    Act, ArgumentIs, ArgumentRule, ClaimRule, Claims, Direction, Effect, Fit, Identities, PolicyRule, RuleError,
    RuleScope,
};

/// The most conditions on arguments that a rule has.
const MAX_ARGUMENTS: usize = 20;
/// The longest note, in bytes.
const MAX_NOTE: usize = 1_000;
/// The last moment that a file can name, in milliseconds since 1970: the end of the year 9999.
const LAST: u64 = 253_402_300_799_999;
/// The longest text of an argument that is judged, in bytes. Longer ones can't be.
const MAX_JUDGED: usize = 64 * 1024;
/// The most items of a list that are judged.
const MAX_ITEMS: usize = 1_000;

/// A rule made ready.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    pub(crate) rule: PolicyRule,
    pub(crate) server: Glob,
    pub(crate) tool: Option<Glob>,
    identity: Option<Glob>,
    arguments: Vec<Argument>,
}

#[derive(Debug, Clone)]
struct Argument {
    /// The pointer's parts.
    path: Vec<String>,
    is: Is,
}

#[derive(Debug, Clone)]
enum Is {
    Glob(Glob),
    Regex {
        expression: Regex,
        /// Whether it speaks of paths, as it has a slash.
        of_paths: bool,
    },
    Folder(Folder),
}

/// What a pointer leads to.
enum Found<'a> {
    Value(&'a Value),
    Nothing,
    /// It goes on through something that has no members, such as a list or JSON in a text.
    Unclear,
}

impl Compiled {
    pub(crate) fn new(rule: PolicyRule) -> Result<Self, RuleError> {
        check(&rule)?;
        let server = Glob::compile(&rule.server)?;
        if rule.trusted_server && !matches!(server, Glob::Exactly(_)) {
            return Err(RuleError::NotOneServer);
        }
        let tool = rule.tool.as_deref().map(Glob::compile).transpose()?;
        let identity = rule.identity.as_deref().map(Glob::compile).transpose()?;
        let arguments = rule.arguments.iter().map(|own| Argument::new(own, rule.effect)).collect::<Result<_, _>>()?;
        Ok(Self { rule, server, tool, identity, arguments })
    }

    /// Whether it fits, and if not, why.
    pub(crate) fn fit(&self, act: &Act<'_>, identities: &Identities, now: u64) -> Fit {
        if !self.server.fits(act.server()) {
            return Fit::OtherServer;
        }
        // Only rules that deny or ask have this, so what is not known fits.
        if let Some(own) = &self.identity
            && identities.get(act.server()).is_some_and(|words| !words.iter().any(|words| own.fits(words)))
        {
            return Fit::OtherServer;
        }
        if !self.covers(act) {
            return Fit::OtherDirection;
        }
        if self.rule.expires_at.is_some_and(|end| end <= now) {
            return Fit::Expired;
        }
        let conversation = match act {
            Act::CallTool { conversation, .. } | Act::ReadAtUsersWish { conversation, .. } => *conversation,
            _ => None,
        };
        if matches!(&self.rule.scope, RuleScope::Conversation(own) if Some(own.as_str()) != conversation) {
            return Fit::OtherConversation;
        }
        if let (Some(budget), Act::Sample { would_use, .. }) = (self.rule.sampling, act) {
            return if budget.covers(*would_use) { Fit::Fits } else { Fit::OverBudget };
        }
        let Act::CallTool { tool, claims, arguments, .. } = act else {
            let is_of_tools = self.tool.is_some() || !self.arguments.is_empty() || self.rule.annotations.is_some();
            return if is_of_tools { Fit::OtherTool } else { Fit::Fits };
        };
        if self.tool.as_ref().is_some_and(|own| !own.fits(tool)) {
            return Fit::OtherTool;
        }
        if self.rule.annotations.is_some_and(|own| !own.fits(*claims)) {
            return Fit::OtherAnnotations;
        }
        match self.arguments.iter().position(|own| !own.fits(arguments, self.rule.effect)) {
            Some(at) => Fit::OtherArgument(at),
            None => Fit::Fits,
        }
    }

    /// Whether it is about acts of this direction.
    fn covers(&self, act: &Act<'_>) -> bool {
        let (effect, direction) = (self.rule.effect, self.rule.direction);
        match act {
            Act::FillForm { .. } | Act::OpenUrl { .. } | Act::ShareRoots { .. } if self.rule.sampling.is_some() => {
                false
            }
            Act::CallTool { .. } | Act::ReadAtUsersWish { .. } => direction != Direction::FromServer,
            Act::Sample { .. } | Act::FillForm { .. } | Act::OpenUrl { .. } | Act::ShareRoots { .. } => {
                direction != Direction::ToServer
            }
            // They have approvals of their own, which rules neither give nor ask for again.
            Act::StartServer { .. } | Act::ConnectServer { .. } | Act::SignIn { .. } => {
                effect == Effect::Deny && direction == Direction::Both
            }
        }
    }
}

/// What may not stand in a rule, whatever its patterns are.
fn check(rule: &PolicyRule) -> Result<(), RuleError> {
    let is_allow = rule.effect == Effect::Allow;
    if is_allow && rule.annotations.is_some() {
        return Err(RuleError::AllowByAnnotation);
    }
    if is_allow && rule.identity.is_some() {
        return Err(RuleError::AllowByIdentity);
    }
    if !is_allow && rule.after_untrusted {
        return Err(RuleError::NotAllowing);
    }
    if rule.identity.as_ref().is_some_and(String::is_empty) {
        return Err(RuleError::NoIdentity);
    }
    if is_allow && rule.direction != Direction::ToServer && rule.sampling.is_none() {
        return Err(RuleError::AllowFromServer);
    }
    if let Some(budget) = rule.sampling
        && !(is_allow
            && rule.direction == Direction::FromServer
            && !rule.trusted_server
            && budget.requests_per_hour > 0
            && budget.tokens_per_hour > 0)
    {
        return Err(RuleError::SamplingOnly);
    }
    let is_of_tools = rule.tool.is_some() || !rule.arguments.is_empty() || rule.annotations.is_some();
    if is_of_tools && rule.direction != Direction::ToServer {
        return Err(RuleError::NotOfTools);
    }
    if rule.server.is_empty() {
        return Err(RuleError::NoServer);
    }
    if rule.tool.as_ref().is_some_and(String::is_empty) {
        return Err(RuleError::NoTool);
    }
    if rule.trusted_server && (!is_allow || is_of_tools) {
        return Err(RuleError::NotOneServer);
    }
    if rule.arguments.len() > MAX_ARGUMENTS {
        return Err(RuleError::TooLong { part: "list of arguments", most: MAX_ARGUMENTS });
    }
    if rule.expires_at.is_some_and(|end| end > LAST) {
        return Err(RuleError::Date);
    }
    if rule.note.len() > MAX_NOTE {
        return Err(RuleError::TooLong { part: "note", most: MAX_NOTE });
    }
    Ok(())
}

impl ClaimRule {
    fn fits(self, claims: Claims) -> bool {
        let fits = |own: Option<bool>, claim: bool| own.is_none_or(|own| own == claim);
        fits(self.read_only_hint, claims.read_only)
            && fits(self.destructive_hint, claims.destructive)
            && fits(self.idempotent_hint, claims.idempotent)
            && fits(self.open_world_hint, claims.open_world)
    }
}

impl Argument {
    fn new(rule: &ArgumentRule, effect: Effect) -> Result<Self, RuleError> {
        let is = match &rule.is {
            ArgumentIs::Glob(glob) => Is::Glob(Glob::compile(glob)?),
            ArgumentIs::Regex(regex) => Is::Regex {
                expression: expression(regex, effect == Effect::Allow)?,
                of_paths: regex.contains(['/', '\\']),
            },
            ArgumentIs::Folder(folder) => Is::Folder(Folder::compile(folder)?),
        };
        let bad = || RuleError::Pointer(rule.at.clone());
        let rest = rule.at.strip_prefix('/').ok_or_else(bad)?;
        // RFC 6901, section 4: `~1` first, so that `~01` is `~1`.
        let path = rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
        Ok(Self { path, is })
    }

    fn fits(&self, arguments: &Map<String, Value>, effect: Effect) -> bool {
        match self.find(arguments) {
            Found::Nothing | Found::Value(Value::Null) => false,
            Found::Unclear => effect != Effect::Allow,
            Found::Value(Value::Array(items)) if items.len() > MAX_ITEMS => effect != Effect::Allow,
            Found::Value(Value::Array(items)) if effect == Effect::Allow => {
                !items.is_empty() && items.iter().all(|item| self.is.fits(item, effect))
            }
            Found::Value(Value::Array(items)) => items.iter().any(|item| self.is.fits(item, effect)),
            Found::Value(value) => self.is.fits(value, effect),
        }
    }

    fn find<'a>(&self, arguments: &'a Map<String, Value>) -> Found<'a> {
        let Some((first, rest)) = self.path.split_first() else { return Found::Nothing };
        let Some(mut found) = arguments.get(first) else { return Found::Nothing };
        for part in rest {
            let next = match found {
                Value::Object(members) => members.get(part),
                Value::Array(items) => match part.parse::<usize>() {
                    Ok(at) => items.get(at),
                    Err(_) => return Found::Unclear,
                },
                Value::String(_) => return Found::Unclear,
                Value::Null | Value::Bool(_) | Value::Number(_) => None,
            };
            let Some(next) = next else { return Found::Nothing };
            found = next;
        }
        Found::Value(found)
    }
}

impl Is {
    fn fits(&self, value: &Value, effect: Effect) -> bool {
        let if_unclear = effect != Effect::Allow;
        match value {
            Value::String(text) if text.len() <= MAX_JUDGED => match self {
                Self::Glob(glob @ (Glob::Exactly(_) | Glob::Anything)) => glob.fits(text),
                Self::Glob(Glob::Shape { expression, of_paths }) | Self::Regex { expression, of_paths } => {
                    let fits = expression.is_match(text);
                    match climbs(text) {
                        // `/safe/*` must not allow `/safe/../etc`, nor `/secret/*` miss `/safe/../secret`.
                        true if if_unclear => fits || *of_paths,
                        true => false,
                        false => fits,
                    }
                }
                Self::Folder(folder) => match folder.lies(text) {
                    Lies::Inside => true,
                    Lies::Outside => false,
                    Lies::PerhapsInside | Lies::Unclear => if_unclear,
                },
            },
            Value::Bool(true) => self.fits_word("true"),
            Value::Bool(false) => self.fits_word("false"),
            Value::Number(number) => self.fits_word(&number.to_string()) || (if_unclear && self.is_number(number)),
            Value::Null => false,
            Value::String(_) | Value::Array(_) | Value::Object(_) => if_unclear,
        }
    }

    /// A number or a truth value is its JSON text, and never a path.
    fn fits_word(&self, word: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.fits(word),
            Self::Regex { expression, .. } => expression.is_match(word),
            Self::Folder(_) => false,
        }
    }

    /// Whether it names this very number, however each is written: `1000` is `1e3`.
    fn is_number(&self, number: &serde_json::Number) -> bool {
        let Self::Glob(Glob::Exactly(own)) = self else { return false };
        own.parse::<f64>().ok().zip(number.as_f64()).is_some_and(|(own, number)| own.total_cmp(&number).is_eq())
    }
}
