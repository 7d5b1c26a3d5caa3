//! Scripted replies and properties of the test model.

use models::{MessagePart, Model, ModelPrice, ReplyDelta, StopReason};
use serde_json::{Map, Value};
use testkit::model::{ModelStep, final_reply_step, model_named};

/// Returns the steps of a reply with these parts: a delta for each part, and the complete reply.
pub(crate) fn scripted_reply(parts: Vec<MessagePart>) -> Vec<ModelStep> {
    let mut steps = Vec::new();
    let mut stop = StopReason::EndTurn;
    for part in &parts {
        match part {
            MessagePart::Text(text) => {
                let (one, other) = text.split_at(text.floor_char_boundary(text.len() / 2));
                steps.extend([one, other].map(|text| ModelStep::Says(ReplyDelta::Text(text.to_owned()))));
            }
            MessagePart::ToolUse { id, name, arguments, .. } => {
                stop = StopReason::ToolUse;
                steps.push(ModelStep::Says(ReplyDelta::ToolUseBegan { id: id.clone(), name: name.clone() }));
                let text = Value::Object(arguments.clone()).to_string();
                steps.push(ModelStep::Says(ReplyDelta::ToolUseArguments { id: id.clone(), text }));
            }
            other => panic!("{other:?} is not supported in a scripted reply"),
        }
    }
    steps.push(final_reply_step(parts, stop, (1_000, 100)));
    steps
}

pub(crate) fn text_reply(text: &str) -> Vec<ModelStep> {
    scripted_reply(vec![MessagePart::text(text)])
}

pub(crate) fn tool_use(id: &str, name: &str, arguments: Value) -> MessagePart {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
    MessagePart::ToolUse { id: id.into(), name: name.into(), arguments, opaque: None }
}

/// Returns the description of the test model, with this context size in tokens and a price.
pub(crate) fn model_with_context_window(context: Option<u32>) -> Model {
    let price = ModelPrice {
        input: 1.0,
        output: 10.0,
        cached_input: None,
        written_input: None,
        long: None,
        currency: "USD".into(),
        as_of: "2026-11-21".into(),
    };
    Model { context, price: Some(price), ..model_named("m") }
}
