//! Other settings of an entry: the switch that disables it, lists of tools, approvals, prompted values, and unknown
//! keys.

use jsonc_parser::ast::{Object, Value};
use ports::server_config::{ImportNote, ImportNoteKind, ToolFilter};

use super::{AUTOSTART_KEY, DISABLED_TOOLS_KEY, ENABLED_TOOLS_KEY, PROTOCOL_REVISION_KEY, auth, sandbox, sign_in};
use crate::json_text::present_property;
use crate::notes::{quoted_text, unused_settings_note};
use crate::secret_detection::has_secret;
use crate::server_candidate::{AppInput, ServerCandidate};

/// Keys of an entry that cause no note, because other functions parse them or an import doesn't need them.
const KEYS_WITHOUT_NOTE: [&str; 48] = [
    "name",
    "type",
    "transport",
    "source",
    "command",
    "cmd",
    "args",
    "env",
    "envs",
    "environment",
    "env_vars",
    "env_keys",
    "cwd",
    "description",
    "display_name",
    "bundled",
    "url",
    "serverUrl",
    "httpUrl",
    "server_url",
    "uri",
    "baseUrl",
    "base_url",
    "endpoint",
    "headers",
    "http_headers",
    "env_http_headers",
    "requestOptions",
    "bearer_token_env_var",
    "bearer_token",
    "disabled",
    "enabled",
    "isActive",
    DISABLED_TOOLS_KEY,
    ENABLED_TOOLS_KEY,
    "excludeTools",
    "disabled_tools",
    "includeTools",
    "enabled_tools",
    "available_tools",
    "tools",
    "oauth",
    "envFile",
    "scopes",
    auth::AUTH_KEY,
    sandbox::SANDBOX_KEY,
    PROTOCOL_REVISION_KEY,
    AUTOSTART_KEY,
];
/// Keys of deny lists: the listed tools are not offered to the model.
const DENIED_TOOLS_KEYS: [&str; 3] = [DISABLED_TOOLS_KEY, "excludeTools", "disabled_tools"];
/// Keys of allow lists: only the listed tools are offered to the model.
const ALLOWED_TOOLS_KEYS: [&str; 5] = [ENABLED_TOOLS_KEY, "includeTools", "enabled_tools", "available_tools", "tools"];
/// Keys of allow lists in which an empty list means all tools. An empty list under another key means no tools.
const ALL_TOOLS_IF_EMPTY_KEYS: [&str; 2] = ["available_tools", "tools"];
/// Keys of settings that allow the other app to call tools without the user's consent.
const APPROVAL_KEYS: [&str; 6] =
    ["trust", "autoApprove", "alwaysAllow", "autoAllow", "default_tools_approval_mode", "approval_mode"];
/// Maximum number of unknown keys that one note about a server names.
const MAX_KEYS_IN_NOTE: usize = 20;
const MAX_APP_INPUTS: usize = 100;

/// Parses the setting that disables a server. An entry with a nested object has that setting in its outer object.
pub(super) fn read_disabled_setting(found: &mut ServerCandidate, object: &Object<'_>) {
    let is = |key: &str, expected: bool| object.get_boolean(key).is_some_and(|switch| switch.value == expected);
    found.extras.disabled |= is("disabled", true) || is("enabled", false) || is("isActive", false);
}

/// Parses the tool lists, approvals, prompted values and other settings of an entry that are not a command, URL or
/// sign-in. `root` is the top-level object, which may contain VS Code's `inputs`.
pub(super) fn read_details(found: &mut ServerCandidate, object: &Object<'_>, root: &Object<'_>) {
    for key in DENIED_TOOLS_KEYS {
        found.tools.disabled.extend(tool_names(object, key).unwrap_or_default());
    }
    for key in ALLOWED_TOOLS_KEYS {
        let Some(names) = tool_names(object, key) else { continue };
        let is_all =
            names.iter().any(|name| name == "*") || (names.is_empty() && ALL_TOOLS_IF_EMPTY_KEYS.contains(&key));
        if !is_all {
            found.tools.enabled.get_or_insert_default().extend(names);
        }
    }
    found.starts_by_hand |= object.get_boolean(AUTOSTART_KEY).is_some_and(|switch| !switch.value);
    note_approvals(found, object);
    if let Some(file) = object.get_string("envFile") {
        found.extras.env_file = Some(file.value.clone().into_owned());
    }
    if let Some(program) = object.get_string("headersHelper") {
        // The arguments are not displayed, since they may be secrets.
        let program = program.value.split_whitespace().next().filter(|word| !has_secret(word));
        let note = format!(
            "its app runs {} for headers, which Drawbridge does not: enter the headers yourself",
            quoted_text(program.unwrap_or("a program"))
        );
        found.notes.push(ImportNote::new(ImportNoteKind::HeadersProgram, note).with_names(program));
    }
    note_inputs(found, root);
    note_unused_keys(found, object);
}

