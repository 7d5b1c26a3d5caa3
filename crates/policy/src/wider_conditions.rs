//! Additional matches of rules that deny or ask: the parent folder of the location in the rule, and the host in the
//! rule with any web scheme. Rules that allow have no additional matches. Used by `argument_condition.rs`.

use crate::address::{AddressPattern, default_port, split_host_and_port};
use crate::match_verdict::{JudgementReason, MatchVerdict};
use crate::matcher::ArgumentMatcher;
use crate::path_pattern::ResolvedPaths;
use crate::uri::UriPattern;
use crate::{ArgumentPattern, RuleEffect, RuleError};

/// Conditions under which a rule that denies or asks applies although the condition in the rule isn't met.
#[derive(Debug, Clone, Default)]
pub(crate) struct WiderMatchConditions {
    /// Matches the folder `/secret` for the pattern `/secret/*`: listing the folder reveals its content, and moving it
    /// moves the content.
    parent_folder: Option<Box<ArgumentMatcher>>,
    host: Option<SameHostPattern>,
}

/// The host of the pattern with any web scheme, and with any port unless the pattern contains one.
#[derive(Debug, Clone)]
enum SameHostPattern {
    OfGlob(Vec<UriPattern>),
    OfAddress(AddressPattern),
}

impl WiderMatchConditions {
    /// Compiles the additional conditions for the pattern `is`. A rule that allows has none.
    ///
    /// # Errors
    ///
    /// Returns an error if the pattern is invalid.
    pub(crate) fn new(is: &ArgumentPattern, effect: RuleEffect) -> Result<Self, RuleError> {
        if effect == RuleEffect::Allow {
            return Ok(Self::default());
        }
        let parent_folder = pattern_of_parent_folder(is)
            .map(|parent| ArgumentMatcher::compile(&parent, effect).map(Box::new))
            .transpose()?;
        Ok(Self { parent_folder, host: SameHostPattern::new(is) })
    }

    /// Checks a string that doesn't match the condition in the rule. Returns `None` if it doesn't match the additional
    /// ones either.
    pub(crate) fn judge(&self, text: &str, facts: &ResolvedPaths) -> Option<MatchVerdict> {
        let is_parent = |folder: &ArgumentMatcher| !matches!(folder.judge_text(text, facts), MatchVerdict::Differs(_));
        if self.parent_folder.as_deref().is_some_and(is_parent) {
            return Some(MatchVerdict::Doubtful(JudgementReason::Holds));
        }
        let is_host = match self.host.as_ref()? {
            SameHostPattern::OfGlob(uris) => uris.iter().any(|uri| uri.refuses(text)),
            SameHostPattern::OfAddress(address) => !matches!(address.judge(text), MatchVerdict::Differs(_)),
        };
        is_host.then_some(MatchVerdict::Doubtful(JudgementReason::Respelled))
    }
}

/// Returns the pattern without its final wildcard component, or `None` if it has no such component.
fn pattern_of_parent_folder(is: &ArgumentPattern) -> Option<ArgumentPattern> {
    let stripped = |text: &str| {
        let whole = text.strip_suffix("**").or_else(|| text.strip_suffix('*'))?;
        let parent = whole.strip_suffix(['/', '\\'])?;
        // The root, or an incomplete address, contains everything and is therefore no useful parent.
        let is_name = !parent.is_empty() && !parent.ends_with(['/', '\\', ':']);
        is_name.then(|| parent.to_owned())
    };
    match is {
        ArgumentPattern::Glob(glob) => stripped(glob).map(ArgumentPattern::Glob),
        ArgumentPattern::Path(path) => stripped(path).map(ArgumentPattern::Path),
        ArgumentPattern::Address(address) => stripped(address).map(ArgumentPattern::Address),
        ArgumentPattern::Regex(_) | ArgumentPattern::Folder(_) | ArgumentPattern::Number(_) => None,
    }
}

impl SameHostPattern {
    /// Returns the pattern for the host in `is`, or `None` if it contains no host: `http://*` is a rule about
    /// unencrypted connections.
    fn new(is: &ArgumentPattern) -> Option<Self> {
        let text = match is {
            ArgumentPattern::Glob(text) | ArgumentPattern::Address(text) => text,
            ArgumentPattern::Regex(_)
            | ArgumentPattern::Path(_)
            | ArgumentPattern::Folder(_)
            | ArgumentPattern::Number(_) => return None,
        };
        let (scheme, rest) = text.split_once("://")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = split_host_and_port(authority);
        let is_web = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https" | "ws" | "wss");
        if !is_web || host.trim_matches(['*', '.']).is_empty() || text.contains('\\') {
            return None;
        }
        // Combines both additional matches: the folder of `https://host/a/*`, with another scheme.
        let path = path.trim_end_matches('*').trim_end_matches('/');
        if matches!(is, ArgumentPattern::Glob(_)) {
            let folder = format!("{scheme}://{authority}/{path}");
            return Some(Self::OfGlob(
                [text, &folder].into_iter().filter_map(|uri| UriPattern::compile(uri).ok()).collect(),
            ));
        }
        let usual = default_port(&scheme.to_ascii_lowercase()).map(|port| port.to_string());
        let port = port.filter(|port| Some(*port) != usual.as_deref()).unwrap_or("*");
        AddressPattern::compile(&format!("*://{host}:{port}/{path}")).ok().map(Self::OfAddress)
    }
}
