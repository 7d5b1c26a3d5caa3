//! Converts YAML (goose, Continue) to the tree that [`crate::entry`] parses. Positions in the text are retained. Uses
//! the core schema of YAML 1.2, and expands aliases within limits.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use jsonc_parser::ast::{
    Array, BooleanLit, NullKeyword, NumberLit, Object, ObjectProp, ObjectPropName, StringLit, Value,
};
use jsonc_parser::common::Range;
use ports::server_config::ConfigProblem;

use crate::json_text::JsonText;

/// Maximum nesting depth of values in a YAML text.
const MAX_YAML_DEPTH: usize = 64;
/// Maximum number of values in a YAML text, counting the values that an alias repeats each time.
const MAX_YAML_VALUES: usize = 100_000;

/// Maximum total size of text that is copied by expanding aliases, in bytes.
const MAX_ALIAS_COPY_BYTES: usize = 4 * 1_024 * 1_024;

/// Parses the first document in a YAML text, or returns `None` if it is empty.
///
/// # Errors
///
/// Returns [`ConfigProblem`] with its position if the text is not valid YAML or exceeds a limit.
pub(crate) fn parse_yaml<'t>(text: &JsonText<'t>) -> Result<Option<Value<'t>>, ConfigProblem> {
    let options = granit_parser::options! { flow_nesting_limit: MAX_YAML_DEPTH, block_nesting_limit: MAX_YAML_DEPTH };
    let mut builder = YamlBuilder {
        text: *text,
        events: Parser::new_from_str_with_options(text.text, options),
        anchors: HashMap::new(),
        values: 0,
        copied: 0,
    };
    loop {
        match builder.next()? {
            None => return Ok(None),
            Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
            Some((Event::StreamEnd | Event::DocumentEnd, _)) => return Ok(None),
            Some((event, span)) => return builder.build_value(event, span, 0).map(Some),
        }
    }
}

struct YamlBuilder<'t, I> {
    text: JsonText<'t>,
    events: I,
    anchors: HashMap<usize, Value<'t>>,
    values: usize,
    copied: usize,
}

