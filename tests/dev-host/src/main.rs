//! Development host: serves the host and the built page on loopback, for tests in a browser and for work on the page.
//!
//! Prints `listening on http://127.0.0.1:PORT`. Ends together with all its servers when standard input is closed, on
//! Ctrl-C, or on SIGTERM.

mod commands;
mod ending;
mod events;
mod guard;
mod keychain;
mod page;

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use api::{Api, AppEnvironment, CheckInputs, ProcessEnvironment};
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use clap::Parser;
use host::{Host, HostOptions};
use installer::{Installer, RegistryChoice};
use mcp_apps::FrameAncestor;
use tokio::net::TcpListener;

/// Serves the page and the host behind it on the loopback interface
#[derive(Debug, Parser)]
struct DevHostOptions {
    /// Port to listen on; 0 for any free port
    #[arg(long, default_value_t = 1430)]
    port: u16,
    /// Settings file with the servers
    #[arg(long)]
    config: PathBuf,
    /// Folder for Drawbridge's data, such as the audit log
    #[arg(long)]
    data_dir: PathBuf,
    /// Folder of the built page
    #[arg(long, default_value = "ui/dist")]
    ui: PathBuf,
    /// Folder with files that replace the answers of system dialogs and the keychain
    #[arg(long)]
    platform_dir: PathBuf,
    /// Path of the demo server, which is added to the settings at the first start
    #[arg(long)]
    demo_server: Option<PathBuf>,
    /// Home folder in which servers of other apps are searched for
    #[arg(long)]
    home: Option<PathBuf>,
    /// Registry to install servers from, instead of the official one
    #[arg(long)]
    registry: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("DRAWBRIDGE_LOG").unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        // Tests search the output for control sequences of terminals, which colors are.
        .with_ansi(false)
        .init();
    match serve(DevHostOptions::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: DevHostOptions) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(demo) = &options.demo_server {
        store::add_demo_server_if_first_start(&options.config, &std::path::absolute(demo)?)?;
    }
    let platform = Arc::new(store::FileBackedPlatform::new(&options.platform_dir));
    let secrets = Arc::new(keychain::KeychainInFile::new(options.platform_dir.join("keychain.json")));
    let ports = store::open_with(&options.config, &options.data_dir, platform, secrets)?;
    let host_options = HostOptions { autostart: true, shows_apps: true, ..HostOptions::default() };
    let computer = CheckInputs {
        settings: Arc::clone(&ports.servers),
        secrets: Arc::clone(&ports.secrets),
        data_folder: options.data_dir.clone(),
        cache_folder: store::cache_folder(),
        environment: ProcessEnvironment::current(),
        search_path: host_options.search_path.clone(),
        web_view: None,
        clock: Arc::clone(&ports.clock),
    };
    let host = Host::start(ports, host_options).await;
    let cache_folder = options.data_dir.join("registry-cache");
    let (documents, secrets) = (Arc::clone(&host.ports().documents), Arc::clone(&host.ports().secrets));
    let registry = options.registry.map_or(RegistryChoice::Settings { documents, secrets }, RegistryChoice::Named);
    let installer = Installer::new(options.data_dir, registry, move |address, header| {
        installer::open_registry_catalog(address, header, Arc::new(store::CacheFolder::open(&cache_folder)?))
    });
    let mut api = Api::new(host.clone()).with_computer_checks(computer).with_installer(installer);
    if let Some(home) = options.home {
        api = api
            .with_app_import_from(AppEnvironment::for_home(home))
            .with_environment_variables(|name| std::env::var(name).ok());
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
    let port = listener.local_addr()?.port();
    let own_pages = [format!("127.0.0.1:{port}"), guard::UI_DEV_SERVER_HOST.to_owned()];
    let ancestors = own_pages.iter().map(|place| FrameAncestor::new(&format!("http://{place}")));
    let api = api.with_app_frames(ancestors.collect::<Result<_, _>>()?);
    let router = Router::new()
        .route("/api/{name}", post(commands::handle_command))
        .route("/events", get(events::serve_events))
        // Attachments of a message are sent in a single request.
        .layer(DefaultBodyLimit::max(64 << 20))
        .with_state(api.clone())
        .fallback_service(page::page_file_service(&options.ui, port)?)
        .layer(middleware::from_fn_with_state(guard::HostHeaderGuard { api, port }, guard::route_by_host));
    print_url(port)?;
    // Open connections, such as those of events, do not delay the end.
    tokio::select! {
        served = axum::serve(listener, router).into_future() => served?,
        () = ending::shutdown_requested() => {}
    }
    host.close().await;
    Ok(())
}

fn print_url(port: u16) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut output = std::io::stdout();
    writeln!(output, "listening on http://127.0.0.1:{port}")?;
    output.flush()
}
