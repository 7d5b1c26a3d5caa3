//! Tool arguments that are repeated in HTTP headers: `x-mcp-header` in a tool's `inputSchema`
//! (`basic/transports/streamable-http`, 2026-07-28).

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use crate::http::encode_header_value;
use crate::jsonrpc::escape_and_truncate;
use crate::types::Map;

const HEADER_SCHEMA_KEYWORD: &str = "x-mcp-header";
const PARAM_HEADER_PREFIX: &str = "Mcp-Param-";
/// Largest integer that every JSON implementation represents exactly.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
/// Maximum number of tools whose `x-mcp-header` definitions are stored.
const MAX_TOOLS_WITH_ARGUMENT_HEADERS: usize = 10_000;
/// Maximum nesting depth to which a tool's input schema is searched for `x-mcp-header` definitions.
const MAX_SEARCHED_SCHEMA_DEPTH: usize = 64;
/// JSON Schema keywords whose values are data, not schemas.
const SCHEMA_KEYWORDS_WITH_DATA_VALUES: [&str; 4] = ["default", "const", "enum", "examples"];
/// Names that a server must not choose for the header of an argument, even though the name gets the prefix
/// `Mcp-Param-`.
const RESERVED_HEADER_NAMES: [&str; 7] =
    ["authorization", "proxy-authorization", "cookie", "host", "content-length", "transfer-encoding", "connection"];

/// Definition of an HTTP header that repeats the value of a tool argument.
#[derive(Debug, PartialEq)]
struct ArgumentHeader {
    name: String,
    /// Property names that lead from the arguments object of the call to the value.
    path: Vec<String>,
}

/// Definitions of the HTTP headers that repeat tool arguments, for each tool in the server's latest list.
#[derive(Debug, Default)]
pub(super) struct ToolArgumentHeaders {
    tools: IndexMap<String, Vec<ArgumentHeader>>,
}

impl ToolArgumentHeaders {
    /// Reads the header definitions in a tool's input schema and stores them. Returns the reason for rejecting the tool
    /// if any definition is invalid.
    pub(super) fn record_tool(&mut self, tool: &str, schema: &Value) -> Result<(), String> {
        self.tools.swap_remove(tool);
        let headers = find_header_definitions(schema)?;
        if !headers.is_empty() {
            if self.tools.len() == MAX_TOOLS_WITH_ARGUMENT_HEADERS {
                self.tools.swap_remove_index(0);
            }
            self.tools.insert(tool.to_owned(), headers);
        }
        Ok(())
    }

    /// Removes the stored header definitions of a tool that the server no longer lists.
    pub(super) fn remove_tool(&mut self, tool: &str) {
        self.tools.swap_remove(tool);
    }

    /// Returns the names and encoded values of the headers for a tool call. The error names the argument that cannot be
    /// encoded.
    pub(super) fn header_values(&self, tool: &str, arguments: &Map) -> Result<Vec<(String, String)>, String> {
        let mut params = Vec::new();
        for header in self.tools.get(tool).into_iter().flatten() {
            let Some((first, rest)) = header.path.split_first() else { continue };
            let value = rest.iter().try_fold(arguments.get(first), |at, name| at.map(|at| at.get(name)));
            let text = match value.flatten() {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Bool(flag)) => flag.to_string(),
                Some(Value::Number(number)) => match format_exact_integer(number) {
                    Some(number) => number,
                    None => {
                        return Err(format!(
                            "the argument `{}` is not a whole number within ±2^53-1",
                            header.path.join(".")
                        ));
                    }
                },
                // Absent arguments get no header, nor do values of types that the server rejects anyway.
                _ => continue,
            };
            params.push((format!("{PARAM_HEADER_PREFIX}{}", header.name), encode_header_value(&text)));
        }
        Ok(params)
    }
}

