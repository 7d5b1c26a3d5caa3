//! Creates the response lines of the server. Ids, texts and tokens are copied without parsing.

use std::borrow::Cow;
use std::io::Write as _;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ProtocolEra;

/// Size of the JSON definition of each tool, in bytes.
const TOOL_DEFINITION_BYTES: usize = 436;

/// JSON-RPC request, with only those fields that the server uses.
#[derive(Deserialize)]
struct RequestMessage<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<RequestParams<'a>>,
}

#[derive(Deserialize, Default)]
struct RequestParams<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<ToolArguments<'a>>,
    #[serde(borrow, rename = "protocolVersion")]
    protocol_version: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<RequestMeta<'a>>,
}

#[derive(Deserialize, Default)]
struct ToolArguments<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    bytes: Option<usize>,
    count: Option<usize>,
}

#[derive(Deserialize)]
struct RequestMeta<'a> {
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

/// State of the benchmark server. Clones are cheap.
#[derive(Clone)]
pub(super) struct ServerState {
    era: ProtocolEra,
    /// Result of `tools/list` as JSON text.
    list: Arc<str>,
    /// Result of the last call of `big` as JSON, with the number of bytes that the call requested.
    image: (usize, Vec<u8>),
}

impl ServerState {
    pub(super) fn new(tools: usize, era: ProtocolEra) -> Self {
        let tools: Vec<String> = (0..tools).map(tool_definition).collect();
        let list = format!("{{{}\"tools\":[{}]}}", complete_list_fields(era), tools.join(","));
        Self { era, list: list.into(), image: (usize::MAX, Vec::new()) }
    }

    /// Appends the lines that respond to `message` to `out`. Appends nothing for a notification.
    pub(super) fn append_response_to_message(&mut self, message: &[u8], out: &mut Vec<u8>) {
        let Ok(RequestMessage { id, method, params }) = serde_json::from_slice::<RequestMessage<'_>>(message) else {
            out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"not JSON\"}}\n");
            return;
        };
        let Some(id) = id.map(RawValue::get) else { return };
        let params = params.unwrap_or_default();
        match (method.as_ref(), self.era) {
            ("tools/call", _) => self.append_call_result(id, &params, out),
            ("tools/list", _) => write_result(id, out, |out| out.extend_from_slice(self.list.as_bytes())),
            ("initialize", ProtocolEra::Legacy) => {
                let version = params.protocol_version.unwrap_or(Cow::Borrowed("2025-11-25"));
                let version = if version.as_ref() >= "2026" { "2025-11-25" } else { version.as_ref() };
                let info = "\"serverInfo\":{\"name\":\"bench-server\",\"version\":\"1\"}";
                let result =
                    format!("{{\"protocolVersion\":\"{version}\",\"capabilities\":{{\"tools\":{{}}}},{info}}}");
                write_result(id, out, |out| out.extend_from_slice(result.as_bytes()));
            }
            ("ping", ProtocolEra::Legacy) => write_result(id, out, |out| out.extend_from_slice(b"{}")),
            ("server/discover", ProtocolEra::Modern) => write_result(id, out, |out| {
                out.extend_from_slice(b"{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",");
                out.extend_from_slice(b"\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},");
                out.extend_from_slice(b"\"_meta\":{\"io.modelcontextprotocol/serverInfo\":");
                out.extend_from_slice(b"{\"name\":\"bench-server\",\"version\":\"1\"}}}");
            }),
            _ => write_error(id, -32601, "unknown method", out),
        }
    }

    fn append_call_result(&mut self, id: &str, params: &RequestParams<'_>, out: &mut Vec<u8>) {
        let nothing = ToolArguments::default();
        let arguments = params.arguments.as_ref().unwrap_or(&nothing);
        let complete: &[u8] = if self.era == ProtocolEra::Modern { b"\"resultType\":\"complete\"," } else { b"" };
        match params.name.as_ref() {
            "echo" => write_result(id, out, |out| {
                out.push(b'{');
                out.extend_from_slice(complete);
                out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
                out.extend_from_slice(arguments.text.map_or("\"\"", RawValue::get).as_bytes());
                out.extend_from_slice(b"}]}");
            }),
            "big" => {
                let bytes = arguments.bytes.unwrap_or(0);
                if self.image.0 != bytes {
                    self.image = (bytes, arbitrary_base64(bytes));
                }
                write_result(id, out, |out| {
                    out.push(b'{');
                    out.extend_from_slice(complete);
                    out.extend_from_slice(b"\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"");
                    out.extend_from_slice(&self.image.1);
                    out.extend_from_slice(b"\"}]}");
                });
            }
            "progress" => {
                let count = arguments.count.unwrap_or(0);
                if let Some(token) = params.meta.as_ref().and_then(|meta| meta.progress_token) {
                    for step in 1..=count {
                        write_progress(token.get(), step, count, out);
                    }
                }
                write_result(id, out, |out| {
                    out.push(b'{');
                    out.extend_from_slice(complete);
                    out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}");
                });
            }
            _ => write_error(id, -32602, "unknown tool", out),
        }
    }
}

