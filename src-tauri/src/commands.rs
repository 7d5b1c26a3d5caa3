//! One Tauri command for each row of the table, and the handler with all of them.

use api::data::*;
use api::{Api, ApiError, Handler};
use tauri::State;
use tauri::ipc::Invoke;

use crate::{app_updates, background, desktop_report, events, login_start, measure, page_sandbox, shell_events};

macro_rules! tauri_commands {
    ($($(#[$doc:meta])* $name:ident: $request:ty => $response:ty,)*) => {
        $(
            $(#[$doc])*
            #[tauri::command]
            async fn $name(host: State<'_, Api>, request: $request) -> Result<$response, ApiError> {
                Handler::$name(host.inner(), request).await
            }
        )*

        /// Carries out whatever the page calls.
        pub(crate) fn handler<R: tauri::Runtime>() -> impl Fn(Invoke<R>) -> bool + Send + Sync + 'static {
            tauri::generate_handler![
                $($name,)*
                events::listen_events,
                events::events_seen,
                measure::painted,
                measure::question_drawn,
                page_sandbox::page_sandbox,
                page_sandbox::retry_page_sandbox,
                shell_events::listen_shell_events,
                background::closing_shown,
                background::finish_closing,
                desktop_report::desktop_report,
                login_start::set_login_start,
                app_updates::app_updates_report,
                app_updates::check_app_updates,
                app_updates::install_app_update,
                app_updates::stop_app_update,
            ]
        }
    };
}
api::commands!(tauri_commands);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    include!("own_commands.rs");

    fn permissions(names: impl Iterator<Item = &'static str>) -> BTreeSet<String> {
        names.map(|name| format!("allow-{}", name.replace('_', "-"))).collect()
    }

    #[test]
    fn the_window_may_call_the_table_and_the_shells_own_and_nothing_else() {
        let capability: Value = serde_json::from_str(include_str!("../capabilities/main.json")).expect("JSON");
        assert_eq!(capability["windows"], serde_json::json!(["main"]), "only the one window may call anything");
        let allowed: BTreeSet<String> =
            serde_json::from_value(capability["permissions"].clone()).expect("a list of names");
        assert_eq!(
            allowed,
            permissions(api::COMMANDS.iter().chain(OWN_COMMANDS).copied()),
            "capabilities/main.json names each command of the table and of the shell, and nothing else"
        );
    }
}
