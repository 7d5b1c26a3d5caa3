//! A tool call that a model is still writing. It is followed through the host's events until it has a result or is
//! known to have none. Used by `view_task.rs`.

use std::time::Duration;

use domain::call::{CallId, CallState};
use domain::item::{ChatItem, ConversationEvent, ItemBody, ItemState, ReplyAppend, ReplyPart, ToolUsed};
use host::view::HostEvent;
use mcp_apps::PartialArguments;
use mcp_proto::types::Map;
use tokio::time::Instant;

/// Minimum interval between two partial inputs that an app receives.
const PARTIAL_INPUT_INTERVAL: Duration = Duration::from_millis(100);

/// A tool call in a model's reply that is in progress.
#[derive(Debug, Clone)]
pub(crate) struct StreamedCall {
    conversation: String,
    reply: String,
    tool_use: String,
    /// Index of the tool use among the parts of the reply.
    part: usize,
    /// Number of the first delta of the reply whose text `input` does not contain yet.
    next_delta: u64,
    /// Arguments so far, or `None` once the app receives no more partial input.
    input: Option<PartialInput>,
    /// Identifier of the call and of its item, or `None` before the model has completed its reply.
    call: Option<CallId>,
    /// Set if the call has required the user's consent. The user may then have changed its arguments.
    was_asked: bool,
    is_sent: bool,
}

/// Arguments of a call as far as the model has written them, and the time of the next partial input.
#[derive(Debug, Clone)]
struct PartialInput {
    arguments: PartialArguments,
    is_changed: bool,
    not_before: Instant,
}

/// Change of a streamed call of which its app is notified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StreamedCallStep {
    /// The call was sent to the server without consent, so with the arguments of the model. Contains its item.
    Sent(CallId),
    /// The call has ended, with or without a result. Contains its item.
    Ended(CallId),
    /// The model did not complete the call, or the call was not made.
    NotMade,
}

impl StreamedCall {
    /// Returns the call that a reply in progress contains under the id `tool_use`, or `None` if there is none of this
    /// tool of this server. `next_delta` is the number of the next delta of the reply.
    pub(crate) fn find(
        conversation: &str,
        (reply, next_delta): (&ChatItem, u64),
        tool_use: &str,
        (server, tool): (&str, &str),
    ) -> Option<Self> {
        let ItemBody::Reply { parts, .. } = &reply.body else { return None };
        let (part, text) = parts.iter().enumerate().find_map(|(index, part)| match part {
            ReplyPart::ToolUse { id, server: Some(own_server), tool: Some(own_tool), arguments, .. }
                if id == tool_use && own_server == server && own_tool == tool =>
            {
                Some((index, arguments))
            }
            _ => None,
        })?;
        let mut arguments = PartialArguments::default();
        arguments.push(text);
        Some(Self {
            conversation: conversation.to_owned(),
            reply: reply.id.clone(),
            tool_use: tool_use.to_owned(),
            part,
            next_delta,
            input: Some(PartialInput { arguments, is_changed: true, not_before: Instant::now() }),
            call: None,
            was_asked: false,
            is_sent: false,
        })
    }

    pub(crate) fn conversation(&self) -> &str {
        &self.conversation
    }

    /// Returns `true` if the call was sent to the server.
    pub(crate) const fn is_sent(&self) -> bool {
        self.is_sent
    }

    /// Returns the time at which the next partial input is due, or `None` if the arguments have not changed.
    pub(crate) fn next_partial_input_time(&self) -> Option<Instant> {
        self.input.as_ref().filter(|input| input.is_changed).map(|input| input.not_before)
    }

    /// Returns the arguments so far, or `None` if no partial input is due or nothing can be recovered.
    pub(crate) fn take_due_partial_input(&mut self, now: Instant) -> Option<Map> {
        let input = self.input.as_mut().filter(|input| input.is_changed && input.not_before <= now)?;
        input.is_changed = false;
        input.not_before = now + PARTIAL_INPUT_INTERVAL;
        input.arguments.to_object()
    }

