//! Decodes streamed answers of the Responses API: <https://platform.openai.com/docs/api-reference/responses-streaming>.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::encode::parse_token_count;
use super::super::reply_assembly::ReplyAssembly;
use super::super::{ReplyDecoder, provider_fault};
use super::WIRE_NAME;
use crate::{ModelError, StopReason};

/// Decodes the events of a streamed reply in the format of the Responses API.
pub(super) struct ResponsesReplyDecoder {
    model: String,
    /// Text that identifies the provider and model of the reply, to which alone its reasoning may be sent back.
    source: String,
    items: BTreeMap<String, ResponseItem>,
    is_refused: bool,
    is_done: bool,
}

/// State of one output item of the reply, such as a message or a tool call.
#[derive(Default)]
struct ResponseItem {
    /// Key of the tool call in the [`ReplyAssembly`], or `None` if the item is not a tool call.
    key: Option<u64>,
    /// Set if text or arguments of the item were received in fragments.
    is_streamed: bool,
}

impl ResponsesReplyDecoder {
    pub(super) fn new(model: String, source: String) -> Self {
        Self { model, source, items: BTreeMap::new(), is_refused: false, is_done: false }
    }

    fn find_or_add_item(
        &mut self,
        name: String,
        assembly: &mut ReplyAssembly,
    ) -> Result<&mut ResponseItem, ModelError> {
        if !self.items.contains_key(&name) {
            assembly.add_to_reply_size(name.len())?;
        }
        Ok(self.items.entry(name).or_default())
    }

