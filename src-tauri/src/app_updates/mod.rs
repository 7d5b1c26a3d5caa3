//! Newer versions of the app, for its settings page: what there is, and one click that installs it and starts it. `crates/updates` finds
//! and downloads a release; Tauri's updater checks its file and puts it in place (`plugin.rs`), in builds with the feature `updater`.
//! The page calls the commands here and none of the updater's. Nothing is asked before the user wants it, once or by the setting
//! `checkUpdates`.

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
use updates::{Bundle, Installation, Refusal, Traces, UpdateLimits, UpdateReport, UpdateSource, UpdateStep, Updates};

#[cfg(feature = "updater")]
use plugin as installing;
#[cfg(not(feature = "updater"))]
use without as installing;

use crate::shell_events::{ShellEvent, ShellEvents};

/// How long after a check by itself the next one is made.
const REST: Duration = Duration::from_secs(24 * 60 * 60);

/// Finds out where updates of this installation come from. Asks nobody.
pub(crate) fn start(app: &AppHandle) {
    let version = app.package_info().version.clone();
    let updates = Updates::new(version, installation(app), installing::channel(), UpdateLimits::default());
    if let UpdateSource::Unusable { cause } = updates.report().source {
        tracing::warn!("{cause}");
    }
    app.manage(updates);
}

/// What a restart goes by, to be managed before the app is built: the arguments of this start are left out. They would hide the window of
/// a restart that the user asked for, or open once more the file that was named.
pub(crate) fn restart_environment() -> Env {
    without_arguments(Env::default())
}

fn without_arguments(mut environment: Env) -> Env {
    environment.args_os.truncate(1);
    environment
}

/// Checks by itself while the setting says so, until the host ends: at the start, and once a day.
pub(crate) fn follow(app: &AppHandle, host: Host) {
    let updates = app.state::<Updates>();
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
                check_quietly(&app).await;
            }
            let rest = tokio::time::sleep(REST);
            tokio::pin!(rest);
            loop {
                tokio::select! {
                    () = &mut rest => break,
                    event = events.next() => match event.as_ref().map(|event| &event.event) {
                        None => return,
                        // Turned on, it is made at once; any other change of the settings leaves the time as it is.
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

/// A check that nobody waits for. It does not disturb what the user looks at.
async fn check_quietly<R: Runtime>(app: &AppHandle<R>) {
    let updates = app.state::<Updates>();
    if !may_check_quietly(&updates.report().step) {
        return;
    }
    if let Err(refusal) = updates.check(&|report| tell(app, report)).await {
        tracing::info!("no check for updates: {refusal}");
    }
}

/// Whether nothing is going on, and nothing is shown that the user is to act on. A check that failed, for want of a network for instance, is
/// made again.
const fn may_check_quietly(step: &UpdateStep) -> bool {
    matches!(step, UpdateStep::Idle | UpdateStep::Current | UpdateStep::Refused { release: None, .. })
}

fn tell<R: Runtime>(app: &AppHandle<R>, report: UpdateReport) {
    app.state::<ShellEvents>().send(ShellEvent::UpdatesChanged { report });
}

/// What Settings shows of updates.
#[tauri::command]
pub(crate) fn app_updates_report(updates: State<'_, Updates>) -> UpdateReport {
    updates.report()
}

/// Asks for a newer version. What it comes to is told as an event.
///
/// # Errors
/// In words, why what is announced is not taken.
#[tauri::command]
pub(crate) async fn check_app_updates<R: Runtime>(app: AppHandle<R>) -> Result<(), String> {
    let updates = app.state::<Updates>();
    updates.check(&|report| tell(&app, report)).await.map_err(|refusal| refusal.to_string())
}

/// Downloads the version that the user was shown, installs it, and starts it: the servers end as they do when the app is quit. How far it
/// is is told as events.
///
/// # Errors
/// In words, why it is not installed.
#[tauri::command]
pub(crate) async fn install_app_update<R: Runtime>(app: AppHandle<R>, version: String) -> Result<(), String> {
    let updates = app.state::<Updates>();
    let install = installing::UpdateInstall::of(&app);
    let installed = updates.install(&version, &install, &|report| tell(&app, report)).await;
    match installed {
        Ok(()) => app.request_restart(),
        // By the user, who is shown the version again.
        Err(Refusal::Stopped) => {}
        Err(refusal) => return Err(refusal.to_string()),
    }
    Ok(())
}

/// Stops the download of an update.
#[tauri::command]
pub(crate) fn stop_app_update(updates: State<'_, Updates>) {
    updates.stop();
}

fn installation<R: Runtime>(app: &AppHandle<R>) -> Installation {
    Installation::of(&Traces {
        bundle: tauri::utils::platform::bundle_type().and_then(bundle),
        program: std::env::current_exe().unwrap_or_default(),
        appimage: appimage(app),
        flatpak: Path::new("/.flatpak-info").exists(),
        snap: std::env::var_os("SNAP").is_some(),
    })
}

#[cfg(target_os = "linux")]
fn appimage<R: Runtime>(app: &AppHandle<R>) -> Option<PathBuf> {
    app.env().appimage.map(PathBuf::from)
}

#[cfg(not(target_os = "linux"))]
fn appimage<R: Runtime>(_: &AppHandle<R>) -> Option<PathBuf> {
    None
}

fn bundle(mark: BundleType) -> Option<Bundle> {
    Some(match mark {
        BundleType::AppImage => Bundle::AppImage,
        BundleType::Deb => Bundle::Deb,
        BundleType::Rpm => Bundle::Rpm,
        BundleType::App => Bundle::App,
        BundleType::Nsis => Bundle::Nsis,
        BundleType::Msi => Bundle::Msi,
        // It holds an .app, and no program has its mark.
        BundleType::Dmg => return None,
    })
}

#[cfg(test)]
mod tests {
    use tauri::test::{mock_builder, mock_context, noop_assets};

    use super::*;

    #[test]
    fn a_restart_leaves_the_arguments_out() {
        let mut environment = Env::default();
        environment.args_os = ["drawbridge", "--background", "/notes.mcpb"].map(Into::into).to_vec();
        let builder = mock_builder().manage(without_arguments(environment));
        let app = builder.build(mock_context(noop_assets())).expect("an app without a window");
        assert_eq!(app.env().args_os, ["drawbridge"], "what Tauri starts again");
    }
}
