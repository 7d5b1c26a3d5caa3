//! Parses the requests of a page, and refuses those that need capabilities that the host did not announce.

use std::collections::BTreeSet;

use mcp_proto::RpcError;
use mcp_proto::jsonrpc::code;
use mcp_proto::session::validate_sampling_request;
use mcp_proto::types::{ContentBlock, CreateMessageParams, Map};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::fault::{UnknownMethodText, ViewFaultKind};
use super::limits::{
    MAX_FILES_PER_DOWNLOAD, MAX_LINK_BYTES, MAX_NAME_OR_CURSOR_BYTES, MAX_PAGE_CONTENT_FOR_MODEL_BYTES,
    MAX_RESOURCE_URI_BYTES,
};
use super::request::{AppRequest, ModelContext, OfferedFile, OfferedFileContents};
use crate::capabilities::HostCapabilities;
use crate::display_mode::DisplayMode;
use crate::text::UntrustedTextExcerpt;

/// JSON-RPC error code for requests of the app page that the user or the policy refuses.
pub(super) const REQUEST_REFUSED_CODE: i64 = -32000;

/// Error for a request of the app page that the view refuses without passing it to the host.
#[derive(Debug)]
pub(super) struct RequestRefusal {
    pub(super) kind: ViewFaultKind,
    pub(super) error: RpcError,
}

impl RequestRefusal {
    pub(super) fn new(kind: ViewFaultKind, code: i64, message: impl Into<String>) -> Self {
        Self { kind, error: RpcError::new(code, message) }
    }

    fn not_offered(capability: &str) -> Self {
        Self::new(ViewFaultKind::NotOffered, code::METHOD_NOT_FOUND, format!("the host does not offer {capability}"))
    }

    fn invalid(message: impl Into<String>) -> Self {
        Self::new(ViewFaultKind::InvalidContent, code::INVALID_PARAMS, message)
    }

    fn too_large(what: &str) -> Self {
        Self::new(ViewFaultKind::TooLarge, code::INVALID_PARAMS, format!("{what} is too large"))
    }
}

/// Conditions under which requests of the app page are accepted.
#[derive(Debug)]
pub(super) struct RequestAcceptanceConditions<'a> {
    pub(super) capabilities: &'a HostCapabilities,
    pub(super) callable_tools: &'a BTreeSet<String>,
    /// Size of the whole message in bytes.
    pub(super) bytes: usize,
}

/// Parses a request of the app page that the host must respond to.
pub(super) fn parse_request(
    method: &str,
    params: Map,
    accepted: &RequestAcceptanceConditions<'_>,
) -> Result<AppRequest, RequestRefusal> {
    let capabilities = accepted.capabilities;
    let offered =
        |is_offered: bool, name: &str| if is_offered { Ok(()) } else { Err(RequestRefusal::not_offered(name)) };
    match method {
        "tools/call" => {
            offered(capabilities.server_tools.is_some(), "serverTools")?;
            parse_tool_call_request(params, accepted.callable_tools)
        }
        "tools/list" => {
            offered(capabilities.server_tools.is_some(), "serverTools")?;
            Ok(AppRequest::ListTools { cursor: parse_cursor(&params)? })
        }
        "resources/read" => {
            offered(capabilities.server_resources.is_some(), "serverResources")?;
            Ok(AppRequest::ReadResource {
                uri: bounded_string_member(&params, "uri", MAX_RESOURCE_URI_BYTES)?.to_owned(),
            })
        }
        "resources/list" => {
            offered(capabilities.server_resources.is_some(), "serverResources")?;
            Ok(AppRequest::ListResources { cursor: parse_cursor(&params)? })
        }
        "resources/templates/list" => {
            offered(capabilities.server_resources.is_some(), "serverResources")?;
            Ok(AppRequest::ListResourceTemplates { cursor: parse_cursor(&params)? })
        }
        "prompts/list" => {
            offered(capabilities.server_resources.is_some(), "serverResources")?;
            Ok(AppRequest::ListPrompts { cursor: parse_cursor(&params)? })
        }
        "ui/open-link" => {
            offered(capabilities.open_links, "openLinks")?;
            parse_link_request(bounded_string_member(&params, "url", MAX_LINK_BYTES)?)
        }
        "ui/download-file" => {
            offered(capabilities.download_file, "downloadFile")?;
            parse_download_request(params)
        }
        "ui/message" => parse_message_request(params, accepted),
        "ui/update-model-context" => parse_model_context_request(params, accepted),
        "ui/request-display-mode" => {
            let mode = params.get("mode").and_then(DisplayMode::parse);
            let mode = mode.ok_or_else(|| RequestRefusal::invalid("mode is none of inline, fullscreen and pip"))?;
            Ok(AppRequest::RequestDisplayMode { mode })
        }
        "sampling/createMessage" => parse_sampling_request(params, capabilities),
        _ => Err(RequestRefusal::new(
            ViewFaultKind::UnknownMethod,
            code::METHOD_NOT_FOUND,
            UnknownMethodText(method).to_string(),
        )),
    }
}