/// Parses the list of tool names under `key`, or returns `None` if the entry has no such list. Reads at most one name
/// more than the maximum, so that the caller notices a list that is too long.
fn tool_names(object: &Object<'_>, key: &str) -> Option<Vec<String>> {
    let items = object.get_array(key)?.elements.iter();
    let names = items.filter_map(Value::as_string_lit).map(|name| name.value.clone().into_owned());
    Some(names.filter(|name| !name.is_empty()).take(ToolFilter::MAX_PATTERNS + 1).collect())
}

fn note_approvals(found: &mut ServerCandidate, object: &Object<'_>) {
    let mut named: Vec<String> = APPROVAL_KEYS
        .iter()
        .filter(|key| present_property(object, key).is_some())
        .map(|key| quoted_text(key))
        .collect();
    let of_tool = |property: &jsonc_parser::ast::ObjectProp<'_>| {
        property.value.as_object().is_some_and(|tool| present_property(tool, "approval_mode").is_some())
    };
    if object.get_object("tools").is_some_and(|tools| tools.properties.iter().any(of_tool)) {
        named.push(String::from("\"tools.*.approval_mode\""));
    }
    if !named.is_empty() {
        let note = format!("approvals of other apps are not imported: {}", named.join(", "));
        found.notes.push(
            ImportNote::new(ImportNoteKind::Approvals, note)
                .with_names(named.iter().map(|name| name.trim_matches('"'))),
        );
    }
}

/// Adds notes about the values for which VS Code prompts the user, and which the user enters in Drawbridge's settings
/// instead.
fn note_inputs(found: &mut ServerCandidate, root: &Object<'_>) {
    // In VS Code's general settings, a key contains its whole path.
    let Some(inputs) = root.get_array("inputs").or_else(|| root.get_array("mcp.inputs")) else { return };
    for input in inputs.elements.iter().filter_map(Value::as_object).take(MAX_APP_INPUTS) {
        let Some(id) = input.get_string("id") else { continue };
        let placeholder = format!("${{input:{}}}", id.value);
        let used = |value: &String| value.contains(&placeholder);
        let in_headers =
            found.remote.as_ref().is_some_and(|remote| remote.headers.values().any(used) || used(&remote.url));
        if !in_headers && !found.config.args.iter().any(used) && !found.config.env.values().any(used) {
            continue;
        }
        let is_command = input.get_string("type").is_some_and(|kind| kind.value == "command");
        found.extras.inputs.push(AppInput {
            id: id.value.clone().into_owned(),
            password: input.get_boolean("password").is_some_and(|password| password.value),
            command: is_command,
        });
        let description = input.get_string("description").map(|text| text.value.to_string());
        let what = description.as_ref().map(|text| format!(" ({})", quoted_text(text))).unwrap_or_default();
        let note = if is_command {
            let command = input.get_string("command").map(|text| quoted_text(&text.value)).unwrap_or_default();
            let text = format!(
                "{} is the output of VS Code's command {command}{what}, which is not run",
                quoted_text(&placeholder)
            );
            ImportNote::new(ImportNoteKind::CommandInput, text)
        } else {
            let text = format!(
                "{} is a placeholder for a value for which VS Code would prompt{what}",
                quoted_text(&placeholder)
            );
            ImportNote::new(ImportNoteKind::Input, text)
        };
        found.notes.push(note.with_names(std::iter::once(placeholder).chain(description)));
    }
}

fn note_unused_keys(found: &mut ServerCandidate, object: &Object<'_>) {
    // Local servers don't support sign-ins.
    let is_remote = found.remote.is_some();
    let is_sign_in = |name: &str| sign_in::OAUTH_CLIENT_KEYS.contains(&name) || name == "scopes";
    // The key `tools` may also contain settings of individual tools.
    let is_unusable_list = |name: &str| {
        name != "tools"
            && (DENIED_TOOLS_KEYS.contains(&name) || ALLOWED_TOOLS_KEYS.contains(&name))
            && present_property(object, name).is_some_and(|list| list.value.as_array().is_none())
    };
    let silent = |name: &&str| {
        (KEYS_WITHOUT_NOTE.contains(name) && (is_remote || !is_sign_in(name)) && !is_unusable_list(name))
            || APPROVAL_KEYS.contains(name)
            || (*name == "headersHelper")
            || (*name == "tools" && object.get_array(name).is_none())
    };
    let of_entry = object.properties.iter().map(|property| property.name.as_str()).filter(|name| !silent(name));
    let has_auth = found.remote.as_ref().is_some_and(|remote| remote.auth.is_some());
    let of_auth =
        auth::unknown_auth_keys(object).into_iter().filter(|key| has_auth && !sign_in::is_imported_client_member(key));
    let of_oauth = sign_in::unused_client_members(object).into_iter().filter(|_| is_remote);
    let unused: Vec<String> = of_entry.chain(of_auth).chain(of_oauth).take(MAX_KEYS_IN_NOTE).map(quoted_text).collect();
    if !unused.is_empty() {
        found.notes.push(unused_settings_note(unused));
    }
}