    /// Ends the partial input of the app.
    pub(crate) fn end_partial_input(&mut self) {
        self.input = None;
    }

    /// Applies an event of the host. Returns the change of which the app is notified, if any.
    pub(crate) fn process_event(&mut self, event: &HostEvent) -> Option<StreamedCallStep> {
        match event {
            HostEvent::Conversation(ConversationEvent::ReplyDelta { conversation, item, seq, append }) => {
                if *conversation == self.conversation && *item == self.reply && *seq >= self.next_delta {
                    self.next_delta = *seq + 1;
                    self.append_arguments(append);
                }
                None
            }
            HostEvent::Conversation(ConversationEvent::ItemChanged { conversation, item, answering, .. }) => {
                if *conversation == self.conversation {
                    self.process_conversation_item(item, *answering)
                } else {
                    None
                }
            }
            HostEvent::CallChanged(call) if self.call.as_ref() == Some(&call.id) => self.process_call_state(call.state),
            _ => None,
        }
    }

    fn append_arguments(&mut self, append: &[ReplyAppend]) {
        let Some(input) = &mut self.input else { return };
        for piece in append {
            if let ReplyAppend::Arguments { part, text } = piece
                && *part == self.part
            {
                input.arguments.push(text);
                input.is_changed = true;
            }
        }
    }

    fn process_conversation_item(&mut self, item: &ChatItem, answering: bool) -> Option<StreamedCallStep> {
        match &item.body {
            ItemBody::Reply { parts, .. } if item.id == self.reply && item.state != ItemState::Streaming => {
                self.input = None;
                let is_own = |part: &ReplyPart| matches!(part, ReplyPart::ToolUse { id, .. } if *id == self.tool_use);
                // A model that is still answering makes the calls of this reply.
                let is_made = answering && parts.iter().any(is_own);
                (!is_made).then_some(StreamedCallStep::NotMade)
            }
            ItemBody::ToolCall { used: Some(used), .. } if self.is_same_tool_use(used) => {
                self.input = None;
                self.call = Some(item.id.clone());
                (item.state != ItemState::Streaming).then(|| StreamedCallStep::Ended(item.id.clone()))
            }
            ItemBody::OwnTool { used, .. } if self.is_same_tool_use(used) => Some(StreamedCallStep::NotMade),
            _ => None,
        }
    }

    fn process_call_state(&mut self, state: CallState) -> Option<StreamedCallStep> {
        match state {
            CallState::AwaitingApproval => self.was_asked = true,
            CallState::Running if !self.is_sent => {
                self.is_sent = true;
                // The user may have changed the arguments.
                return self.call.clone().filter(|_| !self.was_asked).map(StreamedCallStep::Sent);
            }
            _ => {}
        }
        None
    }

    fn is_same_tool_use(&self, used: &ToolUsed) -> bool {
        used.reply == self.reply && used.id == self.tool_use
    }
}

#[cfg(test)]
mod tests {
    use domain::call::{CallKind, ServerCall};
    use models::{ModelRef, TokenUsage};
    use serde_json::{Value, json};

    use super::*;

    fn reply_with_tool_use(state: ItemState, arguments: &str) -> ChatItem {
        let tool_use = ReplyPart::ToolUse {
            id: "use".to_owned(),
            tool_key: "board__show".to_owned(),
            server: Some("board".to_owned()),
            tool: Some("show".to_owned()),
            arguments: arguments.to_owned(),
            opaque: None,
        };
        reply_with_parts(state, vec![ReplyPart::Text { text: "I show it.".to_owned() }, tool_use])
    }

