//! Forms (elicitation) on a terminal: describes the fields, and converts the user's input to values.

use api::data::{ChoiceOption, FieldKind, FieldProblem, FormField, FormProblem, TextFormat};
use serde_json::Value;

use crate::terminal_escape::escape_line;

/// Describes a field of a form, on one or more lines.
pub(crate) fn form_field_text(field: &FormField) -> String {
    let title = field.title.as_deref().map(|title| format!(" \"{}\"", escape_line(title))).unwrap_or_default();
    let need = if field.required { "required" } else { "may be left empty" };
    let mut words = format!("{}{title}: {}, {need}", escape_line(&field.name), field_kind_text(&field.kind));
    if let Some(default) = &field.default {
        words.push_str(&format!(", at first {}", crate::terminal_escape::escape_json(default)));
    }
    if let Some(description) = &field.description {
        words.push_str(&format!("\n    {}", escape_line(description)));
    }
    if let FieldKind::Choice { options } | FieldKind::Choices { options, .. } = &field.kind {
        for (number, option) in (1..).zip(options) {
            words.push_str(&format!("\n    {number} {}", choice_option_text(option)));
        }
    }
    if field.secret {
        words.push_str("\n    CAREFUL: this looks as if it asks for a secret");
    }
    words
}

fn choice_option_text(option: &ChoiceOption) -> String {
    if option.title == option.value {
        escape_line(&option.value)
    } else {
        escape_line(&format!("{} ({})", option.title, option.value))
    }
}

fn field_kind_text(kind: &FieldKind) -> String {
    let range = |least: Option<String>, most: Option<String>, unit: &str| match (least, most) {
        (Some(least), Some(most)) => format!(" ({least} to {most}{unit})"),
        (Some(least), None) => format!(" (at least {least}{unit})"),
        (None, Some(most)) => format!(" (at most {most}{unit})"),
        (None, None) => String::new(),
    };
    let text = |bound: &Option<u32>| bound.map(|bound| bound.to_string());
    let number = |bound: &Option<f64>| bound.map(|bound| bound.to_string());
    match kind {
        FieldKind::Text { format, min_length, max_length } => {
            let what = match format {
                Some(TextFormat::Email) => "an email address",
                Some(TextFormat::Uri) => "a URI",
                Some(TextFormat::Date) => "a date such as 2026-07-28",
                Some(TextFormat::DateTime) => "a date and time such as 2026-07-28T12:00:00Z",
                None => "text",
            };
            format!("{what}{}", range(text(min_length), text(max_length), " characters"))
        }
        FieldKind::Number { integer, minimum, maximum } => {
            let what = if *integer { "a whole number" } else { "a number" };
            format!("{what}{}", range(number(minimum), number(maximum), ""))
        }
        FieldKind::Boolean => String::from("yes or no"),
        FieldKind::Choice { .. } => String::from("one of these"),
        FieldKind::Choices { min_items, max_items, .. } => {
            format!("some of these, separated by commas{}", range(text(min_items), text(max_items), ""))
        }
    }
}

/// Converts the text that the user entered for a form field to a value. Returns the default value for an empty text,
/// and a string for invalid input, which the form's validation then rejects.
pub(crate) fn parse_field_input(field: &FormField, text: &str) -> Option<Value> {
    if text.is_empty() {
        return field.default.clone();
    }
    Some(match &field.kind {
        FieldKind::Text { .. } => Value::from(text),
        FieldKind::Number { .. } => {
            text.trim().parse::<serde_json::Number>().map_or_else(|_| Value::from(text), Value::Number)
        }
        FieldKind::Boolean => match text.trim().to_lowercase().as_str() {
            "y" | "yes" | "true" => Value::Bool(true),
            "n" | "no" | "false" => Value::Bool(false),
            _ => Value::from(text),
        },
        FieldKind::Choice { options } => Value::from(find_choice_value(options, text)),
        FieldKind::Choices { options, .. } => text
            .split(',')
            .filter(|part| !part.trim().is_empty())
            .map(|part| Value::from(find_choice_value(options, part)))
            .collect(),
    })
}