/// Formats a whole number in decimal. Returns `None` for other numbers, and for whole numbers above
/// [`MAX_SAFE_INTEGER`].
fn format_exact_integer(number: &serde_json::Number) -> Option<String> {
    if let Some(number) = number.as_i64() {
        return (number.unsigned_abs() <= MAX_SAFE_INTEGER).then(|| number.to_string());
    }
    let number = number.as_f64()?;
    #[allow(clippy::cast_precision_loss)]
    let safe = number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER as f64;
    safe.then(|| format!("{number:.0}"))
}

/// Returns the `x-mcp-header` definitions in a tool's input schema, or an error if any of them is invalid.
fn find_header_definitions(schema: &Value) -> Result<Vec<ArgumentHeader>, String> {
    let mut found = Vec::new();
    search_schema_for_headers(schema, Some(&mut Vec::new()), &mut found, 0)?;
    let mut names = IndexSet::new();
    for header in &found {
        if !names.insert(header.name.to_ascii_lowercase()) {
            return Err(format!("two parameters have the {HEADER_SCHEMA_KEYWORD} \"{}\"", header.name));
        }
    }
    Ok(found)
}

/// Searches a schema for `x-mcp-header` definitions. `path` contains the property names that lead to the schema, or is
/// `None` if the schema is below a keyword other than `properties`.
fn search_schema_for_headers(
    schema: &Value,
    mut path: Option<&mut Vec<String>>,
    found: &mut Vec<ArgumentHeader>,
    depth: usize,
) -> Result<(), String> {
    if depth > MAX_SEARCHED_SCHEMA_DEPTH {
        return Err(format!("its schema nests more than {MAX_SEARCHED_SCHEMA_DEPTH} times"));
    }
    let keywords = match schema {
        Value::Object(keywords) => keywords,
        Value::Array(schemas) => {
            return schemas.iter().try_for_each(|schema| search_schema_for_headers(schema, None, found, depth + 1));
        }
        _ => return Ok(()),
    };
    if let Some(name) = keywords.get(HEADER_SCHEMA_KEYWORD) {
        let name = parse_header_name(name)?;
        match &path {
            Some(path) if !path.is_empty() => {
                check_header_argument_type(name, keywords.get("type"))?;
                found.push(ArgumentHeader { name: name.to_owned(), path: path.to_vec() });
            }
            _ => return Err(format!("{HEADER_SCHEMA_KEYWORD} \"{name}\" does not annotate a single argument")),
        }
    }
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    match path.as_deref_mut() {
                        Some(path) => {
                            path.push(name.clone());
                            search_schema_for_headers(property, Some(path), found, depth + 1)?;
                            path.pop();
                        }
                        None => search_schema_for_headers(property, None, found, depth + 1)?,
                    }
                }
            }
            ("$defs" | "definitions" | "patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
                schemas.values().try_for_each(|schema| search_schema_for_headers(schema, None, found, depth + 1))?;
            }
            (keyword, _) if SCHEMA_KEYWORDS_WITH_DATA_VALUES.contains(&keyword) => {}
            (_, value) => search_schema_for_headers(value, None, found, depth + 1)?,
        }
    }
    Ok(())
}

fn parse_header_name(name: &Value) -> Result<&str, String> {
    let Value::String(name) = name else { return Err(format!("{HEADER_SCHEMA_KEYWORD} is not a string")) };
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(format!(
            "{HEADER_SCHEMA_KEYWORD} \"{}\" is not a valid header name",
            escape_and_truncate(name, 80)
        ));
    }
    if RESERVED_HEADER_NAMES.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(format!("{HEADER_SCHEMA_KEYWORD} \"{name}\" is the name of a header that servers must not set"));
    }
    Ok(name)
}

fn check_header_argument_type(name: &str, kind: Option<&Value>) -> Result<(), String> {
    match kind.and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(()),
        _ => Err(format!(
            "{HEADER_SCHEMA_KEYWORD} \"{name}\" annotates a parameter that is not a string, integer or boolean"
        )),
    }
}
