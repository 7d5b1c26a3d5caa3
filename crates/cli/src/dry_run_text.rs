//! Describes the result of a policy dry run: the effect, and how each rule matched the call.

use api::data::{
    ArgumentJudgement, ArgumentRule, ConsideredRule, DecisionSource, DryRunResult, Policy, ReviewState, RuleEffect,
    RuleRef, RuleSource,
};

use crate::output::to_json_value;
use crate::table::format_table;
use crate::terminal_escape;

/// Describes what the policy would decide, the reason, and how each rule matched. Looks up the conditions of the rules
/// in `rules`.
pub(crate) fn dry_run_text(server: &str, result: &DryRunResult, rules: &Policy) -> String {
    let effect = match result.effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Ask => "ask",
        RuleEffect::Deny => "deny",
    };
    let mut text = format!(
        "{effect}: {} ({}), by {}\n",
        decision_reason_text(&result.reason),
        result.reason,
        decision_source_text(&result.by)
    );
    text.push_str(&review_state_text(server, result));
    if result.is_tool_turned_off {
        text.push_str("  Models can't call this tool: it is turned off in the settings of the server.\n");
    }
    if result.assumed_unchanged {
        text.push_str("  The server is not running: this result is for the tools of its last run.\n");
    }
    let (looked_at, others): (Vec<&ConsideredRule>, _) =
        result.considered.iter().partition(|one| !one.arguments.is_empty());
    for one in looked_at {
        text.push_str(&format_table(&[considered_rule_row(one)]));
        let conditions = rule_conditions(&one.by, rules);
        for judged in &one.arguments {
            text.push_str(&argument_condition_text(judged, conditions.get(judged.number)));
        }
    }
    text.push_str(&format_table(&others.into_iter().map(considered_rule_row).collect::<Vec<_>>()));
    text
}

fn review_state_text(server: &str, result: &DryRunResult) -> String {
    let review = format!("review it with: drawbridge-cli review {}", terminal_escape::escape_line(server));
    match result.review_state {
        Some(ReviewState::Changed) => {
            format!("  The definition of the tool, or its server, changed since it was reviewed; {review}\n")
        }
        Some(ReviewState::New) => format!("  This tool has not been reviewed yet; {review}\n"),
        Some(ReviewState::Reviewed) | None => String::new(),
    }
}

fn considered_rule_row(one: &ConsideredRule) -> Vec<String> {
    let argument = one.argument.map(|at| format!(" {}", at + 1)).unwrap_or_default();
    let effect = to_json_value(&one.effect).as_str().unwrap_or_default().to_owned();
    vec![decision_source_text(&one.by), effect, format!("{}{argument}", one.fit)]
}

fn rule_conditions<'a>(by: &DecisionSource, rules: &'a Policy) -> &'a [ArgumentRule] {
    let DecisionSource::Rule { rule: RuleRef { source, id } } = by else { return &[] };
    let own = rules.rules.iter().find(|rule| rule.source == *source && rule.id == *id);
    own.map_or(&[], |rule| rule.arguments.as_slice())
}

/// Describes a rule's condition on an argument of the call: its pattern, the normalized values, and the reason why it
/// holds or not.
fn argument_condition_text(judged: &ArgumentJudgement, written: Option<&ArgumentRule>) -> String {
    let number = judged.number + 1;
    let mut text = match written {
        Some(ArgumentRule { at, test, pattern }) => {
            let test = to_json_value(test);
            let words = format!("{at} {} {pattern}", test.as_str().unwrap_or_default());
            format!("  condition {number}: {}\n", terminal_escape::escape_line(&words))
        }
        None => format!("  condition {number}\n"),
    };
    if let Some(value) = &judged.value {
        text.push_str(&format!("    value    {}\n", terminal_escape::escape_line(value)));
    }
    for normal in &judged.normal {
        text.push_str(&format!("    read as  {}\n", terminal_escape::escape_line(normal)));
    }
    let outcome = if judged.holds { "holds" } else { "does not hold" };
    text.push_str(&format!(
        "    {outcome}: {} ({})\n",
        condition_outcome_text(judged.reason.name()),
        judged.reason.name()
    ));
    text
}

/// Returns a description of the reason for a decision of the policy. `name` is the identifier of the reason in the API.
fn decision_reason_text(name: &str) -> &str {
    match name {
        "allowed" => "it is allowed, and nothing denies or asks",
        "rule-denies" => "a rule denies it",
        "rule-asks" => "a rule asks each time",
        "tool-asks-each-time" => "the tool asks each time",
        "preset-asks" => "the careful preset asks for everything",
        "policy-unusable" => "your rules can't be used, so everything asks",
        "managed-unusable" => "the rules of this computer can't be used, so everything asks",
        "tools-ask" => "nothing allows it",
        "tool-changed" => "the definition changed since it was reviewed",
        "new-tool" => "it is allowed, but you have not reviewed the tool",
        "after-untrusted" => "it is allowed, but the model has read untrusted content",
        "turned-off" => "the tool is turned off for models in the settings of the server",
        "new-command" | "new-address" => "it was never approved",
        "command-changed" | "address-changed" => "it changed since it was approved",
        "sandbox-chosen" => "you chose this sandbox, so its start is confirmed",
        "muted" => "the server is muted",
        "sampling-asks" | "forms-ask" | "urls-ask" | "app-reads-ask" | "roots-ask" | "sign-in-asks" => {
            "it asks each time"
        }
        _ => "see the name of the reason",
    }
}

/// Returns a description of the reason why a condition holds or not. `name` is the identifier of the reason in the API.
fn condition_outcome_text(name: &str) -> &str {
    match name {
        "matches" => "the value meets the condition",
        "differs" => "the value is different",
        "missing" => "the value is missing",
        "not-judged" => "a value of this kind can't be evaluated",
        "too-long" => "the value is too long to evaluate",
        "respelled" => "another spelling of the value matches, or programs read it in different ways",
        "climbs" => "the value has \"..\", so its target is not clear",
        "crosses-parts" => "a wildcard covers more than one part of the address",
        "not-whole" => "the path does not begin at the root of the pattern",
        "second-name" => "the path goes through a folder that has aliases of other folders",
        "letters" => "only upper and lower case, or accents, differ",
        "unresolved" => "the links on the path could not be resolved",
        "leads-elsewhere" => "a link on the path leads elsewhere",
        "holds" => "the value is the folder that contains the target of the condition",
        "user-info" => "the address has a user name or password",
        "not-address" => "the value is not a full address",
        "not-number" => "the value is not a number",
        "text-number" => "the value is text that may be read as a number",
        _ => "see the name of the reason",
    }
}

fn decision_source_text(by: &DecisionSource) -> String {
    match by {
        DecisionSource::BuiltIn => "built-in rule".to_owned(),
        DecisionSource::Grant { id } => format!("approval {id}"),
        DecisionSource::Rule { rule } => match rule.source {
            RuleSource::Managed => format!("managed rule {}", rule.id),
            RuleSource::User => format!("rule {}", rule.id),
            RuleSource::Session => format!("session rule {}", rule.id),
        },
        DecisionSource::Preset => "your preset".to_owned(),
        DecisionSource::ManagedPreset => "the preset of this computer".to_owned(),
        DecisionSource::RepeatedApproval => "approval of the same call".to_owned(),
    }
}
