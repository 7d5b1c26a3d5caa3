//! Dispatch of commands that the page invokes: those of the `api` command table, and those of the shell.

use api::{Api, COMMANDS};
use serde_json::Value;
use tauri::ipc::{Invoke, InvokeBody, InvokeError, InvokeResponseBody};
use tauri::{Manager as _, Runtime, Webview};

use crate::conversation_windows::ConversationWindows;
use crate::window_labels::MAIN_WINDOW_LABEL;
use crate::{
    app_updates, background, conversation_windows, desktop_report, event_pump, link_handler, login_start, measure,
    menu_bar, openings, page_sandbox, page_start, request_windows, stopped_apps, zoom,
};

/// Request of a command that is invoked without arguments.
static EMPTY_REQUEST: Value = Value::Null;

/// Returns the handler of all commands of the page. Tauri calls it only for commands that the window may invoke.
pub(crate) fn command_handler<R: Runtime>() -> impl Fn(Invoke<R>) -> bool + Send + Sync + 'static {
    let of_the_shell = desktop_command_handler();
    move |invoke| {
        if !COMMANDS.contains(&invoke.message.command()) {
            return of_the_shell(invoke);
        }
        respond_to_invoke(invoke);
        true
    }
}

/// Returns the handler of the commands that the desktop app implements in addition to those of `api`.
fn desktop_command_handler<R: Runtime>() -> impl Fn(Invoke<R>) -> bool + Send + Sync + 'static {
    tauri::generate_handler![
        event_pump::listen_events,
        event_pump::acknowledge_events,
        measure::report_first_paint,
        measure::report_drawn_consent_request,
        page_sandbox::page_sandbox,
        page_sandbox::retry_page_sandbox,
        page_start::listen_shell_events,
        background::confirm_closing_dialog,
        background::finish_closing,
        desktop_report::desktop_report,
        login_start::set_login_start,
        link_handler::set_link_handler,
        openings::finish_opening,
        zoom::set_zoom,
        menu_bar::set_menu_bar,
        conversation_windows::open_conversation_window,
        conversation_windows::finish_closing_window,
        conversation_windows::show_main_window,
        request_windows::show_request_elsewhere,
        stopped_apps::dismiss_stopped_apps,
        stopped_apps::release_stopped_apps,
        app_updates::app_updates_report,
        app_updates::check_app_updates,
        app_updates::install_app_update,
        app_updates::stop_app_update,
    ]
}

/// Scope of the commands that a window may use.
#[derive(Debug, PartialEq, Eq)]
enum CommandScope {
    /// Data of all conversations and servers, for commands of the main window.
    Everything,
    /// Data of the conversation that the window shows. `None` if the window is being closed and shows none.
    Conversation(Option<String>),
}

impl CommandScope {
    fn of_window<R: Runtime>(webview: &Webview<R>) -> Self {
        if webview.label() == MAIN_WINDOW_LABEL {
            return Self::Everything;
        }
        let windows = webview.try_state::<ConversationWindows>();
        Self::Conversation(windows.and_then(|windows| windows.conversation_in_window(webview.label())))
    }
}

