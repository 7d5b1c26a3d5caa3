//! What answers took, added up.

use domain::history::{After, NewItem, Taken};
use domain::item::{Cost, ItemState};
use ports::History;
use serde_json::{Value, json};

use super::{begun, says};
use crate::common::Store;

/// An answer with these tokens and this cost, after an item.
fn answer(id: &str, after: &str, (input, output): (u64, u64), cost: Option<f64>) -> NewItem {
    let cost = cost.map(|amount| json!({"amount": amount, "currency": "USD"}));
    let body = json!({"kind": "reply", "parts": [{"type": "text", "text": "x"}], "cost": cost, "stop": {"is": "end_turn"},
        "usage": {"input": input, "output": output, "cachedInput": 1}});
    NewItem { body, after: After::Item(after.into()), ..says(id, "") }
}

fn taken(history: &dyn History) -> Taken {
    history.taken("c").unwrap().unwrap()
}

#[test]
fn all_branches_count_and_the_shown_one_fills_the_context() {
    let store = Store::new();
    let history = &store.ports.history;
    assert_eq!(history.taken("c").unwrap(), None, "no conversation took nothing");
    history.create(&begun("c")).unwrap();
    assert_eq!(taken(history.as_ref()), Taken::default(), "an empty one took nothing");
    history.write("c", &[says("q", "why?"), answer("1", "q", (10, 5), Some(0.5))]).unwrap();
    // Had again: what the first one cost was spent.
    history.write("c", &[answer("2", "q", (20, 7), Some(0.25)), says("q2", "and?")]).unwrap();
    let sum = taken(history.as_ref());
    assert_eq!((sum.usage.input, sum.usage.output, sum.usage.cached_input), (Some(30), Some(12), Some(2)), "tokens");
    assert_eq!(sum.usage.thinking, None, "of what nobody tells, nothing is said");
    assert_eq!(sum.costs, [Cost { amount: 0.75, currency: "USD".into() }], "and money, over both");
    assert_eq!((sum.unpriced, sum.context_used), (0, Some(27)), "all is known; the latest shown fills the context");
    history.show("c", "1").unwrap();
    assert_eq!(taken(history.as_ref()).context_used, Some(15), "in the other branch that is another one");
}

#[test]
fn what_is_not_known_is_told() {
    let store = Store::new();
    let history = &store.ports.history;
    history.create(&begun("c")).unwrap();
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
        let before = taken(history.as_ref()).unpriced;
        history.write("c", &[NewItem { body, state, ..says(&number.to_string(), "") }]).unwrap();
        assert_eq!(taken(history.as_ref()).unpriced - before, more, "{name}");
    }
    let sum = taken(history.as_ref());
    assert_eq!(sum.usage.input, Some(27), "only answers count");
    assert!((sum.costs[0].amount - 0.2).abs() < 1e-9, "what is known of the cost counts: {:?}", sum.costs);
}
