//! Startup of the app: opens the files, starts the host, and opens the window.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use api::{Api, AppEnvironment, CheckInputs, ProcessEnvironment, WebView};
use domain::StoreError;
use host::{Host, HostOptions};
use installer::{InstallError, Installer, RegistryChoice};
use ports::server_config::ConfigProblem;
use ports::{Platform, Ports};
use store::{CacheFolder, FileLocations};
use tauri::{AppHandle, Manager as _};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogKind};

use crate::event_pump::EventPump;
use crate::measure::{BenchMeasure, DrawingReporter};
use crate::platform::DesktopPlatform;
use crate::tray::Tray;
use crate::{
    announcements, app_frames, app_locations, app_updates, background, bench, closing, dropped_bundles, menu_bar,
    openings, platform, presence, window,
};

/// Reason why Drawbridge could not start.
#[derive(Debug, thiserror::Error)]
enum AppStartProblem {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    #[error("failed to open the window: {0}")]
    Window(#[from] tauri::Error),
    #[error("{0}")]
    Bench(#[from] bench::BenchmarkProblem),
}

/// A running thread that opens Drawbridge's files. The window system starts meanwhile, because the keychain takes about
/// as long to respond.
pub(crate) struct FileOpeningThread(JoinHandle<Result<OpenedAppFiles, AppStartProblem>>);

struct OpenedAppFiles {
    locations: FileLocations,
    ports: Ports,
    desktop: Arc<DesktopPlatform>,
}

impl FileOpeningThread {
    /// Spawns the thread that opens Drawbridge's files, before the Tauri app is created. A second instance of
    /// Drawbridge does the same and exits without having changed anything.
    pub(crate) fn begin(measure: Option<BenchMeasure>) -> Self {
        Self(std::thread::spawn(move || open_app_files(measure)))
    }

    fn finish(self) -> Result<OpenedAppFiles, AppStartProblem> {
        self.0.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Starts the host and all parts of the desktop app. On failure, shows the cause in a dialog and exits.
pub(crate) fn start_app(app: &AppHandle, measure: Option<BenchMeasure>, opening: FileOpeningThread) {
    let Err(problem) = try_start_app(app, measure, opening) else { return };
    tracing::error!("{problem}");
    if measure.is_some() {
        app.exit(1);
        return;
    }
    let ending = app.clone();
    let message = app.dialog().message(problem.to_string()).kind(MessageDialogKind::Error).title("Drawbridge");
    message.show(move |_| ending.exit(1));
}

fn try_start_app(
    app: &AppHandle,
    measure: Option<BenchMeasure>,
    opening: FileOpeningThread,
) -> Result<(), AppStartProblem> {
    let OpenedAppFiles { locations, ports, desktop } = opening.finish()?;
    desktop.attach(app);
    app_locations::update_copied_demo_server();
    app_locations::add_demo_server_at_first_start(&locations)?;
    let options =
        HostOptions { autostart: true, shows_apps: app_frames::MCP_APPS_ARE_SUPPORTED, ..HostOptions::default() };
    let computer = computer_check_inputs(&ports, locations.data_dir.clone(), &options);
    let api = Api::new(tauri::async_runtime::block_on(Host::start(ports, options))).with_computer_checks(computer);
    let ports = api.host().ports();
    let (documents, secrets) = (Arc::clone(&ports.documents), Arc::clone(&ports.secrets));
    let registry = match app_locations::registry_address() {
        Some(address) => RegistryChoice::Named(address),
        None => RegistryChoice::Settings { documents, secrets },
    };
    let installer = Installer::new(locations.data_dir.clone(), registry, |address, header| {
        let cache_folder = store::registry_cache_folder();
        let cache_folder = cache_folder
            .ok_or_else(|| InstallError::DataFolder("the folder of caches is unknown; set HOME".to_owned()))?;
        installer::open_registry_catalog(address, header, Arc::new(CacheFolder::open(&cache_folder)?))
    });
    let (cleaning, host) = (installer.clone(), api.host().clone());
    tauri::async_runtime::spawn(async move { cleaning.clean_up_after_killed_process(&host).await });
    let api = app_frames::allow_mcp_app_frames(api.with_installer(installer));
    let api = match std::env::home_dir() {
        Some(home) => api
            .with_app_import_from(AppEnvironment::current_user(home, |name| std::env::var_os(name).map(PathBuf::from)))
            .with_environment_variables(|name| std::env::var(name).ok()),
        None => api,
    };
    app.manage(api.clone());
    app.manage(EventPump::default());
    app_updates::start_updates(app);
    closing::quit_on_signal(app);
    menu_bar::handle_menu_events(app);
    window::prepare_windows(app, &locations.data_dir, dropped_bundles::open_dropped_bundles)?;
    let named = if measure.is_some() { Vec::new() } else { openings::arguments::parse_process_arguments() };
    if measure.is_some() || !background::starts_in_background() || !named.is_empty() {
        // The window is opened after the host has started. Otherwise WebKitGTK draws the page before its data has
        // arrived, which delays the page by half a second.
        window::open_main_window(app)?;
    }
    openings::queue_opening_requests(app, named);
    match measure {
        Some(measure) => bench::run(app, measure, api),
        None => {
            app.manage(DrawingReporter::disabled());
            app.state::<Tray>().start(app);
            announcements::show_window_on_notification_click(app);
            presence::update_tray_on_host_events(app, api.host().clone());
            app_updates::check_updates_regularly(app, api.host().clone());
        }
    }
    Ok(())
}

/// Returns the paths and settings of this computer that the command *Check this computer* examines.
fn computer_check_inputs(ports: &Ports, data_folder: PathBuf, options: &HostOptions) -> CheckInputs {
    let name = if cfg!(target_os = "linux") {
        "WebKitGTK"
    } else if cfg!(windows) {
        "WebView2"
    } else {
        "WebKit"
    };
    CheckInputs {
        settings: Arc::clone(&ports.servers),
        secrets: Arc::clone(&ports.secrets),
        data_folder,
        cache_folder: store::cache_folder(),
        environment: ProcessEnvironment::current(),
        search_path: options.search_path.clone(),
        web_view: Some(WebView { name, version: tauri::webview_version().unwrap_or_default() }),
        clock: Arc::clone(&ports.clock),
    }
}

fn open_app_files(measure: Option<BenchMeasure>) -> Result<OpenedAppFiles, AppStartProblem> {
    let locations = match measure {
        Some(_) => bench::temporary_benchmark_locations()?,
        None => app_locations::file_locations()?,
    };
    let desktop = Arc::new(DesktopPlatform::default());
    let platform: Arc<dyn Platform> = match platform::test_platform() {
        Some(scripted) => Arc::new(scripted),
        None => desktop.clone(),
    };
    let ports = store::open(&locations.config_file, &locations.data_dir, platform)?;
    desktop.read_settings_from(ports.documents.clone());
    // Starts to read the key of the MACs from the keychain. The host waits for it later.
    ports.documents.request_mac_key(Duration::ZERO);
    Ok(OpenedAppFiles { locations, ports, desktop })
}