    fn reply_with_parts(state: ItemState, parts: Vec<ReplyPart>) -> ChatItem {
        let body = ItemBody::Reply {
            model: ModelRef { provider: "p".to_owned(), model: "m".to_owned() },
            parts,
            stop: None,
            usage: TokenUsage::default(),
            cost: None,
            error: None,
            conversions: Vec::new(),
            first_part_milliseconds: None,
            duration_milliseconds: 0,
        };
        ChatItem { id: "reply".to_owned(), parent: None, at: 1, state, body }
    }

    fn tool_used(reply: &str) -> ToolUsed {
        ToolUsed { reply: reply.to_owned(), id: "use".to_owned(), tool_key: "board__show".to_owned() }
    }

    fn tool_call_item(state: ItemState, used_reply: &str) -> ChatItem {
        let body = ItemBody::ToolCall {
            call: "call".to_owned(),
            server: "board".to_owned(),
            tool: "show".to_owned(),
            app: None,
            arguments: json!({}),
            result: None,
            error: None,
            failure: None,
            refusal: None,
            duration_milliseconds: 0,
            waited_milliseconds: None,
            used: Some(tool_used(used_reply)),
            omitted_bytes: None,
        };
        ChatItem { id: "call".to_owned(), parent: None, at: 1, state, body }
    }

    fn item_changed_event(item: ChatItem, answering: bool) -> HostEvent {
        let (conversation, item, omitted) = ("talk".to_owned(), Box::new(item), Vec::new());
        HostEvent::Conversation(ConversationEvent::ItemChanged { conversation, item, omitted, answering })
    }

    fn arguments_delta_event(seq: u64, part: usize, text: &str) -> HostEvent {
        let append = vec![ReplyAppend::Arguments { part, text: text.to_owned() }];
        let (conversation, item) = ("talk".to_owned(), "reply".to_owned());
        HostEvent::Conversation(ConversationEvent::ReplyDelta { conversation, item, seq, append })
    }

    fn call_changed_event(state: CallState) -> HostEvent {
        HostEvent::CallChanged(ServerCall {
            id: "call".to_owned(),
            server: "board".to_owned(),
            kind: CallKind::Tool,
            name: "show".to_owned(),
            app: None,
            started_at: 1,
            state,
            progress: None,
            task: None,
            conversation: Some("talk".to_owned()),
            repeatable_until: None,
        })
    }

    fn find_streamed_call(arguments: &str) -> StreamedCall {
        let reply = reply_with_tool_use(ItemState::Streaming, arguments);
        StreamedCall::find("talk", (&reply, 3), "use", ("board", "show")).expect("the reply has the tool use")
    }

    fn take_due_input_as_json(call: &mut StreamedCall, now: Instant) -> Option<Value> {
        call.take_due_partial_input(now).map(Value::Object)
    }

    #[test]
    fn streamed_call_is_found_by_tool_use_id_server_and_tool() {
        let reply = reply_with_tool_use(ItemState::Streaming, "");
        let find = |tool_use, tool| StreamedCall::find("talk", (&reply, 0), tool_use, tool).is_some();
        assert!(find("use", ("board", "show")));
        assert!(!find("other", ("board", "show")), "no other tool use should be found");
        assert!(!find("use", ("board", "hide")), "the tool should be the one that the model uses");
        assert!(!find("use", ("other", "show")), "the server should be the one that the model uses");
    }

