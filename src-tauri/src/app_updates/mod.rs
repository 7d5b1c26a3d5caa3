//! Updates of the app for its settings page: checks for a newer release, and installs a release with a restart.
//!
//! `crates/updates` finds and downloads a release. In builds with the feature `updater`, Tauri's updater verifies the
//! downloaded file and replaces the program (`plugin.rs`). The page calls only the commands of this module, not those
//! of the updater. No request is sent unless the user starts a check or enables the setting `checkUpdates`.

#[cfg(feature = "updater")]
pub mod plugin;
#[cfg(not(feature = "updater"))]
mod without;

use std::path::{Path, PathBuf};
use std::time::Duration;

use host::Host;
use host::view::HostEvent;
use tauri::utils::config::BundleType;
use tauri::{AppHandle, Env, Manager as _, Runtime, State};
use updates::{
    EmbeddedPackageType, Installation, InstallationFacts, UpdateLimits, UpdateRefusal, UpdateReport, UpdateSource,
    UpdateStep, Updater,
};

#[cfg(feature = "updater")]
use plugin as installing;
#[cfg(not(feature = "updater"))]
use without as installing;

use crate::quitting;
use crate::shell_events::{ShellEvent, ShellEvents};

/// Interval between two automatic checks.
const UPDATE_CHECK_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Determines if and from where this installation can be updated, and stores the updater in Tauri's state. Sends no
/// request.
pub(crate) fn start_updates(app: &AppHandle) {
    let version = app.package_info().version.clone();
    let updates =
        Updater::new(version, detect_installation(app), installing::build_update_channel(), UpdateLimits::default());
    if let UpdateSource::Unusable { cause } = updates.report().source {
        tracing::warn!("{cause}");
    }
    app.manage(updates);
}

/// Returns the environment with which Tauri restarts Drawbridge. It has to be in Tauri's state before the Tauri app is
/// built.
///
/// It does not contain the command line arguments of this start: they could hide the window after a restart that the
/// user requested, or open a file again.
pub(crate) fn restart_environment() -> Env {
    without_command_line_arguments(Env::default())
}

fn without_command_line_arguments(mut environment: Env) -> Env {
    environment.args_os.truncate(1);
    environment
}

/// Checks for updates at the start and once a day while the setting `checkUpdates` is enabled, until the host stops.
pub(crate) fn check_updates_regularly(app: &AppHandle, host: Host) {
    let updates = app.state::<Updater>();
    if !matches!(updates.report().source, UpdateSource::Releases { .. }) {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let mut events = host.events();
        let Ok(snapshot) = host.snapshot().await else { return };
        let mut is_on = snapshot.settings.check_updates;
        loop {
            if is_on {
                check_updates_in_background(&app).await;
            }
            let rest = tokio::time::sleep(UPDATE_CHECK_INTERVAL);
            tokio::pin!(rest);
            loop {
                tokio::select! {
                    () = &mut rest => break,
                    event = events.next() => match event.as_ref().map(|event| &event.event) {
                        None => return,
                        // Enabling the setting starts a check immediately. Other changes do not affect the schedule.
                        Some(HostEvent::SettingsChanged(settings)) => {
                            let was_on = std::mem::replace(&mut is_on, settings.check_updates);
                            if is_on && !was_on {
                                break;
                            }
                        }
                        Some(_) => {}
                    },
                }
            }
        }
    });
}

/// Checks for updates, unless the result would replace a state that the user has to act on.
async fn check_updates_in_background<R: Runtime>(app: &AppHandle<R>) {
    let updates = app.state::<Updater>();
    if !is_background_check_allowed(&updates.report().step) {
        return;
    }
    if let Err(refusal) = updates.check(&|report| send_update_report(app, report)).await {
        tracing::info!("check for updates failed: {refusal}");
    }
}

/// Returns `true` if no update operation is in progress, and the current state requires no action of the user.
const fn is_background_check_allowed(step: &UpdateStep) -> bool {
    matches!(step, UpdateStep::Idle | UpdateStep::Current | UpdateStep::Refused { release: None, .. })
}

