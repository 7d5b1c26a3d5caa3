//! The install links of apps: how they begin, and where the servers are in each.

/// A kind of install link that an app defines.
#[derive(Debug)]
pub(super) struct LinkForm {
    /// Name of the app.
    pub(super) app: &'static str,
    /// Beginnings of such links. `*` matches one path segment, such as a language.
    starts: &'static [&'static str],
    /// Format and place of the servers in the link.
    pub(super) payload: LinkPayload,
    /// Set for Drawbridge's own links, in which unsupported keys are an error. In links of other apps, they are ignored
    /// with a note.
    pub(super) own: bool,
}

/// Format and place of the servers in a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkPayload {
    /// The rest of the link is JSON.
    Json,
    /// The rest of the link is JSON in base64.
    Base64,
    /// A parameter contains JSON.
    JsonIn(&'static str),
    /// A parameter contains JSON in base64.
    Base64In(&'static str),
    /// Each word of the command is a separate parameter.
    Words,
    /// A link of another kind in this parameter.
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

/// Maximum length of a path segment that `*` matches, in bytes.
const MAX_SEGMENT_BYTES: usize = 8;

/// Returns the kind of link that a text begins with, and the remaining text.
pub(super) fn match_form(text: &str) -> Option<(&'static LinkForm, &str)> {
    LINK_FORMS.iter().find_map(|form| Some((form, form.starts.iter().find_map(|start| strip_start(text, start))?)))
}

fn strip_start<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let Some((before, behind)) = start.split_once('*') else { return strip_prefix_ignoring_case(text, start) };
    let rest = strip_prefix_ignoring_case(text, before)?;
    let end = rest
        .find(|c: char| !c.is_ascii_alphabetic() && c != '-')
        .filter(|end| (1..=MAX_SEGMENT_BYTES).contains(end))?;
    strip_prefix_ignoring_case(&rest[end..], behind)
}

/// Removes a prefix from a text. Case is ignored, since schemes and hosts are case-insensitive (RFC 3986, section
/// 6.2.2.1).
fn strip_prefix_ignoring_case<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}
