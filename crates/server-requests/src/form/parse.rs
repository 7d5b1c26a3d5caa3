//! Parses the fields of a form from its schema. Used by the crate `host` for each elicitation request.

use serde_json::{Map, Value};

use super::{ChoiceOption, FieldKind, Form, FormField, MAX_FIELD_OPTIONS, MAX_FORM_FIELDS, TextFormat};

impl Form {
    /// Parses the `requestedSchema` of an elicitation request.
    ///
    /// # Errors
    /// Returns the cause as text if a field is of a kind that the specification doesn't allow, or the form is too
    /// large.
    pub fn parse(schema: &Value) -> Result<Self, String> {
        let schema = schema.as_object().ok_or("the form is not a JSON object")?;
        if schema.get("type").is_some_and(|t| t != "object") {
            return Err("the form's type is not \"object\"".into());
        }
        let empty = Map::new();
        let properties = match schema.get("properties") {
            None => &empty,
            Some(properties) => properties.as_object().ok_or("the form's fields are not a JSON object")?,
        };
        if properties.len() > MAX_FORM_FIELDS {
            return Err(format!("the form has {} fields; at most {MAX_FORM_FIELDS} are shown", properties.len()));
        }
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let fields = properties
            .iter()
            .map(|(name, field)| {
                FormField::parse(name, field, required.contains(&name.as_str()))
                    .map_err(|e| format!("field \"{name}\": {e}"))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { fields })
    }
}

impl FormField {
    fn parse(name: &str, schema: &Value, required: bool) -> Result<Self, String> {
        let schema = schema.as_object().ok_or("it is not a JSON object")?;
        let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
        let kind = FieldKind::parse(schema)?;
        let (title, description) = (text("title"), text("description"));
        let secret = label_asks_for_secret(name)
            || title.as_deref().is_some_and(label_asks_for_secret)
            || description.as_deref().is_some_and(label_asks_for_secret);
        let mut field = Self { name: name.to_owned(), title, description, required, kind, default: None, secret };
        // An invalid default is a mistake of the server. The field is then empty initially.
        field.default = schema.get("default").filter(|value| field.validation_problem(value).is_none()).cloned();
        Ok(field)
    }
}

impl FieldKind {
    fn parse(schema: &Map<String, Value>) -> Result<Self, String> {
        let kind = schema.get("type").and_then(Value::as_str);
        match kind {
            Some("string") | None if schema.contains_key("enum") => {
                parse_named_options(schema).map(|options| Self::Choice { options })
            }
            Some("string") | None if schema.contains_key("oneOf") => {
                parse_options_with_titles(schema, "oneOf").map(|options| Self::Choice { options })
            }
            Some("string") => Ok(Self::Text {
                format: match schema.get("format").and_then(Value::as_str) {
                    Some("email") => Some(TextFormat::Email),
                    Some("uri") => Some(TextFormat::Uri),
                    Some("date") => Some(TextFormat::Date),
                    Some("date-time") => Some(TextFormat::DateTime),
                    // Other formats are annotations in JSON Schema: any text is valid.
                    Some(_) | None => None,
                },
                min_length: parse_length_limit(schema, "minLength"),
                max_length: parse_length_limit(schema, "maxLength"),
            }),
            Some(kind @ ("number" | "integer")) => Ok(Self::Number {
                integer: kind == "integer",
                minimum: schema.get("minimum").and_then(Value::as_f64),
                maximum: schema.get("maximum").and_then(Value::as_f64),
            }),
            Some("boolean") => Ok(Self::Boolean),
            Some("array") => {
                let items = schema.get("items").and_then(Value::as_object).ok_or("its items are not described")?;
                let options = if items.contains_key("enum") {
                    parse_named_options(items)?
                } else if items.contains_key("anyOf") {
                    parse_options_with_titles(items, "anyOf")?
                } else if items.contains_key("oneOf") {
                    parse_options_with_titles(items, "oneOf")?
                } else {
                    return Err("a list must name its options".into());
                };
                Ok(Self::Choices {
                    options,
                    min_items: parse_length_limit(schema, "minItems"),
                    max_items: parse_length_limit(schema, "maxItems"),
                })
            }
            Some(other) => {
                Err(format!("fields of type \"{}\" are not allowed in a form", truncated_for_message(other)))
            }
            None => Err("it has no type".into()),
        }
    }
}

fn parse_named_options(schema: &Map<String, Value>) -> Result<Vec<ChoiceOption>, String> {
    let values = schema.get("enum").and_then(Value::as_array).ok_or("its options are not a list")?;
    let titles = schema.get("enumNames").and_then(Value::as_array);
    check_option_count(values.len())?;
    values
        .iter()
        .enumerate()
        .map(|(i, value)| {
            let value = value.as_str().ok_or("an option is not a text")?.to_owned();
            let title =
                titles.and_then(|t| t.get(i)).and_then(Value::as_str).map_or_else(|| value.clone(), str::to_owned);
            Ok(ChoiceOption { value, title })
        })
        .collect()
}

fn parse_options_with_titles(schema: &Map<String, Value>, key: &str) -> Result<Vec<ChoiceOption>, String> {
    let options = schema.get(key).and_then(Value::as_array).ok_or("its options are not a list")?;
    check_option_count(options.len())?;
    options
        .iter()
        .map(|option| {
            let value =
                option.get("const").and_then(Value::as_str).ok_or("an option has no const that is a text")?.to_owned();
            let title = option.get("title").and_then(Value::as_str).map_or_else(|| value.clone(), str::to_owned);
            Ok(ChoiceOption { value, title })
        })
        .collect()
}

fn check_option_count(options: usize) -> Result<(), String> {
    match options {
        0 => Err("it has no options".into()),
        n if n > MAX_FIELD_OPTIONS => Err(format!("it has {n} options; at most {MAX_FIELD_OPTIONS} are shown")),
        _ => Ok(()),
    }
}

fn parse_length_limit(schema: &Map<String, Value>, key: &str) -> Option<u32> {
    schema.get(key).and_then(Value::as_u64).map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}

fn truncated_for_message(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Returns `true` if a label seems to ask for a secret, such as a password.
///
/// Forms must not ask for secrets (`client/elicitation`, Security Considerations). The result decides only where
/// Drawbridge shows a warning.
fn label_asks_for_secret(words: &str) -> bool {
    const WORDS_FOR_SECRETS: &[&str] = &[
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "secret",
        "token",
        "apikey",
        "privatekey",
        "accesskey",
        "seedphrase",
        "recoveryphrase",
        "creditcard",
        "cardnumber",
        "cvv",
        "cvc",
        "ssn",
        "pin",
        "密码",
        "密钥",
        "口令",
        "令牌",
        "助记词",
        "信用卡",
    ];
    // Look-alike letters and spacing are normalized, so that "p а s s-word" is detected as well.
    let folded: String = words.chars().filter_map(ascii_look_alike).collect();
    let first_words: Vec<String> =
        words.split(|c: char| !c.is_alphanumeric()).map(|w| w.chars().filter_map(ascii_look_alike).collect()).collect();
    WORDS_FOR_SECRETS
        .iter()
        .any(|sign| if sign.len() <= 3 { first_words.iter().any(|w| w == sign) } else { folded.contains(sign) })
}

fn ascii_look_alike(c: char) -> Option<char> {
    let plain = match c {
        'а' | 'А' | 'α' | 'Α' | '@' | 'à' | 'á' => 'a',
        'е' | 'Е' | 'ε' | 'Ε' | '3' | 'é' => 'e',
        'о' | 'О' | 'ο' | 'Ο' | '0' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'с' | 'С' => 'c',
        'ѕ' | 'Ѕ' | '$' | '5' => 's',
        'і' | 'І' | 'ι' | '1' => 'i',
        'к' | 'К' | 'κ' => 'k',
        'т' | 'Т' | 'τ' => 't',
        'у' | 'У' => 'y',
        'ԝ' | 'ω' => 'w',
        'ԁ' => 'd',
        'х' | 'Х' | 'χ' => 'x',
        'п' => 'n',
        other => other,
    };
    plain.is_alphanumeric().then(|| plain.to_lowercase().next()).flatten()
}