fn send_update_report<R: Runtime>(app: &AppHandle<R>, report: UpdateReport) {
    app.state::<ShellEvents>().send(ShellEvent::UpdatesChanged { report });
}

/// Command that returns the state of the app's updates for the settings page.
#[tauri::command]
pub(crate) fn app_updates_report(updates: State<'_, Updater>) -> UpdateReport {
    updates.report()
}

/// Command that checks for a newer release. The result is sent to the page as an event.
///
/// # Errors
/// Returns a message for the user if the announced release is refused.
#[tauri::command]
pub(crate) async fn check_app_updates<R: Runtime>(app: AppHandle<R>) -> Result<(), String> {
    let updates = app.state::<Updater>();
    updates.check(&|report| send_update_report(&app, report)).await.map_err(|refusal| refusal.to_string())
}

/// Command that downloads and installs the release `version`, which the page has shown to the user, and restarts
/// Drawbridge. The restart stops the servers, as on quitting. Progress is sent to the page as events.
///
/// # Errors
/// Returns a message for the user if the release is not installed.
#[tauri::command]
pub(crate) async fn install_app_update<R: Runtime>(app: AppHandle<R>, version: String) -> Result<(), String> {
    let updates = app.state::<Updater>();
    let install = installing::UpdateInstaller::for_this_build(&app);
    let installed = updates.install(&version, &install, &|report| send_update_report(&app, report)).await;
    match installed {
        Ok(()) => quitting::restart(&app),
        // The user stopped the download, and the page offers the version again.
        Err(UpdateRefusal::Stopped) => {}
        Err(refusal) => return Err(refusal.to_string()),
    }
    Ok(())
}

/// Command that stops the download of an update.
#[tauri::command]
pub(crate) fn stop_app_update(updates: State<'_, Updater>) {
    updates.stop_download();
}

fn detect_installation<R: Runtime>(app: &AppHandle<R>) -> Installation {
    Installation::detect(&InstallationFacts {
        bundle: tauri::utils::platform::bundle_type().and_then(package_type_of_bundle),
        program: std::env::current_exe().unwrap_or_default(),
        appimage: appimage_path(app),
        flatpak: Path::new("/.flatpak-info").exists(),
        snap: std::env::var_os("SNAP").is_some(),
    })
}

#[cfg(target_os = "linux")]
fn appimage_path<R: Runtime>(app: &AppHandle<R>) -> Option<PathBuf> {
    app.env().appimage.map(PathBuf::from)
}

#[cfg(not(target_os = "linux"))]
fn appimage_path<R: Runtime>(_: &AppHandle<R>) -> Option<PathBuf> {
    None
}

fn package_type_of_bundle(mark: BundleType) -> Option<EmbeddedPackageType> {
    Some(match mark {
        BundleType::AppImage => EmbeddedPackageType::AppImage,
        BundleType::Deb => EmbeddedPackageType::Deb,
        BundleType::Rpm => EmbeddedPackageType::Rpm,
        BundleType::App => EmbeddedPackageType::App,
        BundleType::Nsis => EmbeddedPackageType::Nsis,
        BundleType::Msi => EmbeddedPackageType::Msi,
        // A disk image contains an .app, so no executable has this bundle type.
        BundleType::Dmg => return None,
    })
}

#[cfg(test)]
mod tests {
    use tauri::test::{mock_builder, mock_context, noop_assets};

    use super::*;

    #[test]
    fn restart_drops_the_command_line_arguments() {
        let mut environment = Env::default();
        environment.args_os = ["drawbridge", "--background", "/notes.mcpb"].map(Into::into).to_vec();
        let builder = mock_builder().manage(without_command_line_arguments(environment));
        let app = builder.build(mock_context(noop_assets())).expect("an app without a window");
        assert_eq!(app.env().args_os, ["drawbridge"], "the restart should have no arguments");
    }
}
