//! The `policy` commands: shows the rules, checks what they decide, and prints them as text.

use api::Handler as _;
use api::data::{DryRun, DryRunAct, EmptyObject, Policy, Preset, Rule, RuleEffect, RuleFile, RuleScope, RuleSource};
use serde_json::Value;

use crate::arguments::PolicyCommand;
use crate::commands::parse_json_object;
use crate::dry_run_text;
use crate::failure::CommandFailure;
use crate::output::to_json_value;
use crate::published_names::{DRY_RUN_FIELD_NAMES, with_published_field_names};
use crate::session::CommandSession;
use crate::table::{format_table, format_time};
use crate::terminal_escape;

/// Runs a `policy` command, and returns its result as JSON.
pub(crate) async fn run(session: &CommandSession, command: PolicyCommand) -> Result<Value, CommandFailure> {
    match command {
        PolicyCommand::Show => show_rules(session).await,
        PolicyCommand::Check { server, tool, args, act, after_untrusted } => {
            dry_run_policy(session, server, tool, &args, act, after_untrusted).await
        }
        PolicyCommand::Export => {
            let text = session.api.read_policy_text(EmptyObject {}).await?.text;
            session.output.print_text(&text);
            Ok(to_json_value(&serde_json::from_str::<Value>(&text).unwrap_or_default()))
        }
    }
}

async fn show_rules(session: &CommandSession) -> Result<Value, CommandFailure> {
    let policy = session.api.read_policy(EmptyObject {}).await?;
    session.output.print_text(&policy_text(&policy));
    Ok(to_json_value(&policy))
}

fn policy_text(policy: &Policy) -> String {
    let preset = |preset| match preset {
        Preset::Careful => "careful: everything that is sent or read asks each time",
        Preset::Balanced => "balanced: tool calls ask, and you decide how long your approval lasts",
    };
    let mut text = format!("Preset: {}\n", preset(policy.preset));
    if policy.managed_preset == Preset::Careful && policy.preset != Preset::Careful {
        text.push_str("  On this computer the careful preset applies to all users.\n");
    }
    for (what, file) in [("Your rules", &policy.user), ("Rules of this computer", &policy.managed)] {
        text.push_str(&rule_file_text(what, file));
    }
    text.push_str(&format_table(&policy.rules.iter().map(rule_row).collect::<Vec<_>>()));
    text
}

fn rule_file_text(what: &str, file: &RuleFile) -> String {
    let path = terminal_escape::escape_line(&file.path);
    match &file.problem {
        Some(problem) => {
            format!(
                "{what}: {path} can't be used, so everything requires consent: {}\n",
                terminal_escape::escape_line(problem)
            )
        }
        None if file.exists => match file.changed {
            Some(at) => format!("{what}: {path} (changed by another program at {})\n", format_time(at)),
            None => format!("{what}: {path}\n"),
        },
        None => format!("{what}: none ({path})\n"),
    }
}

fn rule_row(rule: &Rule) -> Vec<String> {
    let source = match rule.source {
        RuleSource::Managed => "managed ",
        RuleSource::User => "",
        RuleSource::Session => "session ",
    };
    let mut more: Vec<String> = rule
        .arguments
        .iter()
        .map(|argument| {
            let test = to_json_value(&argument.test);
            let test = test.as_str().unwrap_or_default();
            terminal_escape::escape_line(&format!("{} {test} {}", argument.at, argument.pattern))
        })
        .collect();
    if let Some(claims) = &rule.annotations {
        more.push(format!("says {}", to_json_value(claims)));
    }
    match &rule.scope {
        RuleScope::Always => {}
        RuleScope::Session => more.push("until Drawbridge closes".to_owned()),
        RuleScope::Conversation { conversation } => {
            more.push(format!("in {}", terminal_escape::escape_line(conversation)))
        }
    }
    if let Some(end) = rule.expires_at {
        more.push(format!("until {}", format_time(end)));
    }
    if let Some(identity) = &rule.identity {
        more.push(format!("what is {}", terminal_escape::escape_line(identity)));
    }
    if rule.after_untrusted {
        more.push("also after untrusted content".to_owned());
    }
    if rule.trusted_server {
        more.push("trusted server".to_owned());
    }
    if !rule.note.is_empty() {
        more.push(terminal_escape::escape_line(&rule.note));
    }
    vec![
        format!("{source}rule {}", rule.id),
        rule_effect_text(rule.effect).to_owned(),
        terminal_escape::escape_line(&rule.server),
        rule.tool.as_deref().map(terminal_escape::escape_line).unwrap_or_default(),
        to_json_value(&rule.direction).as_str().unwrap_or_default().replace('_', " "),
        more.join("; "),
    ]
}

const fn rule_effect_text(effect: RuleEffect) -> &'static str {
    match effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Ask => "ask",
        RuleEffect::Deny => "deny",
    }
}

/// Prints what the policy would decide about a tool call or another operation of the server. Starts and sends nothing.
async fn dry_run_policy(
    session: &CommandSession,
    server: String,
    tool: Option<String>,
    args: &str,
    act: Option<DryRunAct>,
    after_untrusted: bool,
) -> Result<Value, CommandFailure> {
    let act = match (tool, act) {
        (Some(tool), None) => {
            DryRunAct::Tool { tool, arguments: parse_json_object(args, "JSON")?, conversation: None, after_untrusted }
        }
        (None, Some(act)) => act,
        _ => {
            return Err(CommandFailure::usage_error(
                "expected the name of a tool, or --act with something else to check",
            ));
        }
    };
    let result = session.api.dry_run(DryRun { server: server.clone(), act }).await?;
    let rules = session.api.read_policy(EmptyObject {}).await?;
    session.output.print_text(&dry_run_text::dry_run_text(&server, &result, &rules));
    Ok(with_published_field_names(to_json_value(&result), DRY_RUN_FIELD_NAMES))
}
