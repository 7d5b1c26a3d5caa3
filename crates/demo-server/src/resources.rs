//! Resources of the server: their lists, and reading them.

use rmcp::model::{
    Annotations, CacheScope, ElicitResult, ElicitationAction, ErrorData, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::json;

use crate::client::{self, Context};
use crate::content::{BELL_WAV, CHART_PNG, GUIDE_TEXT, WELCOME_TEXT, anchor_icon, current_time_text, encode_base64};
use crate::harbour;
use crate::input_requests::{EarlyExit, InputResponseSet, request_input};
use crate::request_contents;
use crate::skills;
use crate::state::DemoServerState;
use crate::templates::{self, TemplateMatch, match_resource_template};

/// URI of the clock, whose changes are reported periodically to subscribers.
pub(crate) const CLOCK_URI: &str = "clock:///now";
/// URI of the guide, a Markdown file.
pub(crate) const GUIDE_URI: &str = "harbour:///guide.md";
/// URI of the sea chart, a PNG image.
pub(crate) const CHART_URI: &str = "harbour:///chart.png";
/// URI of the page that displays the board (MCP Apps).
pub(crate) const BOARD_APP_URI: &str = "ui://demo/board.html";
const WELCOME_URI: &str = "harbour:///welcome.txt";
const BELL_URI: &str = "harbour:///bell.wav";
const DIARY_URI: &str = "diary:///captain";
/// Time for which hosts may cache constant content, in milliseconds.
pub(crate) const CACHE_TTL_MILLIS: u64 = 3_600_000;
const DIARY_REQUEST_STATE: &str = "diary-asked";
const BOARD_APP_HTML: &str = include_str!("pages/board.html");
/// Media type of HTML pages for MCP Apps.
const MCP_APP_MIME_TYPE: &str = "text/html;profile=mcp-app";

/// Returns the resources that `resources/list` contains. All other resources can only be read by their URI.
pub(crate) fn list(state: &DemoServerState) -> Vec<Resource> {
    let mut all = vec![
        Resource::new(WELCOME_URI, "welcome.txt")
            .with_title("Welcome")
            .with_description("Where to start.")
            .with_mime_type("text/plain")
            .with_size(WELCOME_TEXT.len() as u64)
            .with_icons(vec![anchor_icon()])
            .with_annotations(Annotations::default().with_audience(vec![Role::User]).with_priority(1.0)),
        Resource::new(GUIDE_URI, "guide.md")
            .with_title("Guide to the harbour")
            .with_description("Towns, ships and what to try.")
            .with_mime_type("text/markdown")
            .with_size(GUIDE_TEXT.len() as u64),
        chart_resource(),
        Resource::new(BELL_URI, "bell.wav")
            .with_title("Ship's bell")
            .with_description("Rings for less than a second.")
            .with_mime_type("audio/wav")
            .with_size(BELL_WAV.len() as u64),
        Resource::new(CLOCK_URI, "clock")
            .with_title("Harbour clock")
            .with_description("The current time. Changes every two seconds while a client is subscribed.")
            .with_mime_type("text/plain"),
        Resource::new(DIARY_URI, "diary")
            .with_title("The captain's diary")
            .with_description("Asks for a promise before it opens.")
            .with_mime_type("text/plain"),
        Resource::new(BOARD_APP_URI, "board.html")
            .with_title("Board")
            .with_description("The page that displays the result of show_board.")
            .with_mime_type(MCP_APP_MIME_TYPE)
            .with_size(BOARD_APP_HTML.len() as u64),
    ];
    all.extend(state.notes().keys().map(|name| note_resource(name)));
    all.extend(harbour::all_ships().map(|ship| {
        Resource::new(ship_uri(ship.name), ship.name.to_lowercase())
            .with_title(ship.name)
            .with_description(format!("A {} in {}.", ship.kind, ship.harbour))
            .with_mime_type("application/json")
    }));
    all
}

/// Returns the resource templates for notes, tide tables and ship searches.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(templates::NOTE_TEMPLATE, "note")
            .with_title("A note")
            .with_description("A note that was written with write_note.")
            .with_mime_type("text/plain"),
        ResourceTemplate::new(templates::TIDE_TEMPLATE, "tide")
            .with_title("Tide table")
            .with_description("High and low water at a harbour on a day of the week.")
            .with_mime_type("text/markdown")
            .with_icons(vec![anchor_icon()]),
        ResourceTemplate::new(templates::SHIPS_TEMPLATE, "ships")
            .with_title("Find ships")
            .with_description("Ships by name, kind or harbour. A bare word searches everywhere.")
            .with_mime_type("application/json"),
    ]
}

/// Returns the description of the sea chart, for the list of resources or as a link in a result.
pub(crate) fn chart_resource() -> Resource {
    Resource::new(CHART_URI, "chart.png")
        .with_title("Sea chart")
        .with_description("The coast, an island and the way round it.")
        .with_mime_type("image/png")
        .with_size(CHART_PNG.len() as u64)
}

/// Returns the description of a note, for the list of resources or as a link in a result.
pub(crate) fn note_resource(name: &str) -> Resource {
    Resource::new(note_uri(name), name).with_title(format!("Note: {name}")).with_mime_type("text/plain")
}

