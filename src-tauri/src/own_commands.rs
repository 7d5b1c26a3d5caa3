// Names of the commands that the shell implements in addition to the table of `api`: events, benchmarks, the page
// sandbox, closing of the window, desktop features, opening requests, zoom, menu bars, windows of conversations,
// stopped apps, and updates. Also included by the build script.

/// Names of the commands that the desktop app implements, in addition to those of the `api` command table.
const DESKTOP_SHELL_COMMANDS: &[&str] = &[
    "listen_events",
    "acknowledge_events",
    "report_first_paint",
    "report_drawn_consent_request",
    "page_sandbox",
    "retry_page_sandbox",
    "listen_shell_events",
    "confirm_closing_dialog",
    "finish_closing",
    "desktop_report",
    "set_login_start",
    "set_link_handler",
    "finish_opening",
    "set_zoom",
    "set_menu_bar",
    "open_conversation_window",
    "finish_closing_window",
    "show_main_window",
    "show_request_elsewhere",
    "dismiss_stopped_apps",
    "release_stopped_apps",
    "app_updates_report",
    "check_app_updates",
    "install_app_update",
    "stop_app_update",
];
