//! The start: files, host, window, in this order.

use std::sync::Arc;

use api::Api;
use domain::StoreError;
use host::{Host, HostOptions};
use ports::server_config::ConfigProblem;
use ports::{Platform, Ports};
use store::Locations;
use tauri::{AppHandle, Manager as _};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogKind};

use crate::events::Pump;
use crate::measure::{Measure, Measured};
use crate::platform::Desktop;
use crate::{bench, closing, places, platform, window};

/// Why the app could not start.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    #[error("the window could not be opened: {0}")]
    Window(#[from] tauri::Error),
    #[error("{0}")]
    Bench(#[from] bench::BenchProblem),
}

/// Starts all that the app is. When that fails, says why in a dialog, and ends.
pub(crate) fn app(app: &AppHandle, measure: Option<Measure>) {
    let Err(problem) = try_start(app, measure) else { return };
    tracing::error!("{problem}");
    if measure.is_some() {
        app.exit(1);
        return;
    }
    let ending = app.clone();
    let message = app.dialog().message(problem.to_string()).kind(MessageDialogKind::Error).title("Drawbridge");
    message.show(move |_| ending.exit(1));
}

fn try_start(app: &AppHandle, measure: Option<Measure>) -> Result<(), Problem> {
    let locations = match measure {
        Some(_) => bench::own_locations()?,
        None => places::locations()?,
    };
    let ports = ports(app, &locations)?;
    let options = HostOptions { autostart: true, ..HostOptions::default() };
    let api = Api::new(tauri::async_runtime::block_on(Host::start(ports, options)));
    app.manage(api.clone());
    app.manage(Pump::default());
    closing::on_signal(app);
    // Not before the host has started: a page that begins to draw without its data is held back for half a second by WebKitGTK.
    window::open(app, &locations.data_dir)?;
    match measure {
        Some(measure) => bench::run(app, measure, api),
        None => drop(app.manage(Measured::nothing())),
    }
    Ok(())
}

fn ports(app: &AppHandle, locations: &Locations) -> Result<Ports, Problem> {
    if let Some(demo) = places::demo_server() {
        store::add_demo_server_if_first_start(&locations.config_file, &demo)?;
    }
    let desktop = Arc::new(Desktop::new(app.clone()));
    let platform: Arc<dyn Platform> = match platform::for_tests() {
        Some(scripted) => Arc::new(scripted),
        None => desktop.clone(),
    };
    let ports = store::open(&locations.config_file, &locations.data_dir, platform)?;
    desktop.read_settings_from(ports.documents.clone());
    Ok(ports)
}
