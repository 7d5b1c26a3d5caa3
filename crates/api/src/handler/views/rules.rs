//! Conversion of policy rules to the API types, and back.

use host::rules as host;
use policy as own;

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

fn rule_view(from: own::RuleSource, rule: own::PolicyRule) -> Rule {
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

fn argument_rule_view(rule: own::ArgumentRule) -> ArgumentRule {
    let (test, pattern) = match rule.is {
        own::ArgumentPattern::Glob(glob) => (ArgumentTest::Glob, glob),
        own::ArgumentPattern::Regex(regex) => (ArgumentTest::Regex, regex),
        own::ArgumentPattern::Folder(folder) => (ArgumentTest::Folder, folder),
        own::ArgumentPattern::Path(path) => (ArgumentTest::Path, path),
        own::ArgumentPattern::Address(address) => (ArgumentTest::Url, address),
        own::ArgumentPattern::Number(range) => (ArgumentTest::Number, range),
    };
    ArgumentRule { at: rule.at, test, pattern }
}

pub(in crate::handler) fn to_policy_rule(rule: Rule) -> Result<own::PolicyRule, ApiError> {
    Ok(own::PolicyRule {
        id: if rule.id.is_empty() { 0 } else { parse_rule_number(&rule.id)? },
        effect: rule.effect,
        server: rule.server,
        tool: rule.tool,
        direction: rule.direction,
        arguments: rule
            .arguments
            .into_iter()
            .map(|argument| own::ArgumentRule {
                at: argument.at,
                is: match argument.test {
                    ArgumentTest::Glob => own::ArgumentPattern::Glob(argument.pattern),
                    ArgumentTest::Regex => own::ArgumentPattern::Regex(argument.pattern),
                    ArgumentTest::Folder => own::ArgumentPattern::Folder(argument.pattern),
                    ArgumentTest::Path => own::ArgumentPattern::Path(argument.pattern),
                    ArgumentTest::Url => own::ArgumentPattern::Address(argument.pattern),
                    ArgumentTest::Number => own::ArgumentPattern::Number(argument.pattern),
                },
            })
            .collect(),
        annotations: rule.annotations.map(|claims| own::ClaimRule {
            read_only_hint: claims.read_only,
            destructive_hint: claims.destructive,
            idempotent_hint: claims.idempotent,
            open_world_hint: claims.open_world,
        }),
        sampling: rule.sampling.map(|budget| own::SamplingBudget {
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

pub(in crate::handler) fn rule_ref_view(rule: own::RuleRef) -> RuleRef {
    RuleRef { source: rule.source, id: rule.id.to_string() }
}

pub(in crate::handler) fn to_rule_ref(rule: &RuleRef) -> Result<own::RuleRef, ApiError> {
    Ok(own::RuleRef { source: rule.source, id: parse_rule_number(&rule.id)? })
}

fn decision_source_view(by: own::DecisionSource) -> DecisionSource {
    match by {
        own::DecisionSource::BuiltIn => DecisionSource::BuiltIn,
        own::DecisionSource::Grant(id) => DecisionSource::Grant { id: id.0.to_string() },
        own::DecisionSource::Rule(rule) => DecisionSource::Rule { rule: rule_ref_view(rule) },
        own::DecisionSource::Preset => DecisionSource::Preset,
        own::DecisionSource::ManagedPreset => DecisionSource::ManagedPreset,
    }
}

pub(in crate::handler) fn dry_run_result_view(result: host::DryRunResult) -> DryRunResult {
    let (effect_is, reason, decided_by, scopes) = match result.explanation.decision {
        own::PolicyDecision::Allow { by } => (RuleEffect::Allow, "allowed", by, &[][..]),
        own::PolicyDecision::Ask { reason, by, scopes } => (RuleEffect::Ask, reason.name(), by, scopes),
        own::PolicyDecision::Deny { reason, by } => (RuleEffect::Deny, reason.name(), by, &[][..]),
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

fn considered_rule_view(one: own::ConsideredRule) -> ConsideredRule {
    let argument = match one.fit {
        own::RuleFit::OtherArgument(at) => u32::try_from(at).ok(),
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