/// Executes a command of the `api` table.
///
/// This function returns one future type for all commands. Tauri's macro would create one per command, which adds
/// several megabytes of code.
fn respond_to_invoke<R: Runtime>(invoke: Invoke<R>) {
    let Invoke { message, resolver, .. } = invoke;
    // The window is looked up before the command is queued: once it is closed, its label can get another conversation.
    let scope = CommandScope::of_window(message.webview_ref());
    let api = message.webview_ref().try_state::<Api>().map(|api| api.inner().clone());
    resolver.respond_async_serialized(async move {
        let api = api.ok_or_else(|| InvokeError::from("the host is not running"))?;
        let request = match message.payload() {
            InvokeBody::Json(arguments) => arguments.get("request").unwrap_or(&EMPTY_REQUEST),
            InvokeBody::Raw(_) => &EMPTY_REQUEST,
        };
        let response = match scope {
            CommandScope::Everything => api::respond(&api, message.command(), request).await,
            CommandScope::Conversation(own) => {
                api::respond_in_conversation(&api, message.command(), request, own.as_deref()).await
            }
        };
        let text = response.map_err(InvokeError::from)?;
        Ok(InvokeResponseBody::Json(text))
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    include!("own_commands.rs");

    fn permission_names(names: impl Iterator<Item = &'static str>) -> BTreeSet<String> {
        names.map(|name| format!("allow-{}", name.replace('_', "-"))).collect()
    }

    #[test]
    fn main_window_may_call_exactly_the_listed_commands() {
        let capability: Value = serde_json::from_str(include_str!("../capabilities/main.json")).expect("JSON");
        assert_eq!(capability["windows"], json!(["main"]), "no other window should have the capability");
        let allowed: BTreeSet<String> =
            serde_json::from_value(capability["permissions"].clone()).expect("a list of names");
        assert_eq!(
            allowed,
            permission_names(api::COMMANDS.iter().chain(DESKTOP_SHELL_COMMANDS).copied()),
            "capabilities/main.json should list each command of the table and of the shell, and nothing else"
        );
    }

    #[test]
    fn conversation_window_may_not_call_commands_that_change_connections() {
        let capability: Value = serde_json::from_str(include_str!("../capabilities/conversation.json")).expect("JSON");
        assert_eq!(capability["windows"], json!(["conversation-*"]), "only windows of conversations");
        let allowed: BTreeSet<String> =
            serde_json::from_value(capability["permissions"].clone()).expect("a list of names");
        // None changes servers, secrets, providers or the desktop, and rules can only be added.
        let granted = [
            "confirm_closing_dialog",
            "show_request_elsewhere",
            "read_snapshot",
            "start_server",
            "stop_server",
            "restart_server",
            "report_network_available",
            "sign_in",
            "pick_folder",
            "read_catalog",
            "refresh_list",
            "review_definitions",
            "call_tool",
            "get_prompt",
            "read_resource",
            "list_skills",
            "read_skill",
            "cancel_call",
            "complete",
            "expand_template",
            "decide_consent_request",
            "edit_consent_request",
            "validate_form",
            "deny_all_consent_requests",
            "unmute_server",
            "read_activity",
            "read_activity_message",
            "export_activity",
            "read_conversation",
            "append_items",
            "rename_conversation",
            "read_conversation_items",
            "read_omitted_content",
            "send_message",
            "edit_message",
            "retry_reply",
            "continue_reply",
            "stop_reply",
            "choose_branch",
            "set_conversation",
            "list_system_prompts",
            "save_system_prompt",
            "remove_system_prompt",
            "set_draft",
            "list_conversation_tools",
            "read_conversation_cost",
            "export_conversation",
            "read_app_page",
            "approve_app",
            "revoke_app",
            "open_app",
            "deliver_app_message",
            "set_app_context",
            "set_app_tools",
            "decide_app_request",
            "save_app_file",
            "read_app_document",
            "close_app",
            "read_policy",
            "add_policy_rule",
            "save_media",
            "list_models",
            "set_window_settings",
            "parse_url",
            "open_url",
            "listen_events",
            "acknowledge_events",
            "report_first_paint",
            "report_drawn_consent_request",
            "listen_shell_events",
            "set_zoom",
            "set_menu_bar",
            "finish_closing_window",
            "show_main_window",
            "release_stopped_apps",
        ];
        assert_eq!(
            allowed,
            permission_names(granted.into_iter()),
            "capabilities/conversation.json should grant exactly the commands that its page invokes"
        );
        let known: BTreeSet<&str> = api::COMMANDS.iter().chain(DESKTOP_SHELL_COMMANDS).copied().collect();
        for name in granted {
            assert!(known.contains(name), "{name} should be a command of the table or of the shell");
        }
    }
}
