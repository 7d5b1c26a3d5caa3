//! Parsing of JSON in files and pasted text, with the line and column of each value.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use ports::server_config::ConfigProblem;

/// Maximum length, in characters, of an unknown literal such as `undefined` that an error message quotes.
const MAX_QUOTED_LITERAL_CHARS: usize = 9;

/// The JSON syntax that a parser accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonDialect {
    /// Strict JSON (RFC 8259).
    Plain,
    /// JSON with comments and trailing commas, as in the settings of editors.
    WithComments,
}

impl JsonDialect {
    /// Returns the options of the JSON parser that accept this dialect.
    pub fn options(self) -> ParseOptions {
        let relaxed = self == Self::WithComments;
        ParseOptions {
            allow_comments: relaxed,
            allow_trailing_commas: relaxed,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        }
    }
}

/// A JSON text, and its position in the file or pasted text that contains it, which error messages mention.
#[derive(Debug, Clone, Copy)]
pub struct JsonText<'t> {
    /// The JSON to parse.
    pub text: &'t str,
    /// Path of the file, or `None` for pasted text.
    pub file: Option<&'t str>,
    /// Number of lines before the JSON in the file or pasted text.
    pub lines_before: u32,
    /// Number of characters that were inserted at the beginning of `text`, and that error messages must not count in
    /// columns.
    pub added_before: u32,
    /// Number of characters before the JSON, in the same line of the file or pasted text.
    pub columns_before: u32,
}

impl<'t> JsonText<'t> {
    /// Creates a JSON text that begins at the first line and column of a pasted text.
    pub fn without_file(text: &'t str) -> Self {
        Self { text, file: None, lines_before: 0, added_before: 0, columns_before: 0 }
    }

    /// Creates a [`ConfigProblem`] with this message and the position of the byte offset `offset` in the text.
    pub fn problem(&self, offset: usize, message: impl Into<String>) -> ConfigProblem {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        let column = if line == 0 {
            column.saturating_sub(self.added_before as usize) + self.columns_before as usize
        } else {
            column
        };
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        ConfigProblem {
            file: self.file.map(str::to_owned),
            line: Some(number(line).saturating_add(self.lines_before).saturating_add(1)),
            column: Some(number(column).saturating_add(1)),
            message: message.into(),
        }
    }

    /// Creates a [`ConfigProblem`] with this message and the position of `value` in the text.
    pub fn value_problem(&self, value: &Value<'_>, message: impl Into<String>) -> ConfigProblem {
        self.problem(value.range().start, message)
    }

    /// Parses the text, or returns `None` if it is empty.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigProblem`] with its position if the text is not valid in this dialect.
    pub fn parse(&self, dialect: JsonDialect) -> Result<Option<Value<'t>>, ConfigProblem> {
        let parsed = parse_to_ast(self.text, &CollectOptions::default(), &dialect.options())
            .map_err(|error| self.problem(error.range().start, self.error_text(&error)))?;
        if dialect == JsonDialect::Plain && parsed.value.is_some() {
            // Text must also be valid for other parsers, since it may be written to a file that other programs read.
            if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(self.text) {
                let words = error.to_string();
                let words = words.split(" at line ").next().unwrap_or_default();
                return Err(
                    self.problem(self.offset_of(error.line(), error.column()), format!("this is not JSON: {words}"))
                );
            }
        }
        Ok(parsed.value)
    }

    fn offset_of(&self, line: usize, column: usize) -> usize {
        let lines: usize = self.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let mut offset = (lines + column.saturating_sub(1)).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    fn error_text(&self, error: &ParseError) -> String {
        let rest = self.text.get(error.range().start..).unwrap_or_default();
        let found = match rest.chars().next() {
            None => String::from("found the end"),
            Some(c) if c.is_alphanumeric() => {
                let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').take(40).collect();
                // An unquoted value may be a secret, so it is not repeated in a problem, which is displayed and
                // printed.
                let is_plain = word.chars().all(char::is_alphabetic) || word.chars().all(|c| c.is_ascii_digit());
                if word.len() <= MAX_QUOTED_LITERAL_CHARS && is_plain {
                    format!("found {word:?}")
                } else {
                    String::from("found a word without quotes")
                }
            }
            Some('"') => String::from("found a text"),
            Some(c) => format!("found {:?}", c.to_string()),
        };
        match error.kind() {
            ParseErrorKind::CommentsNotAllowed => {
                "a comment; this file is plain JSON, which has no comments: remove it".into()
            }
            ParseErrorKind::TrailingCommasNotAllowed => {
                "a comma with nothing after it; JSON has commas only between two items: remove it".into()
            }
            ParseErrorKind::ExpectedComma => "expected a comma after this item".into(),
            ParseErrorKind::ExpectedColonAfterObjectKey => format!("expected \":\" after the name, {found}"),
            ParseErrorKind::ExpectedObjectValue => format!("expected a value after \":\", {found}"),
            ParseErrorKind::ExpectedStringObjectProperty => format!("expected a name in double quotes, {found}"),
            ParseErrorKind::SingleQuotedStringsNotAllowed => "expected double quotes, found single ones".into(),
            ParseErrorKind::UnexpectedTokenInObject => {
                format!("expected a name in double quotes or \"}}\", {found}")
            }
            ParseErrorKind::UnterminatedObject => "this object is not closed: expected \"}\" before the end".into(),
            ParseErrorKind::UnterminatedArray => "this list is not closed: expected \"]\" before the end".into(),
            ParseErrorKind::MultipleRootJsonValues => format!("expected nothing more, {found}"),
            ParseErrorKind::NestingDepthExceeded => "too many levels within one another".into(),
            ParseErrorKind::UnexpectedCloseBrace
            | ParseErrorKind::UnexpectedCloseBracket
            | ParseErrorKind::UnexpectedColon
            | ParseErrorKind::UnexpectedComma
            | ParseErrorKind::UnexpectedWord => format!("expected a value, {found}"),
            ParseErrorKind::UnexpectedToken if rest.starts_with(char::is_alphanumeric) => {
                format!("expected a value, {found}")
            }
            ParseErrorKind::UnexpectedToken => format!("this is not JSON: {found}"),
            other => format!("this is not JSON: {other}"),
        }
    }

    /// Checks that an object contains no key twice, since apps differ in which of the two values they use.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigProblem`] with the positions of both keys.
    pub fn reject_duplicate_keys(&self, object: &Object<'_>, of: &str) -> Result<(), ConfigProblem> {
        let mut known = std::collections::HashMap::new();
        for property in &object.properties {
            let name = property.name.as_str();
            if let Some(first) = known.insert(name, property.range.start) {
                let line = self.problem(first, "").line.unwrap_or_default();
                let message = format!("{name:?} occurs twice in {of}, first in line {line}; remove one of them");
                return Err(self.problem(property.range.start, message));
            }
        }
        Ok(())
    }
}

/// Returns a description of the type of a JSON value, such as `a number`, for error messages.
pub fn value_type_name(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a text",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(literal) if literal.value => "true",
        Value::BooleanLit(_) => "false",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}

/// Returns the property with this name if it exists and is not null.
pub fn present_property<'o, 't>(object: &'o Object<'t>, name: &str) -> Option<&'o ObjectProp<'t>> {
    object.get(name).filter(|property| !matches!(property.value, Value::NullKeyword(_)))
}

/// Returns the text without the byte order mark that some editors write at its beginning.
pub fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
