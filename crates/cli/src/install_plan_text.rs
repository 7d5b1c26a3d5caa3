//! Formats installation plans as text and as JSON. An input without a value is shown by its key.

use std::collections::BTreeMap;

use installs::{InputKind, InstallPlan, PlanInput, PlannedTransport, Template, TemplatePart};
use serde_json::{Map, Value, json};

use crate::output;
use crate::terminal_escape::{escape_and_prefix_lines, escape_line, escape_value};

/// Formats an installation plan as JSON. A value that contains inputs is an array of strings and `{"input": KEY}`, and
/// a value without inputs is a string.
pub(crate) fn install_plan_json(plan: &InstallPlan) -> Value {
    let mut object = Map::new();
    object.insert("name".to_owned(), plan.name.as_str().into());
    match &plan.target {
        PlannedTransport::Command { command, args, env } => {
            object.insert("transport".to_owned(), "stdio".into());
            object.insert("command".to_owned(), command.as_str().into());
            let words = args.iter().flat_map(|arg| &arg.words);
            object.insert("args".to_owned(), words.map(template_json).collect());
            object.insert("env".to_owned(), templates_json(env));
        }
        PlannedTransport::Remote { url, kind, headers } => {
            object.insert("transport".to_owned(), kind.name().into());
            object.insert("url".to_owned(), template_json(url));
            object.insert("headers".to_owned(), templates_json(headers));
        }
    }
    object.insert("inputs".to_owned(), output::to_json_value(&plan.inputs));
    object.insert("exposedSecrets".to_owned(), plan.secret_inputs_outside_keychain().into_iter().collect());
    object.insert("notes".to_owned(), plan.notes.iter().map(|note| Value::from(note.to_string())).collect());
    Value::Object(object)
}

fn templates_json(templates: &BTreeMap<String, Template>) -> Value {
    templates.iter().map(|(name, template)| (name.clone(), template_json(template))).collect::<Map<_, _>>().into()
}

fn template_json(template: &Template) -> Value {
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => Some(Value::from(text.as_str())),
        TemplatePart::Input(key) => Some(json!({ "input": key })),
        TemplatePart::Needs(_) => None,
    };
    if template.input_keys().next().is_some() {
        return template.parts.iter().filter_map(part).collect();
    }
    let texts = template.parts.iter().filter_map(|part| match part {
        TemplatePart::Text(text) => Some(text.as_str()),
        TemplatePart::Input(_) | TemplatePart::Needs(_) => None,
    });
    texts.collect::<String>().into()
}

/// Formats an installation plan as text: program and arguments on separate lines, or the URL, followed by the inputs.
pub(crate) fn install_plan_text(plan: &InstallPlan) -> String {
    let mut text = String::new();
    match &plan.target {
        PlannedTransport::Command { command, args, env } => {
            text.push_str(&format!("program     {}\n", escape_value(command)));
            for word in args.iter().flat_map(|arg| &arg.words) {
                text.push_str(&format!("argument    {}\n", template_text(word)));
            }
            for (name, template) in env {
                text.push_str(&format!("variable    {}={}\n", escape_line(name), template_text(template)));
            }
        }
        PlannedTransport::Remote { url, kind, headers } => {
            text.push_str(&format!("address     {}\n", template_text(url)));
            text.push_str(&format!("transport   {}\n", kind.name()));
            for (name, template) in headers {
                text.push_str(&format!("header      {}: {}\n", escape_line(name), template_text(template)));
            }
        }
    }
    text.push_str(&plan_inputs_text(plan));
    text.push_str(&plan_notes_text(plan));
    text
}

/// Formats the inputs of an installation plan as text for the user, with their types and defaults.
pub(crate) fn plan_inputs_text(plan: &InstallPlan) -> String {
    let exposed = plan.secret_inputs_outside_keychain();
    plan.inputs.iter().map(|one| plan_input_text(one, exposed.contains(one.key.as_str()))).collect()
}

/// Formats the notes of an installation plan as text, one per line.
pub(crate) fn plan_notes_text(plan: &InstallPlan) -> String {
    plan.notes.iter().map(|note| format!("note        {}\n", escape_line(&note.to_string()))).collect()
}

fn plan_input_text(input: &PlanInput, is_exposed: bool) -> String {
    let PlanInput { key, label, description, kind, required, secret, multiple, default, choices, min, max, .. } = input;
    let mut facts = vec![if *required { "required" } else { "optional" }.to_owned()];
    facts.push(
        match kind {
            InputKind::Text => "text",
            InputKind::Number => "a number",
            InputKind::Boolean => "true or false",
            InputKind::File => "the path of a file",
            InputKind::Folder => "the path of a folder",
        }
        .to_owned(),
    );
    if *secret {
        facts.push("a secret".to_owned());
    }
    if *multiple {
        facts.push("may have several values".to_owned());
    }
    facts.extend(min.map(|min| format!("at least {min}")));
    facts.extend(max.map(|max| format!("at most {max}")));
    let list = |values: &[String]| values.iter().map(|one| escape_value(one)).collect::<Vec<_>>().join(", ");
    if !choices.is_empty() {
        facts.push(format!("one of {}", list(choices)));
    }
    if !default.is_empty() {
        facts.push(format!("unless given {}", list(default)));
    }
    let name = if label == key { String::new() } else { format!(" ({})", escape_line(label)) };
    let mut text = format!("input       {}{name}: {}\n", escape_line(key), facts.join(", "));
    if let Some(description) = description {
        text.push_str(&escape_and_prefix_lines(description, "            "));
    }
    if is_exposed {
        text.push_str("            WARNING: it is no variable or header, so it would be visible in the settings file and in the list of running programs.\n");
    }
    text
}

fn template_text(template: &Template) -> String {
    let literal: String =
        template.parts.iter().map(|part| if let TemplatePart::Text(text) = part { text } else { "" }).collect();
    if template.input_keys().next().is_none() {
        return escape_value(&literal);
    }
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => escape_line(text),
        TemplatePart::Input(key) => format!("⟨{}⟩", escape_line(key)),
        TemplatePart::Needs(_) => String::new(),
    };
    template.parts.iter().map(part).collect()
}