pub(crate) fn note_uri(name: &str) -> String {
    format!("note:///{name}")
}

fn ship_uri(name: &str) -> String {
    format!("ship:///{}", name.to_lowercase())
}

/// Returns `true` if a resource with this URI can be read.
pub(crate) fn resource_exists(state: &DemoServerState, uri: &str) -> bool {
    uri == DIARY_URI || resource_contents(state, uri).is_some()
}

/// Returns the error for a URI that can't be read.
pub(crate) fn not_found_error(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("there is no such resource", Some(json!({ "uri": uri })))
}

/// Returns the contents of a resource (`resources/read`). May first send requests to the host.
pub(crate) async fn read_resource(
    state: &DemoServerState,
    context: &Context,
    request: ReadResourceRequestParams,
) -> Result<ReadResourceResponse, ErrorData> {
    let uri = request.uri;
    let contents = if uri == DIARY_URI {
        let answers = InputResponseSet::new(request.input_responses, request.request_state);
        match read_diary(context, &answers).await {
            Ok(contents) => contents,
            Err(EarlyExit::Ask(question)) => return Ok((*question).into()),
            Err(EarlyExit::Refused(error)) => return Err(error),
            Err(EarlyExit::Failed(reason)) => return Err(ErrorData::invalid_request(reason, None)),
        }
    } else {
        resource_contents(state, &uri).ok_or_else(|| not_found_error(&uri))?
    };
    let mut result = ReadResourceResult::new(vec![contents]);
    if uri == CHART_URI && client::is_stateless(context) {
        result = result.with_ttl_ms(CACHE_TTL_MILLIS).with_cache_scope(CacheScope::Public);
    }
    Ok(result.into())
}

/// Returns the diary if the user confirms a promise in a form.
async fn read_diary(context: &Context, answers: &InputResponseSet) -> Result<ResourceContents, EarlyExit> {
    let question =
        request_contents::form_elicitation("Before the diary opens:", request_contents::yes_no_form_schema())?;
    let answer: ElicitResult = request_input(context, answers, "promise", question, Some(DIARY_REQUEST_STATE)).await?;
    let promised = answer.content.is_some_and(|content| content["promise"] == json!(true));
    if answer.action != ElicitationAction::Accept || !promised {
        return Err(EarlyExit::Failed("The diary stays closed without the promise.".to_owned()));
    }
    Ok(text_contents(DIARY_URI, "text/plain", "We never found the treasure. It was under the lighthouse all along."))
}

fn resource_contents(state: &DemoServerState, uri: &str) -> Option<ResourceContents> {
    match uri {
        WELCOME_URI => return Some(text_contents(uri, "text/plain", WELCOME_TEXT)),
        GUIDE_URI => return Some(text_contents(uri, "text/markdown", GUIDE_TEXT)),
        CHART_URI => return Some(blob_contents(uri, "image/png", CHART_PNG)),
        BELL_URI => return Some(blob_contents(uri, "audio/wav", BELL_WAV)),
        CLOCK_URI => return Some(text_contents(uri, "text/plain", current_time_text())),
        BOARD_APP_URI => return Some(text_contents(uri, MCP_APP_MIME_TYPE, BOARD_APP_HTML)),
        _ => {}
    }
    if let Some(ship) = harbour::all_ships().find(|ship| ship_uri(ship.name) == uri) {
        return Some(text_contents(uri, "application/json", describe_ship(&ship).to_string()));
    }
    if let Some(file) = skills::skill_file_contents(uri) {
        return Some(file);
    }
    match match_resource_template(uri)? {
        TemplateMatch::Note(name) => state.notes().get(&name).map(|note| text_contents(uri, "text/plain", note)),
        TemplateMatch::Tide { harbour, day } => {
            harbour::tide_table(&harbour, &day).map(|table| text_contents(uri, "text/markdown", table))
        }
        TemplateMatch::Ships(filter) => Some(text_contents(uri, "application/json", search_ships(&filter))),
    }
}

fn search_ships(filter: &[(String, String)]) -> String {
    let found: Vec<_> = harbour::all_ships()
        .filter(|ship| {
            filter.iter().all(|(field, expected)| {
                let fits = |value: &str| value.to_lowercase().contains(&expected.to_lowercase());
                match field.as_str() {
                    "name" => fits(ship.name),
                    "kind" => fits(ship.kind),
                    "harbour" => fits(ship.harbour),
                    _ => fits(ship.name) || fits(ship.kind) || fits(ship.harbour),
                }
            })
        })
        .map(|ship| describe_ship(&ship))
        .collect();
    json!({ "ships": found }).to_string()
}

fn describe_ship(ship: &harbour::Ship) -> serde_json::Value {
    json!({
        "name": ship.name,
        "kind": ship.kind,
        "harbour": ship.harbour,
        "length_m": ship.length_m,
    })
}

fn text_contents(uri: &str, mime_type: &str, text: impl Into<String>) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type(mime_type)
}

fn blob_contents(uri: &str, mime_type: &str, bytes: &[u8]) -> ResourceContents {
    ResourceContents::blob(encode_base64(bytes), uri).with_mime_type(mime_type)
}