fn parse_tool_call_request(mut params: Map, callable_tools: &BTreeSet<String>) -> Result<AppRequest, RequestRefusal> {
    let name = bounded_string_member(&params, "name", MAX_NAME_OR_CURSOR_BYTES)?.to_owned();
    if !callable_tools.contains(&name) {
        let message = format!("apps can't call the tool {}", UntrustedTextExcerpt::of(&name));
        return Err(RequestRefusal::new(ViewFaultKind::NotOffered, code::INVALID_PARAMS, message));
    }
    let arguments = match params.shift_remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(RequestRefusal::invalid("arguments is not an object")),
    };
    Ok(AppRequest::CallTool { name, arguments })
}

fn parse_link_request(text: &str) -> Result<AppRequest, RequestRefusal> {
    let url = Url::parse(text).map_err(|error| RequestRefusal::invalid(format!("url: {error}")))?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(RequestRefusal::invalid("url has a scheme other than https and http"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(RequestRefusal::invalid("url has a user name or password"));
    }
    // The normalized form is longer if characters are percent-encoded in it.
    if url.as_str().len() > MAX_LINK_BYTES {
        return Err(RequestRefusal::too_large("url"));
    }
    Ok(AppRequest::OpenLink { url })
}

fn parse_download_request(mut params: Map) -> Result<AppRequest, RequestRefusal> {
    let contents: Vec<ContentBlock> = take_member(&mut params, "contents")?;
    if contents.is_empty() || contents.len() > MAX_FILES_PER_DOWNLOAD {
        return Err(RequestRefusal::invalid(format!("contents has not 1 to {MAX_FILES_PER_DOWNLOAD} entries")));
    }
    let files = contents.into_iter().map(|block| match block {
        ContentBlock::Resource(embedded) => {
            let file_name = download_file_name(&embedded.resource.uri);
            Ok(OfferedFile { file_name, source: OfferedFileContents::Embedded(embedded.resource) })
        }
        ContentBlock::ResourceLink(link) => {
            Ok(OfferedFile { file_name: download_file_name(&link.uri), source: OfferedFileContents::Link(link) })
        }
        _ => Err(RequestRefusal::invalid("contents has a block that is neither a resource nor a link to one")),
    });
    Ok(AppRequest::DownloadFile { files: files.collect::<Result<_, _>>()? })
}

fn parse_message_request(
    mut params: Map,
    accepted: &RequestAcceptanceConditions<'_>,
) -> Result<AppRequest, RequestRefusal> {
    let kinds = accepted.capabilities.message.ok_or_else(|| RequestRefusal::not_offered("message"))?;
    if params.get("role").and_then(Value::as_str) != Some("user") {
        return Err(RequestRefusal::invalid("role is not \"user\""));
    }
    if accepted.bytes > MAX_PAGE_CONTENT_FOR_MODEL_BYTES {
        return Err(RequestRefusal::too_large("the message"));
    }
    // The prose of the specification has a single block here, but its types have a list.
    let content = match params.shift_remove("content") {
        Some(block @ Value::Object(_)) => Value::Array(vec![block]),
        content => content.unwrap_or_default(),
    };
    let content: Vec<ContentBlock> = parse_member("content", content)?;
    if content.is_empty() {
        return Err(RequestRefusal::invalid("content is empty"));
    }
    refuse_unaccepted_content_kind(kinds.first_unaccepted_content_kind(&content))?;
    Ok(AppRequest::SendMessage { content })
}

fn parse_model_context_request(
    mut params: Map,
    accepted: &RequestAcceptanceConditions<'_>,
) -> Result<AppRequest, RequestRefusal> {
    let offered = accepted.capabilities.update_model_context;
    let kinds = offered.ok_or_else(|| RequestRefusal::not_offered("updateModelContext"))?;
    if accepted.bytes > MAX_PAGE_CONTENT_FOR_MODEL_BYTES {
        return Err(RequestRefusal::too_large("the context"));
    }
    let content: Option<Vec<ContentBlock>> = take_member(&mut params, "content")?;
    let content = content.unwrap_or_default();
    let structured_content: Option<Map> = take_member(&mut params, "structuredContent")?;
    refuse_unaccepted_content_kind(kinds.first_unaccepted_content_kind(&content))?;
    refuse_unaccepted_content_kind(
        (structured_content.is_some() && !kinds.structured_content).then_some("structuredContent"),
    )?;
    Ok(AppRequest::UpdateModelContext(ModelContext { content, structured_content }))
}

fn parse_sampling_request(params: Map, capabilities: &HostCapabilities) -> Result<AppRequest, RequestRefusal> {
    let support = capabilities.sampling.ok_or_else(|| RequestRefusal::not_offered("sampling"))?;
    if !support.tools && (params.contains_key("tools") || params.contains_key("toolChoice")) {
        return Err(RequestRefusal::not_offered("sampling.tools"));
    }
    let params: CreateMessageParams = parse_member("params", Value::Object(params))?;
    validate_sampling_request(&params, support.tools).map_err(RequestRefusal::invalid)?;
    Ok(AppRequest::Sample(Box::new(params)))
}

fn refuse_unaccepted_content_kind(refused: Option<&str>) -> Result<(), RequestRefusal> {
    let Some(kind) = refused else { return Ok(()) };
    let message = format!("the host does not accept content of type {kind} here");
    Err(RequestRefusal::new(ViewFaultKind::NotOffered, code::INVALID_PARAMS, message))
}

fn bounded_string_member<'a>(params: &'a Map, name: &str, limit: usize) -> Result<&'a str, RequestRefusal> {
    let text = params.get(name).and_then(Value::as_str);
    let text = text.ok_or_else(|| RequestRefusal::invalid(format!("{name} is not a string")))?;
    if text.len() > limit { Err(RequestRefusal::too_large(name)) } else { Ok(text) }
}

