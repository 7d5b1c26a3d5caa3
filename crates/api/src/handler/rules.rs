//! Rules: shown, changed, tried, exported.

use host::rules::{DryRun as HostDryRun, RulesError};
use policy::PolicyFile;
use serde_json::json;

use super::views::rules as views;
use super::{Api, object, saved_file};
use crate::data::*;
use crate::{ApiError, ErrorCode};

impl Api {
    pub(super) async fn policy(&self) -> Result<Policy, ApiError> {
        Ok(views::policy(self.host.rules().await?))
    }

    pub(super) async fn set_policy_rule(&self, r: Rule) -> Result<RuleRef, ApiError> {
        if r.source == RuleSource::Managed {
            return Err(ApiError::from(RulesError::NoSuchRule));
        }
        Ok(views::rule_ref(self.host.set_rule(views::to_rule(r)?).await??))
    }

    pub(super) async fn remove_policy_rule(&self, r: RuleRef) -> Result<Nothing, ApiError> {
        self.host.remove_rule(views::to_rule_ref(&r)?).await??;
        Ok(Nothing {})
    }

    pub(super) async fn set_preset(&self, r: SetPreset) -> Result<Nothing, ApiError> {
        self.host.set_preset(r.preset).await??;
        Ok(Nothing {})
    }

    pub(super) async fn set_trust(&self, r: SetTrust) -> Result<Nothing, ApiError> {
        self.host.trust(r.server, r.trust).await??;
        Ok(Nothing {})
    }

    pub(super) async fn dry_run(&self, r: DryRun) -> Result<DryRunResult, ApiError> {
        let asked = match r.act {
            DryAct::Tool { tool, arguments, conversation, after_untrusted } => {
                HostDryRun::Call { tool, arguments: object(arguments, "arguments")?, conversation, after_untrusted }
            }
            DryAct::Read => HostDryRun::Read,
            DryAct::Start => HostDryRun::Start,
            DryAct::Sampling => HostDryRun::Sampling,
            DryAct::Form => HostDryRun::Form,
            DryAct::Url => HostDryRun::Url,
            DryAct::Roots => HostDryRun::Roots,
            DryAct::SignIn => HostDryRun::SignIn,
        };
        Ok(views::dry_run_result(self.host.dry_run(r.server, asked).await??))
    }

    /// All that stands, as text: rules as files have them, those of this run, and approvals.
    pub(super) async fn policy_text(&self) -> Result<PolicyText, ApiError> {
        let (view, grants) = (self.host.rules().await?, self.host.grants().await?);
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

    /// Writes the same to a file that the user picks.
    pub(super) async fn export_policy(&self) -> Result<SavedFile, ApiError> {
        let text = self.policy_text().await?.text;
        let write = move |file: &mut dyn std::io::Write| file.write_all(text.as_bytes());
        Ok(saved_file(self.host.save_file("drawbridge-rules.json", write).await?))
    }
}

impl From<RulesError> for ApiError {
    fn from(error: RulesError) -> Self {
        let code = match &error {
            RulesError::Unusable(_) => ErrorCode::Config,
            RulesError::Rule(_) => ErrorCode::Invalid,
            RulesError::NoSuchRule | RulesError::NoSuchServer(_) | RulesError::NoSuchTool { .. } => ErrorCode::NotFound,
            RulesError::Store(_) => ErrorCode::System,
        };
        Self::new(code, error.to_string())
    }
}
