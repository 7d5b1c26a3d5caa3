//! The four text formats, checked by the JSON Schema library, so that they have their standard meaning.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

static EMAIL: LazyLock<Option<Validator>> = LazyLock::new(|| validator("email"));
static URI: LazyLock<Option<Validator>> = LazyLock::new(|| validator("uri"));
static DATE: LazyLock<Option<Validator>> = LazyLock::new(|| validator("date"));
static DATE_TIME: LazyLock<Option<Validator>> = LazyLock::new(|| validator("date-time"));

fn validator(format: &str) -> Option<Validator> {
    jsonschema::options().should_validate_formats(true).build(&json!({"type": "string", "format": format})).ok()
}

fn is_valid(validator: Option<&Validator>, text: &str) -> bool {
    validator.is_some_and(|v| v.is_valid(&Value::String(text.to_owned())))
}

pub(super) fn is_email(text: &str) -> bool {
    is_valid(EMAIL.as_ref(), text)
}

pub(super) fn is_uri(text: &str) -> bool {
    is_valid(URI.as_ref(), text)
}

pub(super) fn is_date(text: &str) -> bool {
    is_valid(DATE.as_ref(), text)
}

pub(super) fn is_date_time(text: &str) -> bool {
    is_valid(DATE_TIME.as_ref(), text)
}
