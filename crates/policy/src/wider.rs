//! What a rule that denies or asks covers beside what its pattern says by its letters: the folder that holds what it names, and a host
//! by every scheme of the web. A rule that allows covers neither. Used by `argument.rs`.

use crate::address::{AddressPattern, split_port, usual_port};
use crate::matcher::Matcher;
use crate::path::PathFacts;
use crate::uri::UriPattern;
use crate::verdict::{JudgedReason, Verdict};
use crate::{ArgumentIs, Effect, RuleError};

/// The conditions beside a rule's own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wider {
    /// The folder of `/secret/*`: whoever lists it learns what lies there, and whoever moves it takes that along.
    holder: Option<Box<Matcher>>,
    host: Option<SameHost>,
}

/// A host that the pattern names, by any scheme of the web, and at any port unless it names one.
#[derive(Debug, Clone)]
enum SameHost {
    OfGlob(Vec<UriPattern>),
    OfAddress(AddressPattern),
}

impl Wider {
    /// The conditions beside `is`.
    ///
    /// # Errors
    /// If the pattern can't be compiled.
    pub(crate) fn of(is: &ArgumentIs, effect: Effect) -> Result<Self, RuleError> {
        if effect == Effect::Allow {
            return Ok(Self::default());
        }
        let holder = holder(is).map(|holder| Matcher::compile(&holder, effect).map(Box::new)).transpose()?;
        Ok(Self { holder, host: SameHost::of(is) })
    }

    /// How a text that is not what the pattern says by its letters stands to it.
    pub(crate) fn judge(&self, text: &str, facts: &PathFacts) -> Option<Verdict> {
        let is_holder = |holder: &Matcher| !matches!(holder.judge_text(text, facts), Verdict::Differs(_));
        if self.holder.as_deref().is_some_and(is_holder) {
            return Some(Verdict::Doubtful(JudgedReason::Holds));
        }
        let is_host = match self.host.as_ref()? {
            SameHost::OfGlob(uris) => uris.iter().any(|uri| uri.refuses(text)),
            SameHost::OfAddress(address) => !matches!(address.judge(text), Verdict::Differs(_)),
        };
        is_host.then_some(Verdict::Doubtful(JudgedReason::Respelled))
    }
}

/// The pattern without the wildcard that is its last part.
fn holder(is: &ArgumentIs) -> Option<ArgumentIs> {
    let stripped = |text: &str| {
        let whole = text.strip_suffix("**").or_else(|| text.strip_suffix('*'))?;
        let holder = whole.strip_suffix(['/', '\\'])?;
        // The root, and what is no name but a part of an address, hold everything.
        let is_name = !holder.is_empty() && !holder.ends_with(['/', '\\', ':']);
        is_name.then(|| holder.to_owned())
    };
    match is {
        ArgumentIs::Glob(glob) => stripped(glob).map(ArgumentIs::Glob),
        ArgumentIs::Path(path) => stripped(path).map(ArgumentIs::Path),
        ArgumentIs::Address(address) => stripped(address).map(ArgumentIs::Address),
        ArgumentIs::Regex(_) | ArgumentIs::Folder(_) | ArgumentIs::Number(_) => None,
    }
}

impl SameHost {
    /// None where the pattern names no host: `http://*` is about what is not encrypted.
    fn of(is: &ArgumentIs) -> Option<Self> {
        let text = match is {
            ArgumentIs::Glob(text) | ArgumentIs::Address(text) => text,
            ArgumentIs::Regex(_) | ArgumentIs::Path(_) | ArgumentIs::Folder(_) | ArgumentIs::Number(_) => return None,
        };
        let (scheme, rest) = text.split_once("://")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = split_port(authority);
        let is_web = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https" | "ws" | "wss");
        if !is_web || host.trim_matches(['*', '.']).is_empty() || text.contains('\\') {
            return None;
        }
        // Both at once: the folder of `https://host/a/*`, by another scheme.
        let path = path.trim_end_matches('*').trim_end_matches('/');
        if matches!(is, ArgumentIs::Glob(_)) {
            let folder = format!("{scheme}://{authority}/{path}");
            return Some(Self::OfGlob(
                [text, &folder].into_iter().filter_map(|uri| UriPattern::compile(uri).ok()).collect(),
            ));
        }
        let usual = usual_port(&scheme.to_ascii_lowercase()).map(|port| port.to_string());
        let port = port.filter(|port| Some(*port) != usual.as_deref()).unwrap_or("*");
        AddressPattern::compile(&format!("*://{host}:{port}/{path}")).ok().map(Self::OfAddress)
    }
}