/// Returns the value of the option that the user's input selects by its value, its title or its number, which are
/// compared in this order.
fn find_choice_value(options: &[ChoiceOption], text: &str) -> String {
    let text = text.trim();
    let named = options.iter().find(|option| option.value == text).or_else(|| options.iter().find(|o| o.title == text));
    let numbered = || text.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
    named.or_else(numbered).map_or_else(|| text.to_owned(), |option| option.value.clone())
}

/// Describes a validation error of a form field.
pub(crate) fn form_problem_text(problem: &FormProblem) -> String {
    let limit = problem.limit.map(|limit| format!(" ({limit})")).unwrap_or_default();
    let words = match problem.problem {
        FieldProblem::Required => "must be filled in",
        FieldProblem::WrongType => "has the wrong type",
        FieldProblem::TooShort => "is too short",
        FieldProblem::TooLong => "is too long",
        FieldProblem::TooSmall => "is too small",
        FieldProblem::TooLarge => "is too large",
        FieldProblem::TooFew => "has too few choices",
        FieldProblem::TooMany => "has too many choices",
        FieldProblem::NotAnOption => "is not one of the options",
        FieldProblem::NotAnEmail => "is not an email address",
        FieldProblem::NotAUri => "is no URI",
        FieldProblem::NotADate => "is no date",
        FieldProblem::NotADateTime => "is not a date and time",
        FieldProblem::UnknownField => "is not in the form",
    };
    format!("{} {words}{limit}", escape_line(&problem.field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form_field(kind: FieldKind, default: Option<Value>) -> FormField {
        FormField { name: "f".into(), title: None, description: None, required: true, kind, default, secret: false }
    }

    #[test]
    fn typed_text_is_parsed_as_a_value() {
        let options =
            || ["a", "2"].map(|value| ChoiceOption { value: value.into(), title: format!("Title {value}") }).to_vec();
        let text = || FieldKind::Text { format: None, min_length: None, max_length: None };
        let number = || FieldKind::Number { integer: false, minimum: None, maximum: None };
        let cases = [
            (text(), "5", Some(json!("5")), "text stays text"),
            (text(), "", None, "empty input has no value"),
            (number(), " 5.5 ", Some(json!(5.5)), "a number"),
            (number(), "7", Some(json!(7)), "a whole number"),
            (number(), "many", Some(json!("many")), "an invalid number is left to the validation"),
            (FieldKind::Boolean, "Yes", Some(json!(true)), "yes"),
            (FieldKind::Boolean, "n", Some(json!(false)), "no"),
            (FieldKind::Boolean, "maybe", Some(json!("maybe")), "an invalid Boolean is left to the validation"),
            (FieldKind::Choice { options: options() }, "1", Some(json!("a")), "an option by number"),
            (FieldKind::Choice { options: options() }, "2", Some(json!("2")), "a value takes precedence over a number"),
            (FieldKind::Choice { options: options() }, "Title a", Some(json!("a")), "an option by title"),
            (
                FieldKind::Choice { options: options() },
                "9",
                Some(json!("9")),
                "an unknown option is left to the validation",
            ),
            (
                FieldKind::Choices { options: options(), min_items: None, max_items: None },
                "1, 2,",
                Some(json!(["a", "2"])),
                "several options",
            ),
        ];
        for (kind, typed_text, expected, why) in cases {
            assert_eq!(parse_field_input(&form_field(kind, None), typed_text), expected, "{why}");
        }
        let with_default = form_field(FieldKind::Boolean, Some(json!(true)));
        assert_eq!(parse_field_input(&with_default, ""), Some(json!(true)), "empty input should result in the default");
        assert_eq!(parse_field_input(&with_default, "n"), Some(json!(false)), "input should replace the default");
    }
}
