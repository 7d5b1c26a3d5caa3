//! The four text formats, checked by the JSON Schema library, so that they have their standard meaning.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

static EMAIL_VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| validator_for_format("email"));
static URI_VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| validator_for_format("uri"));
static DATE_VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| validator_for_format("date"));
static DATE_TIME_VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| validator_for_format("date-time"));

fn validator_for_format(format: &str) -> Option<Validator> {
    jsonschema::options().should_validate_formats(true).build(&json!({"type": "string", "format": format})).ok()
}

fn is_valid(validator: Option<&Validator>, text: &str) -> bool {
    validator.is_some_and(|v| v.is_valid(&Value::String(text.to_owned())))
}

pub(super) fn is_email(text: &str) -> bool {
    is_valid(EMAIL_VALIDATOR.as_ref(), text)
}

pub(super) fn is_uri(text: &str) -> bool {
    is_valid(URI_VALIDATOR.as_ref(), text)
}

pub(super) fn is_date(text: &str) -> bool {
    is_valid(DATE_VALIDATOR.as_ref(), text)
}

pub(super) fn is_date_time(text: &str) -> bool {
    is_valid(DATE_TIME_VALIDATOR.as_ref(), text)
}
