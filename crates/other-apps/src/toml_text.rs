//! Converts TOML (Codex, Grok Build) to the tree that [`crate::entry`] parses. Positions in the text are retained.

use std::borrow::Cow;

use jsonc_parser::ast::{Array, BooleanLit, NumberLit, Object, ObjectProp, ObjectPropName, StringLit, Value};
use jsonc_parser::common::Range;
use ports::server_config::ConfigProblem;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::json_text::JsonText;

/// Parses TOML text. Duplicate keys are an error in TOML.
///
/// # Errors
///
/// Returns [`ConfigProblem`] with its position if the text is not valid TOML.
pub(crate) fn parse_toml<'t>(text: &JsonText<'t>) -> Result<Value<'t>, ConfigProblem> {
    let root = DeTable::parse(text.text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        text.problem(at, format!("this is not TOML: {}", error.message().lines().next().unwrap_or_default()))
    })?;
    let range = Range::new(root.span().start, root.span().end);
    Ok(Value::Object(Object { range, properties: convert_table(text.text, root.into_inner()) }))
}

/// Converts the members of a table. The TOML parser limits the nesting depth.
fn convert_table<'t>(text: &'t str, table: DeTable<'t>) -> Vec<ObjectProp<'t>> {
    table.into_iter().map(|(key, value)| convert_property(text, key, value)).collect()
}

fn convert_property<'t>(text: &'t str, key: Spanned<DeString<'t>>, value: Spanned<DeValue<'t>>) -> ObjectProp<'t> {
    let name = key.span();
    let range = Range::new(name.start, name.end);
    let name = ObjectPropName::String(StringLit { range, value: key.into_inner() });
    ObjectProp { range, name, value: convert_value(text, value) }
}

fn convert_value<'t>(text: &'t str, value: Spanned<DeValue<'t>>) -> Value<'t> {
    let span = value.span();
    let range = Range::new(span.start, span.end);
    let source = text.get(span).unwrap_or_default();
    match value.into_inner() {
        DeValue::String(value) => Value::StringLit(StringLit { range, value }),
        DeValue::Integer(_) | DeValue::Float(_) => Value::NumberLit(NumberLit { range, value: source }),
        DeValue::Boolean(value) => Value::BooleanLit(BooleanLit { range, value }),
        DeValue::Datetime(_) => Value::StringLit(StringLit { range, value: Cow::Borrowed(source) }),
        DeValue::Array(items) => {
            let elements = items.into_iter().map(|item| convert_value(text, item)).collect();
            Value::Array(Array { range, elements })
        }
        DeValue::Table(table) => Value::Object(Object { range, properties: convert_table(text, table) }),
    }
}
