//! Commands for policy rules: read, change, dry run and export.

use host::RestoreGrantError;
use host::rules::RulesError;
use policy::{GrantId, PolicyFile};
use serde_json::json;

use super::views::{permission_grant_view, rules as views};
use super::{Api, errors, saved_file_view};
use crate::data::*;
use crate::{ApiError, ErrorCode};

pub(super) async fn read_policy(api: &Api) -> Result<Policy, ApiError> {
    Ok(views::policy_view(api.host.rules_view().await?))
}

/// Adds a new rule. Returns an error if the rule has a number, so that the caller can't replace an existing rule that
/// denies.
pub(super) async fn add_policy_rule(api: &Api, r: Rule) -> Result<RuleRef, ApiError> {
    if !r.id.is_empty() {
        return Err(ApiError::new(ErrorCode::Invalid, "a new rule has no number"));
    }
    set_policy_rule(api, r).await
}

pub(super) async fn set_policy_rule(api: &Api, r: Rule) -> Result<RuleRef, ApiError> {
    if r.source == RuleSource::Managed {
        return Err(ApiError::from(RulesError::NoSuchRule));
    }
    Ok(views::rule_ref_view(api.host.set_rule(views::to_policy_rule(r)?).await?))
}

pub(super) async fn restore_policy_rule(api: &Api, r: Rule) -> Result<RuleRef, ApiError> {
    if r.source == RuleSource::Managed {
        return Err(ApiError::from(RulesError::NoSuchRule));
    }
    Ok(views::rule_ref_view(api.host.restore_rule(views::to_policy_rule(r)?).await?))
}

pub(super) async fn remove_policy_rule(api: &Api, r: RuleRef) -> Result<EmptyObject, ApiError> {
    api.host.remove_rule(views::to_rule_ref(&r)?).await?;
    Ok(EmptyObject {})
}

pub(super) async fn set_policy_preset(api: &Api, r: SetPreset) -> Result<EmptyObject, ApiError> {
    api.host.set_preset(r.preset).await?;
    Ok(EmptyObject {})
}

pub(super) async fn set_server_trust(api: &Api, r: SetTrust) -> Result<EmptyObject, ApiError> {
    api.host.set_server_trust(r.server, r.trust).await?;
    Ok(EmptyObject {})
}

pub(super) async fn dry_run_policy(api: &Api, r: DryRun) -> Result<DryRunResult, ApiError> {
    Ok(views::dry_run_result_view(api.host.dry_run(r.server, r.act).await?))
}

/// Returns all rules and grants in effect as text: the rules of the files and of this session.
pub(super) async fn read_policy_text(api: &Api) -> Result<PolicyText, ApiError> {
    let (view, grants) = (api.host.rules_view().await?, api.host.grants().await?);
    let of = |source| {
        let rules = view.rules.iter().filter(|(own, _)| *own == source).map(|(_, rule)| rule.clone());
        rules.collect::<Vec<_>>()
    };
    let file = |source, preset| PolicyFile { preset, rules: of(source), ..PolicyFile::default() };
    let text = json!({
        "policy": file(policy::RuleSource::User, view.preset),
        "managed": view.managed.exists.then(|| file(policy::RuleSource::Managed, view.managed_preset)),
        "thisRun": of(policy::RuleSource::Session),
        "approvals": grants,
    });
    Ok(PolicyText { text: format!("{text:#}\n") })
}

/// Writes the text of [`read_policy_text`] to a file that the user selects.
pub(super) async fn export_policy(api: &Api) -> Result<SavedFile, ApiError> {
    let text = read_policy_text(api).await?.text;
    let write = move |file: &mut dyn std::io::Write| file.write_all(text.as_bytes());
    Ok(saved_file_view(api.host.save_file("drawbridge-rules.json", write).await?))
}

impl From<RulesError> for ApiError {
    fn from(error: RulesError) -> Self {
        let code = match &error {
            RulesError::Unusable(_) => ErrorCode::Config,
            RulesError::Rule(_) => ErrorCode::Invalid,
            RulesError::NoSuchRule | RulesError::NoSuchServer(_) | RulesError::NoSuchTool { .. } => ErrorCode::NotFound,
            RulesError::Store(_) => ErrorCode::System,
            RulesError::Closed(_) => ErrorCode::Internal,
        };
        Self::new(code, error.to_string())
    }
}

/// Returns all grants in effect, and the last uses of rules and shared folders.
pub(super) async fn list_grants(api: &Api) -> Result<Grants, ApiError> {
    let grants = api.host.grants().await?.into_iter().map(permission_grant_view).collect();
    let uses = api.host.permission_uses().await?;
    let (rules, folders) = (uses.last_uses_of_rules(), uses.last_uses_of_folders());
    Ok(Grants {
        grants,
        rule_uses: rules
            .into_iter()
            .map(|(rule, last_use)| RuleUse { rule: views::rule_ref_view(rule), last_use })
            .collect(),
        folder_uses: folders.into_iter().map(|(server, last_use)| FolderUse { server, last_use }).collect(),
    })
}

fn parse_grant_id(text: &str) -> Result<GrantId, ApiError> {
    text.parse().map(GrantId).map_err(|_| errors::not_found_error("this approval"))
}

/// Restores a grant that was revoked a few seconds ago, so that it is in effect again.
pub(super) async fn restore_grant(api: &Api, r: GrantRef) -> Result<EmptyObject, ApiError> {
    match api.host.restore_grant(parse_grant_id(&r.id)?).await {
        Ok(()) => Ok(EmptyObject {}),
        Err(RestoreGrantError::NotRevoked) => Err(errors::not_found_error("this approval")),
        Err(error @ (RestoreGrantError::TooLate | RestoreGrantError::Changed)) => {
            Err(ApiError::new(ErrorCode::Stale, error.to_string()))
        }
        Err(error @ RestoreGrantError::Store(_)) => Err(errors::system_error(error.to_string())),
        Err(RestoreGrantError::Closed(closed)) => Err(closed.into()),
    }
}

pub(super) async fn revoke_grant(api: &Api, r: GrantRef) -> Result<EmptyObject, ApiError> {
    let id = parse_grant_id(&r.id)?;
    let was_there = api.host.revoke_grant(id).await.map_err(|e| errors::system_error(e.to_string()))?;
    if was_there { Ok(EmptyObject {}) } else { Err(errors::not_found_error("this approval")) }
}
