//! The install links of apps: how they begin, and where the servers are in each.

/// An install link format of an app: how links begin, and how they contain servers.
#[derive(Debug)]
pub(super) struct LinkForm {
    /// Display name of the app whose maker defined the format.
    pub(super) app: &'static str,
    /// Prefixes of such links. `*` matches one path segment, such as a language.
    starts: &'static [&'static str],
    /// Encoding and position of the servers in the link.
    pub(super) payload: LinkPayload,
    /// Set for Drawbridge's format, in which unsupported keys are an error. In other formats, such keys are ignored
    /// with a note.
    pub(super) own: bool,
}

/// Encoding and position of the servers in an install link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkPayload {
    /// The link consists of a prefix and percent-encoded JSON.
    Json,
    /// The link consists of a prefix and JSON in base64.
    Base64,
    /// JSON in the query parameter of this name.
    JsonIn(&'static str),
    /// JSON in base64, in the query parameter of this name.
    Base64In(&'static str),
    /// A command line, each word of which is a query parameter.
    Words,
    /// Another install link, in the query parameter of this name.
    LinkIn(&'static str),
}

const fn link_form(app: &'static str, starts: &'static [&'static str], payload: LinkPayload) -> LinkForm {
    LinkForm { app, starts, payload, own: false }
}

const VS_CODE: &str = "Visual Studio Code";

const LINK_FORMS: [LinkForm; 13] = [
    LinkForm {
        app: "Drawbridge",
        starts: &["drawbridge://mcp/install?"],
        payload: LinkPayload::Base64In("config"),
        own: true,
    },
    link_form(VS_CODE, &["vscode:mcp/install?", "vscode-insiders:mcp/install?"], LinkPayload::Json),
    link_form(
        VS_CODE,
        &["https://vscode.dev/redirect/mcp/install?", "https://insiders.vscode.dev/redirect/mcp/install?"],
        LinkPayload::JsonIn("config"),
    ),
    link_form(
        VS_CODE,
        &["https://vscode.dev/redirect?", "https://insiders.vscode.dev/redirect?"],
        LinkPayload::LinkIn("url"),
    ),
    link_form(
        "Cursor",
        &[
            "cursor://anysphere.cursor-deeplink/mcp/install?",
            "https://cursor.com/install-mcp?",
            "https://cursor.com/*/install-mcp?",
            "https://www.cursor.com/install-mcp?",
            "https://www.cursor.com/*/install-mcp?",
        ],
        LinkPayload::Base64In("config"),
    ),
    link_form(
        "LM Studio",
        &["lmstudio://add_mcp?", "https://lmstudio.ai/install-mcp?"],
        LinkPayload::Base64In("config"),
    ),
    link_form("goose", &["goose://extension?", "https://goose-docs.ai/extension?"], LinkPayload::Words),
    link_form("Cherry Studio", &["cherrystudio://mcp/install?"], LinkPayload::Base64In("servers")),
    link_form("DeepChat", &["deepchat://mcp/install?"], LinkPayload::Base64In("code")),
    link_form(
        "5ire",
        &["5ire://install-server/#", "5ire://install-server#", "5ire://install-tool/#", "5ire://install-tool#"],
        LinkPayload::Base64,
    ),
    link_form("Tome", &["tome://mcp/install?"], LinkPayload::Json),
    link_form("Chatbox", &["chatbox://mcp/install?"], LinkPayload::Base64In("server")),
    link_form("Hermes", &["hermes://mcp/install?"], LinkPayload::Base64In("config")),
];

/// Maximum length of a path segment that `*` matches in the prefix of a link, in bytes.
const MAX_WILDCARD_SEGMENT_BYTES: usize = 8;

/// Finds the install link format whose prefix the text begins with, and returns it with the text after the prefix.
pub(super) fn match_link_form(text: &str) -> Option<(&'static LinkForm, &str)> {
    LINK_FORMS
        .iter()
        .find_map(|form| Some((form, form.starts.iter().find_map(|start| strip_link_prefix(text, start))?)))
}

fn strip_link_prefix<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let Some((before, behind)) = start.split_once('*') else { return strip_prefix_ignoring_case(text, start) };
    let rest = strip_prefix_ignoring_case(text, before)?;
    let end = rest
        .find(|c: char| !c.is_ascii_alphabetic() && c != '-')
        .filter(|end| (1..=MAX_WILDCARD_SEGMENT_BYTES).contains(end))?;
    strip_prefix_ignoring_case(&rest[end..], behind)
}

/// Returns the text after the prefix `start`, or `None` if the text does not begin with it. Case is ignored, since
/// schemes and hosts are case-insensitive (RFC 3986, section 6.2.2.1).
fn strip_prefix_ignoring_case<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}