impl<'t, I: Iterator<Item = Result<(Event<'t>, Span), ScanError>>> YamlBuilder<'t, I> {
    /// Returns the next parser event and its position in the text, or `None` at the end of the text.
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, ConfigProblem> {
        match self.events.next() {
            None => Ok(None),
            Some(Ok(found)) => Ok(Some(found)),
            Some(Err(error)) => {
                let at = marker_offset(self.text.text, error.marker());
                let cause = error.info();
                Err(self.text.problem(at, format!("this is not YAML: {}", cause.lines().next().unwrap_or_default())))
            }
        }
    }

    fn next_required(&mut self) -> Result<(Event<'t>, Span), ConfigProblem> {
        self.next()?.ok_or_else(|| self.text.problem(self.text.text.len(), "this is not YAML: it ends too early"))
    }

    fn build_value(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Value<'t>, ConfigProblem> {
        let range = span_range(self.text.text, &span);
        if depth > MAX_YAML_DEPTH {
            return Err(self.text.problem(range.start, "too many levels within one another"));
        }
        self.add_value_count(range, 1)?;
        let (value, anchor) = match event {
            Event::Scalar(value, style, anchor, tag) => {
                let is_text = style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.core_suffix() == Some("str"));
                let source = self.text.text.get(range.start..range.end).unwrap_or_default();
                (
                    if is_text {
                        Value::StringLit(StringLit { range, value })
                    } else {
                        convert_plain_scalar(range, value, source)
                    },
                    anchor,
                )
            }
            Event::SequenceStart(_, anchor, _) => {
                let mut elements = Vec::new();
                loop {
                    match self.next_required()? {
                        (Event::SequenceEnd, _) => break,
                        (event, span) => elements.push(self.build_value(event, span, depth + 1)?),
                    }
                }
                (Value::Array(Array { range, elements }), anchor)
            }
            Event::MappingStart(_, anchor, _) => (self.build_mapping(range, depth)?, anchor),
            Event::Alias(anchor) => {
                let Some(known) = self.anchors.get(&anchor) else {
                    return Err(self.text.problem(range.start, "this alias has no anchor"));
                };
                let (values, bytes) = (count_values(known), total_text_bytes(known));
                self.add_value_count(range, values)?;
                self.add_copied_bytes(range, bytes)?;
                (self.anchors.get(&anchor).cloned().unwrap_or(Value::NullKeyword(NullKeyword { range })), 0)
            }
            _ => return Err(self.text.problem(range.start, "this is not YAML: a value was expected")),
        };
        if anchor != 0 {
            self.add_value_count(range, count_values(&value))?;
            self.add_copied_bytes(range, total_text_bytes(&value))?;
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn build_mapping(&mut self, range: Range, depth: usize) -> Result<Value<'t>, ConfigProblem> {
        let mut properties: Vec<ObjectProp<'t>> = Vec::new();
        let mut merged: Vec<Value<'t>> = Vec::new();
        loop {
            let (name, at, is_plain) = match self.next_required()? {
                (Event::MappingEnd, _) => break,
                (Event::Scalar(name, style, ..), span) => {
                    (name, self::span_range(self.text.text, &span), style == ScalarStyle::Plain)
                }
                (_, span) => {
                    let at = self::span_range(self.text.text, &span).start;
                    return Err(self.text.problem(at, "a name must be a text, and no list or mapping"));
                }
            };
            let (event, span) = self.next_required()?;
            let value = self.build_value(event, span, depth + 1)?;
            if is_plain && name == "<<" {
                merged.push(value);
                continue;
            }
            let name = ObjectPropName::String(StringLit { range: at, value: name });
            properties.push(ObjectProp { range: at, name, value });
        }
        let mut names: HashSet<String> = HashSet::new();
        if !merged.is_empty() {
            names.extend(properties.iter().map(|property| property.name.as_str().to_owned()));
        }
        for value in merged {
            let maps = match value {
                Value::Array(list) => list.elements,
                other => vec![other],
            };
            let new = maps
                .into_iter()
                .filter_map(|map| if let Value::Object(map) = map { Some(map.properties) } else { None });
            for property in new.flatten() {
                if names.insert(property.name.as_str().to_owned()) {
                    properties.push(property);
                }
            }
        }
        Ok(Value::Object(Object { range, properties }))
    }

    fn add_copied_bytes(&mut self, range: Range, bytes: usize) -> Result<(), ConfigProblem> {
        self.copied += bytes;
        if self.copied > MAX_ALIAS_COPY_BYTES {
            return Err(self.text.problem(range.start, "the aliases in the file expand to more than 4 MB"));
        }
        Ok(())
    }

    fn add_value_count(&mut self, range: Range, more: usize) -> Result<(), ConfigProblem> {
        self.values += more;
        if self.values > MAX_YAML_VALUES {
            return Err(self.text.problem(range.start, format!("the file has more than {MAX_YAML_VALUES} values")));
        }
        Ok(())
    }
}

/// Returns the total size of all text in a YAML value and its descendants, in bytes.
fn total_text_bytes(value: &Value<'_>) -> usize {
    match value {
        Value::StringLit(text) => text.value.len(),
        Value::Array(list) => list.elements.iter().map(total_text_bytes).sum(),
        Value::Object(map) => {
            map.properties.iter().map(|property| property.name.as_str().len() + total_text_bytes(&property.value)).sum()
        }
        _ => 0,
    }
}

/// Returns the number of values in a tree of values, including its root.
fn count_values(value: &Value<'_>) -> usize {
    1 + match value {
        Value::Array(list) => list.elements.iter().map(count_values).sum(),
        Value::Object(map) => map.properties.iter().map(|property| count_values(&property.value)).sum::<usize>(),
        _ => 0,
    }
}

/// Converts an unquoted scalar to a number, a boolean, null or a string, according to YAML's core schema.
fn convert_plain_scalar<'t>(range: Range, value: Cow<'t, str>, source: &'t str) -> Value<'t> {
    match &*value {
        "" | "~" | "null" | "Null" | "NULL" => Value::NullKeyword(NullKeyword { range }),
        "true" | "True" | "TRUE" => Value::BooleanLit(BooleanLit { range, value: true }),
        "false" | "False" | "FALSE" => Value::BooleanLit(BooleanLit { range, value: false }),
        text if text == source
            && text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            && text.parse::<f64>().is_ok() =>
        {
            Value::NumberLit(NumberLit { range, value: source })
        }
        _ => Value::StringLit(StringLit { range, value }),
    }
}

fn span_range(text: &str, span: &Span) -> Range {
    Range::new(marker_offset(text, &span.start), marker_offset(text, &span.end))
}

fn marker_offset(text: &str, marker: &granit_parser::Marker) -> usize {
    marker.byte_offset().unwrap_or_else(|| text.char_indices().nth(marker.index()).map_or(text.len(), |(at, _)| at))
}
