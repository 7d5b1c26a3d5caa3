//! Conversion of policy rules to the API types, and back.

use host::rules as host;

use crate::ApiError;
use crate::data::*;
use crate::handler::errors;

pub(in crate::handler) fn policy_view(view: host::RulesView) -> Policy {
    Policy {
        preset: view.preset,
        managed_preset: view.managed_preset,
        rules: view.rules.into_iter().map(|(from, own)| rule_view(from, own)).collect(),
        user: rule_file_view(view.user),
        managed: rule_file_view(view.managed),
    }
}

fn rule_file_view(file: host::RuleFile) -> RuleFile {
    RuleFile {
        path: file.path.display().to_string(),
        exists: file.exists,
        problem: file.problem,
        changed: file.changed,
    }
}

fn rule_view(from: policy::RuleSource, rule: policy::PolicyRule) -> Rule {
    Rule {
        id: rule.id.to_string(),
        source: from,
        effect: rule.effect,
        server: rule.server,
        tool: rule.tool,
        direction: rule.direction,
        arguments: rule.arguments.into_iter().map(argument_rule_view).collect(),
        annotations: rule.annotations.map(|claims| ClaimRule {
            read_only: claims.read_only_hint,
            destructive: claims.destructive_hint,
            idempotent: claims.idempotent_hint,
            open_world: claims.open_world_hint,
        }),
        sampling: rule.sampling.map(|budget| SamplingBudget {
            requests_per_hour: budget.requests_per_hour,
            tokens_per_hour: budget.tokens_per_hour,
        }),
        scope: rule.scope,
        expires_at: rule.expires_at,
        note: rule.note,
        trusted_server: rule.trusted_server,
        identity: rule.identity,
        after_untrusted: rule.after_untrusted,
    }
}

fn argument_rule_view(rule: policy::ArgumentRule) -> ArgumentRule {
    let (test, pattern) = match rule.is {
        policy::ArgumentPattern::Glob(glob) => (ArgumentTest::Glob, glob),
        policy::ArgumentPattern::Regex(regex) => (ArgumentTest::Regex, regex),
        policy::ArgumentPattern::Folder(folder) => (ArgumentTest::Folder, folder),
        policy::ArgumentPattern::Path(path) => (ArgumentTest::Path, path),
        policy::ArgumentPattern::Address(address) => (ArgumentTest::Url, address),
        policy::ArgumentPattern::Number(range) => (ArgumentTest::Number, range),
    };
    ArgumentRule { at: rule.at, test, pattern }
}

pub(in crate::handler) fn to_policy_rule(rule: Rule) -> Result<policy::PolicyRule, ApiError> {
    Ok(policy::PolicyRule {
        id: if rule.id.is_empty() { 0 } else { parse_rule_number(&rule.id)? },
        effect: rule.effect,
        server: rule.server,
        tool: rule.tool,
        direction: rule.direction,
        arguments: rule
            .arguments
            .into_iter()
            .map(|argument| policy::ArgumentRule {
                at: argument.at,
                is: match argument.test {
                    ArgumentTest::Glob => policy::ArgumentPattern::Glob(argument.pattern),
                    ArgumentTest::Regex => policy::ArgumentPattern::Regex(argument.pattern),
                    ArgumentTest::Folder => policy::ArgumentPattern::Folder(argument.pattern),
                    ArgumentTest::Path => policy::ArgumentPattern::Path(argument.pattern),
                    ArgumentTest::Url => policy::ArgumentPattern::Address(argument.pattern),
                    ArgumentTest::Number => policy::ArgumentPattern::Number(argument.pattern),
                },
            })
            .collect(),
        annotations: rule.annotations.map(|claims| policy::ClaimRule {
            read_only_hint: claims.read_only,
            destructive_hint: claims.destructive,
            idempotent_hint: claims.idempotent,
            open_world_hint: claims.open_world,
        }),
        sampling: rule.sampling.map(|budget| policy::SamplingBudget {
            requests_per_hour: budget.requests_per_hour,
            tokens_per_hour: budget.tokens_per_hour,
        }),
        scope: rule.scope,
        expires_at: rule.expires_at,
        note: rule.note,
        trusted_server: rule.trusted_server,
        identity: rule.identity,
        after_untrusted: rule.after_untrusted,
    })
}

fn parse_rule_number(id: &str) -> Result<u64, ApiError> {
    id.parse().map_err(|_| errors::not_found_error("this rule"))
}

pub(in crate::handler) fn rule_ref_view(rule: policy::RuleRef) -> RuleRef {
    RuleRef { source: rule.source, id: rule.id.to_string() }
}

pub(in crate::handler) fn to_rule_ref(rule: &RuleRef) -> Result<policy::RuleRef, ApiError> {
    Ok(policy::RuleRef { source: rule.source, id: parse_rule_number(&rule.id)? })
}

fn decision_source_view(by: policy::DecisionSource) -> DecisionSource {
    match by {
        policy::DecisionSource::BuiltIn => DecisionSource::BuiltIn,
        policy::DecisionSource::Grant(id) => DecisionSource::Grant { id: id.0.to_string() },
        policy::DecisionSource::Rule(rule) => DecisionSource::Rule { rule: rule_ref_view(rule) },
        policy::DecisionSource::Preset => DecisionSource::Preset,
        policy::DecisionSource::ManagedPreset => DecisionSource::ManagedPreset,
        policy::DecisionSource::RepeatedApproval => DecisionSource::RepeatedApproval,
    }
}

pub(in crate::handler) fn dry_run_result_view(result: host::DryRunResult) -> DryRunResult {
    let (effect_is, reason, decided_by, scopes) = match result.explanation.decision {
        policy::PolicyDecision::Allow { by } => (RuleEffect::Allow, "allowed", by, &[][..]),
        policy::PolicyDecision::Ask { reason, by, scopes } => (RuleEffect::Ask, reason.name(), by, scopes),
        policy::PolicyDecision::Deny { reason, by } => (RuleEffect::Deny, reason.name(), by, &[][..]),
    };
    DryRunResult {
        effect: effect_is,
        reason: reason.to_owned(),
        by: decision_source_view(decided_by),
        scopes: scopes.to_vec(),
        considered: result.explanation.considered.into_iter().map(considered_rule_view).collect(),
        assumed_unchanged: result.assumed_unchanged,
        review_state: result.review_state,
        is_tool_turned_off: result.turned_off,
    }
}

fn considered_rule_view(one: policy::ConsideredRule) -> ConsideredRule {
    let argument = match one.fit {
        policy::RuleFit::OtherArgument(at) => u32::try_from(at).ok(),
        _ => None,
    };
    ConsideredRule {
        by: decision_source_view(one.by),
        effect: one.effect,
        fit: one.fit.name().to_owned(),
        argument,
        arguments: one.arguments,
    }
}
