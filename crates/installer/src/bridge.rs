//! Detects packages that only connect to a remote server, such as `npx mcp-remote URL`. The remote server itself is
//! offered instead, as in the import from other apps.

use std::collections::BTreeMap;

use installs::{InstallNote, InstallPlan, PlannedTransport, Template, TemplatePart};
use ports::server_config::{HttpKind, StdioConfig};

/// Character that precedes the number of an input in a command line, where [`INPUT_PLACEHOLDER_END`] follows the
/// number. Parsers of command lines don't change these characters, and texts of a registry don't contain them.
const INPUT_PLACEHOLDER_START: char = '\u{e000}';
const INPUT_PLACEHOLDER_END: char = '\u{e001}';

/// Returns a plan for the remote server to which the command of `plan` only connects, or `plan` unchanged if the
/// command does anything else.
pub(crate) fn unwrap_remote_bridge(plan: InstallPlan) -> InstallPlan {
    let PlannedTransport::Command { command, args, env } = &plan.target else { return plan };
    let mut blanks = InputPlaceholders::default();
    let words: Vec<&Template> = args.iter().flat_map(|arg| &arg.words).collect();
    let Some(args) = words.into_iter().map(|word| blanks.text_with_placeholders(word)).collect::<Option<Vec<_>>>()
    else {
        return plan;
    };
    let env = env
        .iter()
        .map(|(name, value)| Some((name.clone(), blanks.text_with_placeholders(value)?)))
        .collect::<Option<_>>();
    let Some(env) = env else { return plan };
    let config = StdioConfig { command: command.clone(), args, env, ..StdioConfig::default() };
    let Some((remote, found)) = other_apps::remote_behind_bridge(&config) else { return plan };
    let headers: BTreeMap<String, Template> =
        remote.headers.iter().map(|(name, value)| (name.clone(), blanks.template(value))).collect();
    let url = blanks.template(&remote.url);
    // An input in the name of a header is not supported, so the package itself is installed.
    if headers.keys().any(|name| name.contains([INPUT_PLACEHOLDER_START, INPUT_PLACEHOLDER_END])) {
        return plan;
    }
    let used: Vec<&str> = headers.values().chain([&url]).flat_map(Template::input_keys).collect();
    let inputs = plan.inputs.iter().filter(|input| used.contains(&input.key.as_str())).cloned().collect();
    // The publisher's notes about the package do not apply to the remote server.
    let target = PlannedTransport::Remote { url, kind: remote.kind.unwrap_or(HttpKind::Http), headers };
    let notes = found.into_iter().map(|note| InstallNote::Bridge { note }).collect();
    InstallPlan { name: plan.name, target, inputs, notes }
}

/// Inputs of an install plan, each of which is represented by a numbered placeholder while the plan's command line is
/// parsed.
#[derive(Default)]
struct InputPlaceholders(Vec<TemplatePart>);

impl InputPlaceholders {
    /// Returns the text of a template in which a numbered placeholder represents each input, or `None` if its literal
    /// text contains the delimiters of placeholders.
    fn text_with_placeholders(&mut self, template: &Template) -> Option<String> {
        let mut text = String::new();
        for part in &template.parts {
            match part {
                TemplatePart::Text(part) if part.contains([INPUT_PLACEHOLDER_START, INPUT_PLACEHOLDER_END]) => {
                    return None;
                }
                TemplatePart::Text(part) => text.push_str(part),
                blank => {
                    text.push_str(&format!("{INPUT_PLACEHOLDER_START}{}{INPUT_PLACEHOLDER_END}", self.0.len()));
                    self.0.push(blank.clone());
                }
            }
        }
        Some(text)
    }

    fn template(&self, text: &str) -> Template {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, (number, after))) = rest
            .split_once(INPUT_PLACEHOLDER_START)
            .and_then(|(before, rest)| Some((before, rest.split_once(INPUT_PLACEHOLDER_END)?)))
        {
            if !before.is_empty() {
                parts.push(TemplatePart::Text(before.to_owned()));
            }
            parts.extend(number.parse().ok().and_then(|number: usize| self.0.get(number)).cloned());
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(TemplatePart::Text(rest.to_owned()));
        }
        Template { parts }
    }
}

#[cfg(test)]
mod tests {
    use installs::{ArgumentGroupTemplate, PlanInput};
    use ports::server_config::ImportNoteKind;

    use super::*;

    fn bridge_plan(words: &[&str], header: Option<Template>) -> InstallPlan {
        let mut args: Vec<ArgumentGroupTemplate> =
            words.iter().map(|word| ArgumentGroupTemplate::from(*word)).collect();
        args.extend(header.map(|value| ArgumentGroupTemplate { words: vec!["--header".into(), value] }));
        let env = [("TOKEN".to_owned(), Template::input("token"))].into();
        InstallPlan {
            name: "notes".to_owned(),
            target: PlannedTransport::Command { command: "npx".to_owned(), args, env },
            inputs: vec![PlanInput { secret: true, ..PlanInput::text("token") }, PlanInput::text("other")],
            notes: Vec::new(),
        }
    }

    #[test]
    fn package_that_bridges_to_a_remote_server_becomes_that_server() {
        let words = ["-y", "mcp-remote@0.1.0", "https://notes.example/mcp"];
        let remote = unwrap_remote_bridge(bridge_plan(&words, Some("Authorization: Bearer ${TOKEN}".into())));
        let PlannedTransport::Remote { url, headers, .. } = &remote.target else { panic!("{remote:?}") };
        assert_eq!(*url, "https://notes.example/mcp".into());
        let bearer = [TemplatePart::Text("Bearer ".to_owned()), TemplatePart::Input("token".to_owned())];
        assert_eq!(headers["Authorization"].parts, bearer, "the space between scheme and value must be retained");
        let keys: Vec<&str> = remote.inputs.iter().map(|input| input.key.as_str()).collect();
        assert_eq!(keys, ["token"], "inputs that the remote server does not use must be removed");
        let [InstallNote::Bridge { note }, ..] = &remote.notes[..] else { panic!("{:?}", remote.notes) };
        assert_eq!((note.kind, &note.names[..]), (ImportNoteKind::Bridge, &["mcp-remote".to_owned()][..]));
    }

    #[test]
    fn packages_that_bridge_to_no_remote_server_are_unchanged() {
        for words in
            [&["-y", "@alice/notes@1.0.0"][..], &["-y", "mcp-remote@0.1.0"], &["-y", "mcp-remote", "\u{e000}0"]]
        {
            let before = bridge_plan(words, None);
            assert_eq!(unwrap_remote_bridge(before.clone()), before, "{words:?}");
        }
    }
}