fn parse_cursor(params: &Map) -> Result<Option<String>, RequestRefusal> {
    if params.get("cursor").is_none_or(Value::is_null) {
        return Ok(None);
    }
    bounded_string_member(params, "cursor", MAX_NAME_OR_CURSOR_BYTES).map(|cursor| Some(cursor.to_owned()))
}

fn take_member<T: DeserializeOwned>(params: &mut Map, name: &str) -> Result<T, RequestRefusal> {
    parse_member(name, params.shift_remove(name).unwrap_or_default())
}

fn parse_member<T: DeserializeOwned>(name: &str, value: Value) -> Result<T, RequestRefusal> {
    serde_json::from_value(value)
        .map_err(|error| RequestRefusal::invalid(format!("{name}: {}", UntrustedTextExcerpt::of(&error.to_string()))))
}

/// Derives a safe file name from the last path segment of a URI.
fn download_file_name(uri: &str) -> String {
    const DEFAULT_NAME: &str = "download";
    const MAX_EXTENSION_CHARS: usize = 10;
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let is_extension = |extension: &str| {
        (1..=MAX_EXTENSION_CHARS).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    match last.rsplit_once('.').filter(|(_, extension)| is_extension(extension)) {
        Some((title, extension)) => foreign::safe_file_name(title, DEFAULT_NAME, extension),
        None => foreign::safe_file_name(last, DEFAULT_NAME, "bin"),
    }
}

#[cfg(test)]
mod tests {
    use super::download_file_name;

    #[test]
    fn download_file_name_comes_from_the_last_part_of_the_uri() {
        assert_eq!(download_file_name("file:///reports/2026.csv?x=/a.exe#b"), "2026.csv");
        assert_eq!(download_file_name("ui://app/notes"), "notes.bin");
        assert_eq!(download_file_name("file:///a/..%2f..\\..\\evil.txt"), "evil.txt");
        for uri in ["", "file:///", "file:///..", "file:///a/."] {
            let name = download_file_name(uri);
            assert!(name.ends_with(".bin") && !name.starts_with('.') && !name.contains('/'), "{uri:?} {name:?}");
        }
    }
}
