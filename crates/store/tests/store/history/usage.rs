//! Tests of the sums of tokens and costs of the replies in a conversation.

use domain::history::{ConversationUsage, ItemPosition, NewHistoryItem};
use domain::item::{Cost, ItemState};
use ports::History;
use serde_json::{Value, json};

use super::{new_conversation, user_message};
use crate::common::TestStore;

/// Returns an item with a reply that has these token counts and this cost, placed after another item.
fn reply_with_usage(id: &str, after: &str, (input, output): (u64, u64), cost: Option<f64>) -> NewHistoryItem {
    let cost = cost.map(|amount| json!({"amount": amount, "currency": "USD"}));
    let body = json!({"kind": "reply", "parts": [{"type": "text", "text": "x"}], "cost": cost, "stop": {"is": "end_turn"},
        "usage": {"input": input, "output": output, "cachedInput": 1}});
    NewHistoryItem { body, after: ItemPosition::Item(after.into()), ..user_message(id, "") }
}

fn conversation_usage(history: &dyn History) -> ConversationUsage {
    history.usage("c").unwrap().unwrap()
}

#[test]
fn usage_covers_all_branches_and_the_context_the_visible_one() {
    let store = TestStore::new();
    let history = &store.ports.history;
    assert_eq!(history.usage("c").unwrap(), None, "a missing conversation has no sums");
    history.create(&new_conversation("c")).unwrap();
    assert_eq!(
        conversation_usage(history.as_ref()),
        ConversationUsage::default(),
        "the sums of an empty conversation are zero"
    );
    history.write("c", &[user_message("q", "why?"), reply_with_usage("1", "q", (10, 5), Some(0.5))]).unwrap();
    // A second reply to the same message. The cost of the first one still counts.
    history.write("c", &[reply_with_usage("2", "q", (20, 7), Some(0.25)), user_message("q2", "and?")]).unwrap();
    let sum = conversation_usage(history.as_ref());
    assert_eq!((sum.usage.input, sum.usage.output, sum.usage.cached_input), (Some(30), Some(12), Some(2)), "tokens");
    assert_eq!(sum.usage.thinking, None, "a count that no reply reports is `None`");
    assert_eq!(sum.costs, [Cost { amount: 0.75, currency: "USD".into() }], "costs of both replies");
    assert_eq!(
        (sum.unpriced, sum.context_used),
        (0, Some(27)),
        "no reply is unpriced, and the last shown reply gives the context"
    );
    history.show_branch("c", "1").unwrap();
    assert_eq!(conversation_usage(history.as_ref()).context_used, Some(15), "the other branch has a different context");
}

#[test]
fn unknown_usage_and_costs_are_reported() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    let text = json!([{"type": "text", "text": "half"}]);
    let reply = |parts: &Value, stop: Value, usage: Value, cost: Value| json!({"kind": "reply", "parts": parts, "stop": stop, "usage": usage, "cost": cost});
    let (none, no_usage) = (json!([]), json!({}));
    let priced = json!({"amount": 0.1, "currency": "USD"});
    let stopped = json!({"is": "stopped"});
    let cases = [
        (
            "stopped in the middle, without numbers",
            ItemState::Cut,
            reply(&text, stopped.clone(), no_usage.clone(), json!(null)),
            1,
        ),
        ("stopped while it thought", ItemState::Cut, reply(&none, stopped.clone(), no_usage.clone(), json!(null)), 1),
        (
            "stopped, with the numbers so far",
            ItemState::Cut,
            reply(&text, stopped, json!({"input": 9}), priced.clone()),
            1,
        ),
        ("broken off", ItemState::Cut, reply(&text, json!(null), no_usage.clone(), json!(null)), 1),
        (
            "whole without a price",
            ItemState::Whole,
            reply(&text, json!({"is": "end_turn"}), json!({"input": 9}), json!(null)),
            1,
        ),
        ("whole with one", ItemState::Whole, reply(&text, json!({"is": "end_turn"}), json!({"input": 9}), priced), 0),
        ("refused before it began", ItemState::Whole, reply(&none, json!(null), no_usage.clone(), json!(null)), 0),
        ("still coming in", ItemState::Streaming, reply(&text, json!(null), no_usage, json!(null)), 0),
        ("no answer", ItemState::Whole, json!({"kind": "message", "content": text, "usage": {"input": 1_000}}), 0),
    ];
    for (number, (name, state, body, more)) in cases.into_iter().enumerate() {
        let before = conversation_usage(history.as_ref()).unpriced;
        history.write("c", &[NewHistoryItem { body, state, ..user_message(&number.to_string(), "") }]).unwrap();
        assert_eq!(conversation_usage(history.as_ref()).unpriced - before, more, "{name}");
    }
    let sum = conversation_usage(history.as_ref());
    assert_eq!(sum.usage.input, Some(27), "only replies count");
    assert!((sum.costs[0].amount - 0.2).abs() < 1e-9, "known costs are added: {:?}", sum.costs);
}
