//! Builds the value of the header `Content-Security-Policy`. Text that a page declares never reaches it unparsed.

use std::fmt::Write;

use super::csp_source::CspSource;
use super::declared_csp_sources::{CspSourceUse, DeclaredCspSources};

/// Origin of a page of the host that may embed pages of apps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameAncestor(String);

/// Error for a text that is not the origin of an embedding page: a scheme, `://`, and a host with an optional port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an origin")]
pub struct InvalidFrameAncestor(String);

impl FrameAncestor {
    /// Parses an origin such as `tauri://localhost` or `http://tauri.localhost`.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidFrameAncestor`] if the text is not an origin.
    pub fn new(origin: &str) -> Result<Self, InvalidFrameAncestor> {
        let error = || InvalidFrameAncestor(origin.to_owned());
        let (scheme, host) = origin.split_once("://").ok_or_else(error)?;
        let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        let is_origin = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(is_scheme);
        if is_origin && !host.is_empty() && host.bytes().all(is_host) {
            Ok(Self(origin.to_owned()))
        } else {
            Err(error())
        }
    }
}

/// Returns the value of the header `Content-Security-Policy`.
///
/// Without declared domains, the policy is the specification's restrictive default. With and without, it is stricter
/// than the specification where apps lose nothing: forms are not submitted, there are no workers (a worker would need
/// `blob:`, which no page can declare), no `connect-src` to the page's own address, and no WebRTC, which bypasses
/// `connect-src`.
pub(super) fn content_security_policy_value(
    sources: &DeclaredCspSources,
    declares_domains: bool,
    ancestors: &[FrameAncestor],
) -> String {
    let list = |used_as: CspSourceUse| {
        sources.with_use(used_as).map(|source| format_csp_source(source, used_as)).collect::<Vec<_>>()
    };
    let resources = list(CspSourceUse::Resource);
    let with_resources = |fixed: &[&'static str]| {
        let fixed = fixed.iter().map(|source| (*source).to_owned());
        fixed.chain(resources.iter().cloned()).collect::<Vec<String>>()
    };
    let or = |list: Vec<String>, otherwise: &str| if list.is_empty() { vec![otherwise.to_owned()] } else { list };
    let none = || vec!["'none'".to_owned()];
    let ancestors: Vec<String> = ancestors.iter().map(|ancestor| ancestor.0.clone()).collect();

    let directives = [
        ("default-src", none()),
        ("script-src", with_resources(&["'self'", "'unsafe-inline'"])),
        ("style-src", with_resources(&["'self'", "'unsafe-inline'"])),
        ("img-src", with_resources(&["'self'", "data:"])),
        ("font-src", if declares_domains { with_resources(&["'self'"]) } else { none() }),
        ("media-src", with_resources(&["'self'", "data:"])),
        ("connect-src", or(list(CspSourceUse::Connect), "'none'")),
        ("frame-src", or(list(CspSourceUse::Frame), "'none'")),
        ("worker-src", none()),
        ("object-src", none()),
        ("base-uri", or(list(CspSourceUse::BaseUri), "'self'")),
        ("form-action", none()),
        ("frame-ancestors", or(ancestors, "'none'")),
        ("webrtc", vec!["'block'".to_owned()]),
    ];
    let mut value = String::new();
    for (name, sources) in directives {
        let separator = if value.is_empty() { "" } else { "; " };
        // Writing to a String cannot fail.
        let _ = write!(value, "{separator}{name} {}", sources.join(" "));
    }
    value
}

/// Formats a source for the policy. Adds encrypted schemes to `*`, which alone would include unencrypted ones.
fn format_csp_source(source: &CspSource, used_as: CspSourceUse) -> String {
    match (source, used_as) {
        (CspSource::Origin(origin), _) => origin.to_string(),
        (CspSource::EveryHost, CspSourceUse::Connect) => "https: wss:".to_owned(),
        (CspSource::EveryHost, _) => "https:".to_owned(),
    }
}
