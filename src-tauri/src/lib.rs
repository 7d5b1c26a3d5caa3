//! Desktop shell of Drawbridge: windows with the page, the commands and events of `api`, and features of the
//! operating system (dialogs, browser, notifications, tray, start at login).
//!
//! The host contains all other application state.

mod announcements;
mod app_frames;
mod app_locations;
mod app_updates;
mod background;
mod bench;
mod closing;
mod commands;
#[cfg(target_os = "linux")]
mod connection_hints;
mod conversation_windows;
#[cfg(target_os = "linux")]
mod desktop_entry;
mod desktop_report;
mod drawing;
mod dropped_bundles;
mod event_pump;
mod link_handler;
mod login_start;
mod measure;
#[cfg(target_os = "linux")]
mod memory_watch;
mod menu_bar;
mod opening_request;
mod openings;
mod page_sandbox;
mod page_start;
#[cfg(target_os = "linux")]
mod page_watch;
mod platform;
mod presence;
mod quitting;
mod request_windows;
mod shell_events;
#[cfg(target_os = "linux")]
mod stalled_apps;
mod start;
mod stopped_apps;
mod system_language;
mod system_switch;
mod tray;
#[cfg(target_os = "linux")]
mod watched_windows;
#[cfg(target_os = "linux")]
mod web_view_processes;
mod window;
mod window_labels;
mod zoom;

#[cfg(feature = "updater")]
pub use app_updates::plugin as updater;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use tauri::{Builder, Wry};

use crate::announcements::Announcements;
use crate::background::ClosingDialog;
use crate::conversation_windows::ConversationWindows;
use crate::measure::BenchMeasure;
use crate::menu_bar::MenuBars;
use crate::openings::OpeningRequests;
use crate::page_sandbox::PageSandbox;
use crate::quitting::PendingQuit;
use crate::shell_events::ShellEvents;
use crate::tray::Tray;

/// Runs the desktop app until the user quits it or it receives a termination signal.
#[must_use]
pub fn run() -> ExitCode {
    store::keep_process_memory_private();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("DRAWBRIDGE_LOG").unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        .init();
    let measure = BenchMeasure::from_environment();
    // A benchmark uses temporary files instead.
    let locations = if measure.is_none() { app_locations::file_locations().ok() } else { None };
    let data_dir = locations.as_ref().map(|locations| locations.data_dir.as_path());
    // SAFETY: no thread was started yet, except one of JavaScriptCore at load time that only releases memory.
    #[allow(unsafe_code)]
    let sandbox = unsafe { PageSandbox::prepare(data_dir) };
    let built = match measure {
        Some(measure @ (BenchMeasure::Empty | BenchMeasure::EmptyAtRest)) => {
            bench::build_empty_page_app(measure, sandbox)
        }
        Some(BenchMeasure::Window | BenchMeasure::ConsentRequest) => build_app(measure, sandbox, Builder::default()),
        None => {
            let one = tauri_plugin_single_instance::init(|app, arguments, folder| {
                // A second start at login must not open the window of the running app.
                if !background::contains_background_option(arguments.iter().cloned()) {
                    window::show_or_open_main_window(app);
                }
                let arguments = arguments.into_iter().map(OsString::from);
                openings::show_window_and_queue_openings(
                    app,
                    openings::arguments::parse_arguments(arguments, Path::new(&folder)),
                );
            });
            build_app(measure, sandbox, Builder::default().plugin(one))
        }
    };
    match built {
        Ok(app) => {
            let status = app.run_return(closing::on_run_event);
            bench::delete_temporary_benchmark_files();
            u8::try_from(status).map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            tracing::error!("failed to initialize the window system: {error}");
            ExitCode::FAILURE
        }
    }
}

fn build_app(measure: Option<BenchMeasure>, sandbox: PageSandbox, builder: Builder<Wry>) -> tauri::Result<tauri::App> {
    let opening = start::FileOpeningThread::begin(measure);
    #[cfg(feature = "updater")]
    let builder = builder.plugin(updater::updater_plugin());
    // On Linux, `page_sandbox` and `stalled_apps` watch the web processes.
    #[cfg(target_os = "macos")]
    let builder = builder.on_web_content_process_terminate(|webview| {
        conversation_windows::close_crashed_window(tauri::Manager::app_handle(webview), webview.label());
    });
    #[cfg(target_os = "linux")]
    let (builder, on_app_load) =
        (builder.manage(watched_windows::WatchedWindows::default()), stalled_apps::watch_window::<Wry>);
    #[cfg(not(target_os = "linux"))]
    let on_app_load = |_: &tauri::AppHandle, _: &str| {};
    app_frames::register_mcp_app_document_scheme(builder, on_app_load)
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        // A click on a link in the page does not open it directly. The page first shows the whole URL in a dialog.
        .plugin(tauri_plugin_opener::Builder::new().open_js_links_on_click(false).build())
        .manage(app_updates::restart_environment())
        .manage(sandbox)
        .manage(ShellEvents::default())
        .manage(MenuBars::<Wry>::default())
        .manage(ConversationWindows::default())
        .manage(ClosingDialog::default())
        .manage(PendingQuit::default())
        .manage(Announcements::default())
        .manage(OpeningRequests::default())
        .manage(Tray::default())
        .invoke_handler(commands::command_handler())
        .setup(move |app| {
            start::start_app(app.handle(), measure, opening);
            Ok(())
        })
        .build(build_context())
}

/// Returns Tauri's context: the app's configuration, and the files of the page if the build embeds them.
fn build_context() -> tauri::Context {
    #[cfg_attr(not(feature = "updater"), allow(unused_mut))]
    let mut context = tauri::generate_context!();
    #[cfg(feature = "updater")]
    updater::configure_updater(&mut context);
    context
}