    #[test]
    fn partial_input_is_limited_to_ten_in_a_second_and_ends_with_the_latest() {
        let mut call = find_streamed_call(r#"{"title":"Ha"#);
        let start = Instant::now();
        assert_eq!(take_due_input_as_json(&mut call, start), Some(json!({ "title": "Ha" })));
        assert_eq!(call.next_partial_input_time(), None, "nothing has changed");
        assert_eq!(call.process_event(&arguments_delta_event(2, 1, "old")), None);
        assert_eq!(call.next_partial_input_time(), None, "a known delta should be skipped");
        assert_eq!(call.process_event(&arguments_delta_event(3, 0, "x")), None);
        assert_eq!(call.next_partial_input_time(), None, "another part should be skipped");
        call.process_event(&arguments_delta_event(4, 1, "rb"));
        call.process_event(&arguments_delta_event(5, 1, "our"));
        assert_eq!(call.next_partial_input_time(), Some(start + PARTIAL_INPUT_INTERVAL));
        assert_eq!(
            take_due_input_as_json(&mut call, start + PARTIAL_INPUT_INTERVAL / 2),
            None,
            "it should be too early"
        );
        assert_eq!(
            take_due_input_as_json(&mut call, start + PARTIAL_INPUT_INTERVAL),
            Some(json!({ "title": "Harbour" }))
        );
        assert_eq!(
            take_due_input_as_json(&mut call, start + PARTIAL_INPUT_INTERVAL * 9),
            None,
            "the latest input is known"
        );
    }

    #[test]
    fn no_partial_input_follows_the_complete_reply() {
        let mut call = find_streamed_call(r#"{"a":1}"#);
        assert_eq!(
            call.process_event(&item_changed_event(reply_with_tool_use(ItemState::Whole, "{}"), true)),
            None,
            "the call follows"
        );
        assert_eq!(call.next_partial_input_time(), None);
        assert_eq!(take_due_input_as_json(&mut call, Instant::now() + PARTIAL_INPUT_INTERVAL), None);
        let mut call = find_streamed_call(r#"{"a":1}"#);
        call.end_partial_input();
        call.process_event(&arguments_delta_event(3, 1, " "));
        assert_eq!(call.next_partial_input_time(), None);
    }

    #[test]
    fn app_is_told_of_sent_call_unless_the_user_was_asked() {
        let mut call = find_streamed_call("{}");
        assert_eq!(call.process_event(&item_changed_event(tool_call_item(ItemState::Streaming, "reply"), true)), None);
        let running = call_changed_event(CallState::Running);
        assert_eq!(call.process_event(&running), Some(StreamedCallStep::Sent("call".to_owned())));
        assert_eq!(call.process_event(&running), None, "progress of the call changes nothing");
        let ended = item_changed_event(tool_call_item(ItemState::Whole, "reply"), true);
        assert_eq!(call.process_event(&ended), Some(StreamedCallStep::Ended("call".to_owned())));

        let mut call = find_streamed_call("{}");
        call.process_event(&item_changed_event(tool_call_item(ItemState::Streaming, "reply"), true));
        assert_eq!(call.process_event(&call_changed_event(CallState::AwaitingApproval)), None);
        assert_eq!(call.process_event(&running), None, "the user may have changed the arguments");
        assert_eq!(call.process_event(&ended), Some(StreamedCallStep::Ended("call".to_owned())));
    }

    #[test]
    fn a_call_that_is_never_made_is_reported() {
        let dropped = reply_with_parts(ItemState::Whole, Vec::new());
        let used = tool_used("reply");
        let (arguments, text, found) = (json!({}), "not made".to_owned(), Vec::new());
        let body = ItemBody::OwnTool { used, arguments, text, found, is_error: true };
        let refused = ChatItem { id: "own".to_owned(), body, ..reply_with_tool_use(ItemState::Whole, "{}") };
        for event in [
            item_changed_event(reply_with_tool_use(ItemState::Cut, "{"), false),
            item_changed_event(reply_with_tool_use(ItemState::Whole, "{}"), false),
            item_changed_event(dropped, true),
            item_changed_event(refused, true),
        ] {
            assert_eq!(find_streamed_call("{}").process_event(&event), Some(StreamedCallStep::NotMade), "{event:?}");
        }
        for event in [
            item_changed_event(reply_with_tool_use(ItemState::Streaming, "{"), true),
            item_changed_event(tool_call_item(ItemState::Whole, "another reply"), true),
            call_changed_event(CallState::Running),
        ] {
            assert_eq!(find_streamed_call("{}").process_event(&event), None, "{event:?}");
        }
    }
}
