//! The install links of apps: how each begins, and where it has its servers.

/// A kind of install link.
#[derive(Debug)]
pub(super) struct Form {
    /// The app that it is for.
    pub(super) app: &'static str,
    /// How such links begin. A star is one part of a path, such as a language.
    starts: &'static [&'static str],
    /// Where the servers are.
    pub(super) payload: Payload,
    /// A link of Drawbridge's own: what it may not set is refused. In other apps' links it is left out and noted.
    pub(super) own: bool,
}

/// Where a link has its servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload {
    /// All that follows is JSON.
    Json,
    /// All that follows is JSON in base64.
    Base64,
    /// A parameter is JSON.
    JsonIn(&'static str),
    /// A parameter is JSON in base64.
    Base64In(&'static str),
    /// Each word of a command has a parameter of its own.
    Words,
    /// A parameter is a link of another kind.
    LinkIn(&'static str),
}

const fn form(app: &'static str, starts: &'static [&'static str], payload: Payload) -> Form {
    Form { app, starts, payload, own: false }
}

const VS_CODE: &str = "Visual Studio Code";

const FORMS: [Form; 13] = [
    Form { app: "Drawbridge", starts: &["drawbridge://mcp/install?"], payload: Payload::Base64In("config"), own: true },
    form(VS_CODE, &["vscode:mcp/install?", "vscode-insiders:mcp/install?"], Payload::Json),
    form(
        VS_CODE,
        &["https://vscode.dev/redirect/mcp/install?", "https://insiders.vscode.dev/redirect/mcp/install?"],
        Payload::JsonIn("config"),
    ),
    form(VS_CODE, &["https://vscode.dev/redirect?", "https://insiders.vscode.dev/redirect?"], Payload::LinkIn("url")),
    form(
        "Cursor",
        &[
            "cursor://anysphere.cursor-deeplink/mcp/install?",
            "https://cursor.com/install-mcp?",
            "https://cursor.com/*/install-mcp?",
            "https://www.cursor.com/install-mcp?",
            "https://www.cursor.com/*/install-mcp?",
        ],
        Payload::Base64In("config"),
    ),
    form("LM Studio", &["lmstudio://add_mcp?", "https://lmstudio.ai/install-mcp?"], Payload::Base64In("config")),
    form("goose", &["goose://extension?", "https://goose-docs.ai/extension?"], Payload::Words),
    form("Cherry Studio", &["cherrystudio://mcp/install?"], Payload::Base64In("servers")),
    form("DeepChat", &["deepchat://mcp/install?"], Payload::Base64In("code")),
    form(
        "5ire",
        &["5ire://install-server/#", "5ire://install-server#", "5ire://install-tool/#", "5ire://install-tool#"],
        Payload::Base64,
    ),
    form("Tome", &["tome://mcp/install?"], Payload::Json),
    form("Chatbox", &["chatbox://mcp/install?"], Payload::Base64In("server")),
    form("Hermes", &["hermes://mcp/install?"], Payload::Base64In("config")),
];

/// The longest part of a path that a star stands for, in bytes.
const MAX_PART: usize = 8;

/// The form that a text begins as, and what follows its beginning.
pub(super) fn of(text: &str) -> Option<(&'static Form, &str)> {
    FORMS.iter().find_map(|form| Some((form, form.starts.iter().find_map(|start| after(text, start))?)))
}

fn after<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let Some((before, behind)) = start.split_once('*') else { return without(text, start) };
    let rest = without(text, before)?;
    let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '-').filter(|end| (1..=MAX_PART).contains(end))?;
    without(&rest[end..], behind)
}

/// Schemes and hosts know no case (RFC 3986, section 6.2.2.1).
fn without<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}