fn write_result(id: &str, out: &mut Vec<u8>, result: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b",\"result\":");
    result(out);
    out.extend_from_slice(b"}\n");
}

fn write_error(id: &str, code: i32, message: &str, out: &mut Vec<u8>) {
    // Writing to a Vec cannot fail.
    let _ =
        writeln!(out, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}");
}

fn write_progress(token: &str, step: usize, count: usize, out: &mut Vec<u8>) {
    // Writing to a Vec cannot fail.
    let _ = writeln!(
        out,
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{token},\
         \"progress\":{step},\"total\":{count},\"message\":\"step by step\"}}}}"
    );
}

/// Returns the JSON fields that revision 2026-07-28 requires in the result of a complete list, or an empty string for
/// older revisions.
const fn complete_list_fields(era: ProtocolEra) -> &'static str {
    match era {
        ProtocolEra::Modern => "\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",",
        ProtocolEra::Legacy => "",
    }
}

/// Returns the JSON definition of the tool with this number, padded to [`TOOL_DEFINITION_BYTES`].
fn tool_definition(number: usize) -> String {
    let (name, field, kind) = match number {
        0 => ("echo".to_owned(), "text", "string"),
        1 => ("big".to_owned(), "bytes", "integer"),
        2 => ("progress".to_owned(), "count", "integer"),
        _ => (format!("tool_{number:05}"), "text", "string"),
    };
    let with = |description: &str| {
        format!(
            "{{\"name\":\"{name}\",\"title\":\"A tool\",\"description\":\"{description}\",\"inputSchema\":\
             {{\"type\":\"object\",\"properties\":{{\"{field}\":{{\"type\":\"{kind}\",\"description\":\"What it is given\"}}}},\
             \"required\":[\"{field}\"],\"additionalProperties\":false}},\
             \"annotations\":{{\"readOnlyHint\":true,\"openWorldHint\":false}}}}"
        )
    };
    let words = "It does what its name says and nothing else. ";
    let missing = TOOL_DEFINITION_BYTES.saturating_sub(with("").len());
    with(&words.chars().cycle().take(missing).collect::<String>())
}

/// Returns an arbitrary base64 text that encodes this number of bytes.
fn arbitrary_base64(bytes: usize) -> Vec<u8> {
    let mut text = b"QUJD".repeat(bytes / 3);
    text.extend_from_slice(match bytes % 3 {
        0 => b"",
        1 => b"QQ==",
        _ => b"QUI=",
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output_for(server: &mut ServerState, message: &str) -> String {
        let mut out = Vec::new();
        server.append_response_to_message(message.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn echoed_text_is_unchanged() {
        let mut server = ServerState::new(3, ProtocolEra::Legacy);
        let call = r#"{"jsonrpc":"2.0","id":"a\"b","method":"tools/call","params":{"name":"echo","arguments":{"text":"x\ny"}}}"#;
        let line = output_for(&mut server, call);
        assert_eq!(
            line,
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"x\\ny\"}]}}\n",
            "id and text are copied, including escape sequences"
        );
    }

    #[test]
    fn every_tool_has_the_same_size() {
        for number in [0, 1, 2, 3, 4_999] {
            let tool = tool_definition(number);
            assert_eq!(tool.len(), TOOL_DEFINITION_BYTES, "tool {number}: {tool}");
            assert!(serde_json::from_str::<serde_json::Value>(&tool).is_ok(), "the definition is valid JSON: {tool}");
        }
    }

    #[test]
    fn requested_notifications_precede_the_response() {
        let mut server = ServerState::new(3, ProtocolEra::Legacy);
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"progress","arguments":{"count":3},"_meta":{"progressToken":7}}}"#;
        let text = output_for(&mut server, call);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "three notifications and the response: {text}");
        assert!(lines[2].contains("\"progress\":3,\"total\":3"), "progress increases to its total: {text}");
    }

    #[test]
    fn image_has_the_requested_size() {
        for (bytes, length) in [(0, 0), (1, 4), (2, 4), (3, 4), (10_485_760, 13_981_016)] {
            assert_eq!(arbitrary_base64(bytes).len(), length, "base64 of {bytes} bytes");
        }
    }
}
