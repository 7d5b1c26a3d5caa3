//! Commands for reviews of definitions.

use host::DefinitionShownToUser;
use offers::review::{AppApproval, DefinitionKind, DefinitionPin, ServerPins};
use serde_json::Value;

use super::{Api, errors};
use crate::ApiError;
use crate::data::*;

pub(super) async fn review_definitions(api: &Api, r: ReviewDefinitions) -> Result<EmptyObject, ApiError> {
    let of = |kind: DefinitionKind, definitions: Vec<ReviewedDefinition>| {
        definitions.into_iter().map(move |ReviewedDefinition { name, hash }| DefinitionShownToUser { kind, name, hash })
    };
    let reviewed = of(DefinitionKind::Tool, r.tools).chain(of(DefinitionKind::Prompt, r.prompts)).collect();
    api.host.mark_definitions_reviewed(r.server, reviewed).await?;
    Ok(EmptyObject {})
}

pub(super) async fn list_reviewed_definitions(api: &Api, server: String) -> Result<ReviewedDefinitions, ApiError> {
    let servers = api.host.snapshot().await?.servers;
    if !servers.iter().any(|known| known.name == server) {
        return Err(errors::not_found_error(&format!("server \"{server}\"")));
    }
    let pins = api.host.pins().await?.remove(&server).unwrap_or_default();
    let ServerPins { identity, issuer, endpoints, tools, prompts, apps } = &*pins;
    let words = |(name, value): (&String, &Value)| match value {
        Value::Null => None,
        Value::Array(items) if items.is_empty() => None,
        Value::String(text) => Some((name.clone(), text.clone())),
        other => Some((name.clone(), other.to_string())),
    };
    Ok(ReviewedDefinitions {
        server,
        identity: identity
            .iter()
            .flat_map(|identity| identity.parts.iter().filter_map(words))
            .chain(endpoints.iter().map(|(name, url)| (name.clone(), url.clone())))
            .collect(),
        identity_since: identity.as_ref().map(|identity| identity.at),
        issuer: issuer.clone(),
        tools: tools.iter().map(pinned_definition_view).collect(),
        prompts: prompts.iter().map(pinned_definition_view).collect(),
        apps: apps.iter().map(approved_app_view).collect(),
    })
}

fn approved_app_view((uri, approval): (&String, &AppApproval)) -> ApprovedApp {
    let AppApproval { hash, grants, at } = approval;
    ApprovedApp { uri: uri.clone(), hash: hash.clone(), grants: grants.clone(), since: *at }
}

fn pinned_definition_view((name, pin): (&String, &DefinitionPin)) -> PinnedDefinition {
    PinnedDefinition { name: name.clone(), hash: pin.hash.to_string(), since: pin.at }
}
