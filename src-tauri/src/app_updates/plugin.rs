//! Installation of updates with Tauri's updater.
//!
//! The updater verifies that a file is signed with the project's key as the announced version, and replaces the
//! installed program with it. Downloads are done by `crates/updates`, because the updater does not limit the size of a
//! response. Public for `src-tauri/tests/updater.rs`.

use std::path::PathBuf;

use serde_json::json;
use tauri::plugin::TauriPlugin;
use tauri::{AppHandle, Context, Runtime};
use tauri_plugin_updater::{Builder, Config, Error, Update, UpdaterExt as _};
use updates::{Release, ReleaseInstaller, SignatureProblem, UpdateChannel, UpdateRefusal};

/// URL of the update manifest, set at build time.
const UPDATE_MANIFEST_URL: Option<&str> = option_env!("DRAWBRIDGE_UPDATE_ADDRESS");
/// Public key of the project as written by `tauri signer generate`, set at build time.
const UPDATE_PUBLIC_KEY: Option<&str> = option_env!("DRAWBRIDGE_UPDATE_KEY");

/// Returns the source of updates that was set when this build was made, or `None` if it has no URL or no key.
pub(super) fn build_update_channel() -> Result<Option<UpdateChannel>, UpdateRefusal> {
    UpdateChannel::from_build_settings(UPDATE_MANIFEST_URL, UPDATE_PUBLIC_KEY)
}

/// Sets the configuration of Tauri's updater in code, so that the app's configuration file can't change it.
pub fn configure_updater<R: Runtime>(context: &mut Context<R>) {
    let config = json!({
        "pubkey": UPDATE_PUBLIC_KEY.unwrap_or_default(),
        "endpoints": [],
        "requireSignedVersion": true,
        "allowDowngrades": false,
    });
    context.config_mut().plugins.0.insert("updater".to_owned(), config);
}

/// Returns Tauri's updater plugin, of which only Rust code is used: windows may not invoke its commands.
#[must_use]
pub fn updater_plugin<R: Runtime>() -> TauriPlugin<R, Config> {
    Builder::new().build()
}

/// Installs releases with Tauri's updater.
#[derive(Debug)]
pub struct UpdateInstaller<R: Runtime> {
    app: AppHandle<R>,
    channel: Result<Option<UpdateChannel>, UpdateRefusal>,
    program: Option<PathBuf>,
}

impl<R: Runtime> UpdateInstaller<R> {
    /// Creates an installer that accepts files signed with the key of `channel`, and replaces `program` with them. If
    /// `program` is `None`, replaces the running executable or its AppImage.
    #[must_use]
    pub fn new(
        app: &AppHandle<R>,
        channel: Result<Option<UpdateChannel>, UpdateRefusal>,
        program: Option<PathBuf>,
    ) -> Self {
        Self { app: app.clone(), channel, program }
    }

    pub(super) fn for_this_build(app: &AppHandle<R>) -> Self {
        Self::new(app, build_update_channel(), None)
    }

    /// Converts a release to an update of Tauri's updater, which verifies and installs it.
    fn update(&self, release: &Release) -> Result<Update, UpdateRefusal> {
        let channel = self.channel.clone()?.ok_or(UpdateRefusal::NotHere)?;
        let builder = self.app.updater_builder().pubkey(channel.key.as_str()).target(&release.platform);
        let builder = match &self.program {
            Some(program) => builder.executable_path(program),
            None => builder,
        };
        // On Windows the updater exits this process after it has started the setup program.
        #[cfg(windows)]
        let builder = {
            let app = self.app.clone();
            builder.on_before_exit(move || {
                crate::closing::stop_servers(&app);
                app.cleanup_before_exit();
            })
        };
        let builder = builder.endpoints(vec![channel.address.url().clone()]).map_err(|error| update_refusal(&error))?;
        let updater = builder.build().map_err(|error| update_refusal(&error))?;
        // The updater requires a signed version regardless of the configuration.
        let update = updater.restore_update(release.manifest.clone()).map_err(|error| update_refusal(&error))?;
        update.ok_or(UpdateRefusal::NotReady)
    }
}

impl<R: Runtime> ReleaseInstaller for UpdateInstaller<R> {
    async fn install(&self, release: &Release, file: Vec<u8>) -> Result<(), UpdateRefusal> {
        let update = self.update(release)?;
        let installed = tauri::async_runtime::spawn_blocking(move || update.install(file)).await;
        installed.map_err(|error| UpdateRefusal::Install(error.to_string()))?.map_err(|error| update_refusal(&error))
    }
}

fn update_refusal(error: &Error) -> UpdateRefusal {
    match error {
        Error::Minisign(error) => UpdateRefusal::FileSignature(SignatureProblem::from(error)),
        Error::Base64(_) | Error::SignatureUtf8(_) => UpdateRefusal::FileSignature(SignatureProblem::Unreadable),
        Error::SignedVersionMismatch { signed, announced } => {
            UpdateRefusal::OtherVersion { signed: signed.clone(), announced: announced.clone() }
        }
        Error::MissingSignedVersion => UpdateRefusal::NoVersion,
        other => UpdateRefusal::Install(other.to_string()),
    }
}
