//! The `policy` commands: shows the rules, checks what they decide, and prints them as text.

use api::Handler as _;
use api::data::{DryRun, DryRunAct, EmptyObject, Policy, Preset, Rule, RuleEffect, RuleFile, RuleScope, RuleSource};
use serde_json::Value;

use crate::arguments::PolicyCommand;
use crate::commands::object;
use crate::dry_run_text;
use crate::failure::CommandFailure;
use crate::output::value;
use crate::session::CommandSession;
use crate::table::{table, time};
use crate::terminal_escape;

/// Runs a `policy` command.
pub(crate) async fn run(session: &CommandSession, command: PolicyCommand) -> Result<Value, CommandFailure> {
    match command {
        PolicyCommand::Show => show(session).await,
        PolicyCommand::Check { server, tool, args, act, after_untrusted } => {
            check(session, server, tool, &args, act, after_untrusted).await
        }
        PolicyCommand::Export => {
            let text = session.api.policy_text(EmptyObject {}).await?.text;
            session.output.text(&text);
            Ok(value(&serde_json::from_str::<Value>(&text).unwrap_or_default()))
        }
    }
}

async fn show(session: &CommandSession) -> Result<Value, CommandFailure> {
    let policy = session.api.policy(EmptyObject {}).await?;
    session.output.text(&policy_text(&policy));
    Ok(value(&policy))
}

fn policy_text(policy: &Policy) -> String {
    let preset = |preset| match preset {
        Preset::Careful => "careful: everything that is sent or read asks each time",
        Preset::Balanced => "balanced: tool calls ask, and you decide how long your approval lasts",
    };
    let mut text = format!("Preset: {}\n", preset(policy.preset));
    if policy.managed_preset == Preset::Careful && policy.preset != Preset::Careful {
        text.push_str("  On this computer the careful one holds for all users.\n");
    }
    for (what, file) in [("Your rules", &policy.user), ("Rules of this computer", &policy.managed)] {
        text.push_str(&file_words(what, file));
    }
    text.push_str(&table(&policy.rules.iter().map(row).collect::<Vec<_>>()));
    text
}

fn file_words(what: &str, file: &RuleFile) -> String {
    let path = terminal_escape::line(&file.path);
    match &file.problem {
        Some(problem) => {
            format!("{what}: {path} can't be used, so everything asks: {}\n", terminal_escape::line(problem))
        }
        None if file.exists => match file.changed {
            Some(at) => format!("{what}: {path} (changed by another program at {})\n", time(at)),
            None => format!("{what}: {path}\n"),
        },
        None => format!("{what}: none ({path})\n"),
    }
}

fn row(rule: &Rule) -> Vec<String> {
    let source = match rule.source {
        RuleSource::Managed => "managed ",
        RuleSource::User => "",
        RuleSource::Session => "session ",
    };
    let mut more: Vec<String> = rule
        .arguments
        .iter()
        .map(|argument| {
            let test = value(&argument.test);
            let test = test.as_str().unwrap_or_default();
            terminal_escape::line(&format!("{} {test} {}", argument.at, argument.pattern))
        })
        .collect();
    if let Some(claims) = &rule.annotations {
        more.push(format!("says {}", value(claims)));
    }
    match &rule.scope {
        RuleScope::Always => {}
        RuleScope::Session => more.push("until Drawbridge closes".to_owned()),
        RuleScope::Conversation { conversation } => more.push(format!("in {}", terminal_escape::line(conversation))),
    }
    if let Some(end) = rule.expires_at {
        more.push(format!("until {}", time(end)));
    }
    if let Some(identity) = &rule.identity {
        more.push(format!("what is {}", terminal_escape::line(identity)));
    }
    if rule.after_untrusted {
        more.push("also after untrusted content".to_owned());
    }
    if rule.trusted_server {
        more.push("trusted server".to_owned());
    }
    if !rule.note.is_empty() {
        more.push(terminal_escape::line(&rule.note));
    }
    vec![
        format!("{source}rule {}", rule.id),
        effect(rule.effect).to_owned(),
        terminal_escape::line(&rule.server),
        rule.tool.as_deref().map(terminal_escape::line).unwrap_or_default(),
        value(&rule.direction).as_str().unwrap_or_default().replace('_', " "),
        more.join("; "),
    ]
}

const fn effect(effect: RuleEffect) -> &'static str {
    match effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Ask => "ask",
        RuleEffect::Deny => "deny",
    }
}

/// Shows what would happen. Nothing is started or sent.
async fn check(
    session: &CommandSession,
    server: String,
    tool: Option<String>,
    args: &str,
    act: Option<DryRunAct>,
    after_untrusted: bool,
) -> Result<Value, CommandFailure> {
    let act = match (tool, act) {
        (Some(tool), None) => {
            DryRunAct::Tool { tool, arguments: object(args, "JSON")?, conversation: None, after_untrusted }
        }
        (None, Some(act)) => act,
        _ => return Err(CommandFailure::usage("expected the name of a tool, or --act with something else to check")),
    };
    let result = session.api.dry_run(DryRun { server: server.clone(), act }).await?;
    let rules = session.api.policy(EmptyObject {}).await?;
    session.output.text(&dry_run_text::dry_run_text(&server, &result, &rules));
    Ok(value(&result))
}
