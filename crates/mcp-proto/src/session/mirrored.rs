//! Arguments of tools that are repeated in HTTP headers: `x-mcp-header` in a tool's `inputSchema`
//! (`basic/transports/streamable-http`, 2026-07-28).

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use crate::http::header_value;
use crate::jsonrpc::escape;
use crate::types::Map;

const KEY: &str = "x-mcp-header";
const PREFIX: &str = "Mcp-Param-";
/// Largest whole number that every implementation reads exactly.
const SAFE_INTEGER: u64 = (1 << 53) - 1;
/// How many tools with such headers are remembered.
const TOOLS: usize = 10_000;
/// How deeply a schema is searched.
const DEPTH: usize = 64;
/// Keywords whose values are data and no schemas.
const DATA: [&str; 4] = ["default", "const", "enum", "examples"];
/// A server has no business with headers of these names, whatever their prefix.
const RESERVED: [&str; 7] =
    ["authorization", "proxy-authorization", "cookie", "host", "content-length", "transfer-encoding", "connection"];

/// One argument and the header that repeats it.
#[derive(Debug, PartialEq)]
struct Header {
    name: String,
    /// Names of properties from the arguments down.
    path: Vec<String>,
}

/// What is known of the tools that the server listed last.
#[derive(Debug, Default)]
pub(super) struct Mirrored {
    tools: IndexMap<String, Vec<Header>>,
}

impl Mirrored {
    /// Remembers what a tool wants repeated. The error says why the tool is of no use.
    pub(super) fn learn(&mut self, tool: &str, schema: &Value) -> Result<(), String> {
        self.tools.swap_remove(tool);
        let headers = headers(schema)?;
        if !headers.is_empty() {
            if self.tools.len() == TOOLS {
                self.tools.swap_remove_index(0);
            }
            self.tools.insert(tool.to_owned(), headers);
        }
        Ok(())
    }

    /// The tool wants nothing repeated.
    pub(super) fn forget(&mut self, tool: &str) {
        self.tools.swap_remove(tool);
    }

    /// Headers of a call, with encoded values. The error says which argument cannot be sent.
    pub(super) fn params(&self, tool: &str, arguments: &Map) -> Result<Vec<(String, String)>, String> {
        let mut params = Vec::new();
        for header in self.tools.get(tool).into_iter().flatten() {
            let Some((first, rest)) = header.path.split_first() else { continue };
            let value = rest.iter().try_fold(arguments.get(first), |at, name| at.map(|at| at.get(name)));
            let text = match value.flatten() {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Bool(flag)) => flag.to_string(),
                Some(Value::Number(number)) => match whole(number) {
                    Some(number) => number,
                    None => {
                        return Err(format!(
                            "the argument `{}` is no whole number within ±2^53-1",
                            header.path.join(".")
                        ));
                    }
                },
                // Absent ones have no header, and neither have those that the server will refuse anyway.
                _ => continue,
            };
            params.push((format!("{PREFIX}{}", header.name), header_value(&text)));
        }
        Ok(params)
    }
}

/// A whole number in decimal, if every implementation reads it exactly.
fn whole(number: &serde_json::Number) -> Option<String> {
    if let Some(number) = number.as_i64() {
        return (number.unsigned_abs() <= SAFE_INTEGER).then(|| number.to_string());
    }
    let number = number.as_f64()?;
    #[allow(clippy::cast_precision_loss)]
    let safe = number.fract() == 0.0 && number.abs() <= SAFE_INTEGER as f64;
    safe.then(|| format!("{number:.0}"))
}

/// The annotations of a schema, if they are valid.
fn headers(schema: &Value) -> Result<Vec<Header>, String> {
    let mut found = Vec::new();
    search(schema, Some(&mut Vec::new()), &mut found, 0)?;
    let mut names = IndexSet::new();
    for header in &found {
        if !names.insert(header.name.to_ascii_lowercase()) {
            return Err(format!("two parameters have the {KEY} \"{}\"", header.name));
        }
    }
    Ok(found)
}

/// Searches a schema. `path` leads to it by names of properties alone; `None` if there is no such path.
fn search(
    schema: &Value,
    mut path: Option<&mut Vec<String>>,
    found: &mut Vec<Header>,
    depth: usize,
) -> Result<(), String> {
    if depth > DEPTH {
        return Err(format!("its schema nests more than {DEPTH} times"));
    }
    let keywords = match schema {
        Value::Object(keywords) => keywords,
        Value::Array(schemas) => return schemas.iter().try_for_each(|schema| search(schema, None, found, depth + 1)),
        _ => return Ok(()),
    };
    if let Some(name) = keywords.get(KEY) {
        let name = valid_name(name)?;
        match &path {
            Some(path) if !path.is_empty() => {
                valid_type(name, keywords.get("type"))?;
                found.push(Header { name: name.to_owned(), path: path.to_vec() });
            }
            _ => return Err(format!("{KEY} \"{name}\" stands where no single argument is meant")),
        }
    }
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    match path.as_deref_mut() {
                        Some(path) => {
                            path.push(name.clone());
                            search(property, Some(path), found, depth + 1)?;
                            path.pop();
                        }
                        None => search(property, None, found, depth + 1)?,
                    }
                }
            }
            ("$defs" | "definitions" | "patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
                schemas.values().try_for_each(|schema| search(schema, None, found, depth + 1))?;
            }
            (keyword, _) if DATA.contains(&keyword) => {}
            (_, value) => search(value, None, found, depth + 1)?,
        }
    }
    Ok(())
}

fn valid_name(name: &Value) -> Result<&str, String> {
    let Value::String(name) = name else { return Err(format!("{KEY} is no string")) };
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(format!("{KEY} \"{}\" is no name of a header", escape(name, 80)));
    }
    if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(format!("{KEY} \"{name}\" is the name of a header that is not the server's to set"));
    }
    Ok(name)
}

fn valid_type(name: &str, kind: Option<&Value>) -> Result<(), String> {
    match kind.and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(()),
        _ => Err(format!("{KEY} \"{name}\" stands on a parameter that is no string, integer or boolean")),
    }
}
