//! Plans for remotes: the URL and headers of a server that is already running.

use std::collections::BTreeMap;
use std::net::IpAddr;

use foreign::{is_loopback, is_public};
use indexmap::IndexMap;
use installs::{InstallNote, InstallPlan, PlanPlace, PlannedTransport, Template, TemplatePart};
use ports::server_config::{HttpKind, header_problem, server_url_problem};
use url::{Host, Url};

use super::PlanError;
use super::inputs::{PlanInputs, ValuePosition};
use super::package::proposed_name;
use crate::server_json::read::quote_untrusted_text;
use crate::server_json::{InputDefinition, RemoteTransport, ServerJson};

/// Creates the plan for one of the remote endpoints of a server.
///
/// # Errors
/// Returns [`PlanError`] if the transport of the remote is not supported, or if its URL or a header is invalid for any
/// values of the inputs.
pub fn plan_remote(server: &ServerJson, remote: &RemoteTransport) -> Result<InstallPlan, PlanError> {
    let kind = match remote.kind.as_str() {
        "streamable-http" => HttpKind::Http,
        "sse" => HttpKind::Sse,
        other => return Err(PlanError::Transport(quote_untrusted_text(other))),
    };
    let mut inputs = PlanInputs::default();
    let text = remote.url.as_deref().unwrap_or_default();
    // The URL requires all of its variables.
    let variables: IndexMap<String, InputDefinition> = remote
        .variables
        .iter()
        .map(|(name, input)| (name.clone(), InputDefinition { is_required: true, ..input.clone() }))
        .collect();
    let place = ValuePosition { label: "URL", place: &PlanPlace::Url, is_repeated: false };
    let url = inputs.text_template(place, text, &variables, &InputDefinition::default())?;
    let begins = match url.parts.as_slice() {
        [] => "",
        [TemplatePart::Text(text)] => {
            if let Some(problem) = server_url_problem(text) {
                return Err(PlanError::Address(quote_untrusted_text(text), problem));
            }
            text
        }
        [TemplatePart::Text(text), ..] => text,
        _ => "https://",
    };
    if !begins.starts_with("https://") && !begins.starts_with("http://") {
        return Err(PlanError::Address(
            quote_untrusted_text(text),
            "it must begin with https:// or http://".to_owned(),
        ));
    }
    if begins.starts_with("http://") {
        inputs.add_note(InstallNote::Unencrypted);
    }
    if url.input_keys().next().is_some_and(|_| !matches!(url.parts.first(), Some(TemplatePart::Text(_)))) {
        inputs.add_note(InstallNote::UrlFromInput);
    }
    if is_non_public(&url) {
        inputs.add_note(InstallNote::PrivateUrl);
    }
    let mut headers = BTreeMap::new();
    for header in &remote.headers {
        let name = &header.name;
        if let Some(problem) = header_problem(name, "") {
            return Err(PlanError::Name(problem));
        }
        let place = PlanPlace::Header { name: name.clone() };
        let template =
            inputs.value_template(ValuePosition { label: name, place: &place, is_repeated: false }, &header.value)?;
        let is_twice = headers.keys().any(|other: &String| other.eq_ignore_ascii_case(name));
        if is_twice || headers.insert(name.clone(), template).is_some() {
            return Err(PlanError::Name(format!("the header {name} occurs twice")));
        }
    }
    let PlanInputs { inputs, notes } = inputs;
    Ok(InstallPlan {
        name: proposed_name(server),
        target: PlannedTransport::Remote { url, kind, headers },
        inputs,
        notes,
    })
}

/// Returns `true` if a URL leads to this computer or a private network, as far as that can be seen before the user has
/// entered the values of its inputs.
fn is_non_public(url: &Template) -> bool {
    let piece = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => text.clone(),
        TemplatePart::Input(_) | TemplatePart::Needs(_) => "x".to_owned(),
    };
    let text: String = url.parts.iter().map(piece).collect();
    match Url::parse(&text).ok().and_then(|url| url.host().map(|host| host.to_owned())) {
        Some(Host::Domain(name)) => is_loopback(&Host::Domain(&name)) || name.ends_with(".local"),
        Some(Host::Ipv4(address)) => !is_public(address.into()),
        Some(Host::Ipv6(address)) => !is_public(address.to_ipv4_mapped().map_or_else(|| address.into(), IpAddr::from)),
        None => false,
    }
}