    /// Returns the text fragment in an event, and marks its item as received in fragments, since the item's final event
    /// repeats them.
    fn streamed_text_fragment<'e>(
        &mut self,
        event: &'e Value,
        assembly: &mut ReplyAssembly,
    ) -> Result<&'e str, ModelError> {
        self.find_or_add_item(event_item_id(event), assembly)?.is_streamed = true;
        Ok(event["delta"].as_str().unwrap_or_default())
    }

    fn process_arguments(&mut self, event: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        let text = self.streamed_text_fragment(event, assembly)?;
        match self.find_or_add_item(event_item_id(event), assembly)?.key {
            Some(key) => assembly.append_arguments(key, text),
            None => Err(ModelError::Unreadable { cause: "arguments refer to an unknown tool call".to_owned() }),
        }
    }

    /// Returns the key of the tool call to which an event belongs. Adds the tool call to the reply at the first such
    /// event.
    fn begin_or_find_tool_use(
        &mut self,
        name: String,
        item: &Value,
        assembly: &mut ReplyAssembly,
    ) -> Result<u64, ModelError> {
        let own = self.find_or_add_item(name, assembly)?;
        if let Some(key) = own.key {
            return Ok(key);
        }
        let text = |member: &str| item[member].as_str().unwrap_or_default().to_owned();
        if text("name").is_empty() {
            return Err(ModelError::Unreadable { cause: "a tool call has no name".to_owned() });
        }
        let key = assembly.next_tool_use_key();
        own.key = Some(key);
        assembly.begin_tool_use(key, text("call_id"), text("name"), None)?;
        Ok(key)
    }

    /// Processes the event that contains a complete item. Adds the item's content only if it was not received in
    /// fragments.
    fn process_complete_item(
        &mut self,
        name: String,
        item: &Value,
        assembly: &mut ReplyAssembly,
    ) -> Result<(), ModelError> {
        // A repeated end of an item adds no content.
        let is_streamed = std::mem::replace(&mut self.find_or_add_item(name.clone(), assembly)?.is_streamed, true);
        match item["type"].as_str() {
            Some("message") if !is_streamed => {
                for part in item["content"].as_array().into_iter().flatten() {
                    assembly.append_text(part["text"].as_str().unwrap_or_default())?;
                    self.process_refusal(part["refusal"].as_str().unwrap_or_default(), assembly)?;
                }
                Ok(())
            }
            Some("function_call") => {
                let key = self.begin_or_find_tool_use(name, item, assembly)?;
                let arguments = item["arguments"].as_str().unwrap_or_default();
                if is_streamed { Ok(()) } else { assembly.append_arguments(key, arguments) }
            }
            Some("reasoning") => {
                let texts = ["summary", "content"].into_iter().filter_map(|member| item[member].as_array()).flatten();
                if !is_streamed {
                    let texts: Vec<&str> = texts.filter_map(|part| part["text"].as_str()).collect();
                    assembly.append_thinking(&texts.join("\n\n"))?;
                }
                match to_input_reasoning_item(item) {
                    Some(item) => assembly.attach_opaque_data_to_last_reasoning(
                        json!({ "wire": WIRE_NAME, "source": self.source, "item": item }),
                    ),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Adds the text with which the model refuses to answer.
    fn process_refusal(&mut self, text: &str, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        self.is_refused |= !text.is_empty();
        assembly.append_text(text)
    }

    /// Processes the event that ends the reply, which contains the token usage. A server that does not stream sends the
    /// whole reply in it.
    fn finish(&mut self, response: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        if self.items.is_empty() {
            for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
                self.process_complete_item(index.to_string(), item, assembly)?;
            }
        }
        assembly.set_model(response["model"].as_str().unwrap_or_default());
        let usage = &response["usage"];
        if usage.is_object() {
            assembly.change_token_usage(|own| {
                own.input = parse_token_count(&usage["input_tokens"]);
                own.output = parse_token_count(&usage["output_tokens"]);
                own.cached_input = parse_token_count(&usage["input_tokens_details"]["cached_tokens"]);
                own.thinking = parse_token_count(&usage["output_tokens_details"]["reasoning_tokens"]);
            });
        }
        match response["status"].as_str() {
            Some("failed") => return Err(provider_fault::stream_error(response, &self.model)),
            Some("incomplete") => assembly.set_stop_reason(match response["incomplete_details"]["reason"].as_str() {
                Some("max_output_tokens") => StopReason::MaxTokens,
                Some("content_filter") => StopReason::Refused,
                other => StopReason::Other(provider_fault::shorten_provider_message(other.unwrap_or("incomplete"))),
            }),
            _ if self.is_refused => assembly.set_stop_reason(StopReason::Refused),
            _ => {}
        }
        self.is_done = true;
        Ok(())
    }
}

impl ReplyDecoder for ResponsesReplyDecoder {
    fn process_event(&mut self, event: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        match event["type"].as_str() {
            Some("response.created") => assembly.set_model(event["response"]["model"].as_str().unwrap_or_default()),
            Some("response.output_item.added") if event["item"]["type"] == "function_call" => {
                self.begin_or_find_tool_use(event_item_id(event), &event["item"], assembly)?;
            }
            Some("response.output_text.delta") => {
                let text = self.streamed_text_fragment(event, assembly)?;
                assembly.append_text(text)?;
            }
            Some("response.refusal.delta") => {
                let text = self.streamed_text_fragment(event, assembly)?;
                self.process_refusal(text, assembly)?;
            }
            Some("response.reasoning_summary_part.added") if event["summary_index"].as_u64() > Some(0) => {
                assembly.append_thinking("\n\n")?;
            }
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                let text = self.streamed_text_fragment(event, assembly)?;
                assembly.append_thinking(text)?;
            }
            Some("response.function_call_arguments.delta") => self.process_arguments(event, assembly)?,
            Some("response.output_item.done") => {
                self.process_complete_item(event_item_id(event), &event["item"], assembly)?
            }
            Some("response.completed" | "response.incomplete") => self.finish(&event["response"], assembly)?,
            Some("response.failed") => return Err(provider_fault::stream_error(&event["response"], &self.model)),
            Some("error") => return Err(provider_fault::stream_error(event, &self.model)),
            _ if event.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(provider_fault::stream_error(event, &self.model));
            }
            _ => {}
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// Returns text that identifies the item to which an event belongs: its index, since some servers send another id in
/// each event, or else its id. llama.cpp sends neither for tool calls, and refers to them by the call id.
fn event_item_id(event: &Value) -> String {
    let item = &event["item"];
    match event["output_index"].as_u64() {
        Some(index) => index.to_string(),
        None => [&event["item_id"], &item["id"], &item["call_id"]]
            .iter()
            .find_map(|id| id.as_str())
            .unwrap_or_default()
            .to_owned(),
    }
}

/// Returns the parts of a reasoning item that are sent back to the provider with the next request. `None` if the item
/// has no content, since the provider would then search for the item in its own storage.
fn to_input_reasoning_item(item: &Value) -> Option<Value> {
    let has_content = item["content"].as_array().is_some_and(|content| !content.is_empty());
    if !(item["encrypted_content"].is_string() || has_content) {
        return None;
    }
    let members = ["type", "id", "summary", "content", "encrypted_content"];
    let members = members.into_iter().filter(|member| !item[*member].is_null());
    Some(members.map(|member| (member.to_owned(), item[member].clone())).collect::<Map<_, _>>().into())
}
