//! Tests the prices of models.

use std::sync::Arc;

use credentials::providers::UnconfirmedProvider;
use mcp_proto::types::CreateMessageParams;
use models::{Model, ModelError, ProviderKind};
use serde_json::json;

use super::*;

pub(super) fn model_access_with_price(price: ModelPrice) -> (ModelAccess, ModelRef) {
    let mut access = ModelAccess::default();
    let model = Model { id: "m".to_owned(), price: Some(price), ..Model::default() };
    let provider = UnconfirmedProvider { kind: ProviderKind::OpenAi, problem: ModelError::Cut };
    access.registry.put("p", Arc::new(provider), vec![model]);
    (access, ModelRef { provider: "p".to_owned(), model: "m".to_owned() })
}

pub(super) fn price(currency: &str, written_input: Option<f64>) -> ModelPrice {
    let (currency, as_of) = (currency.to_owned(), "2026-11-20".to_owned());
    ModelPrice { input: 1.0, output: 2.0, cached_input: None, written_input, long: None, currency, as_of }
}

pub(super) fn params() -> CreateMessageParams {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "hello" } });
    serde_json::from_value(json!({ "messages": [message], "maxTokens": 1_000 })).expect("a request")
}

#[test]
fn price_in_another_currency_counts_as_unknown() {
    let (access, model) = model_access_with_price(price("EUR", None));
    assert_eq!(access.max_cost_micros(&model, &params()), None, "a price in another currency counts as unknown");
}

#[test]
fn maximum_cost_includes_cache_writes_if_they_cost_more() {
    let params = params();
    let input = estimated_input_tokens(&params);
    let (plain, model) = model_access_with_price(price("USD", None));
    assert_eq!(
        plain.max_cost_micros(&model, &params),
        Some(input + 2_000),
        "a dollar for a million tokens is a millionth each"
    );
    let (cache_access, model) = model_access_with_price(price("USD", Some(3.0)));
    let most = cache_access.max_cost_micros(&model, &params).expect("its price is known");
    // The cost must be rounded up.
    assert!(
        (3 * input + 2_000..=3 * input + 2_001).contains(&most),
        "the cost with writes to the provider's cache: {most}"
    );
}
