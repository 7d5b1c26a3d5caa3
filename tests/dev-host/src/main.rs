//! The development host: the product's host and the built page on loopback, for tests in a browser and for work on the
//! page.
//!
//! It prints `listening on http://127.0.0.1:PORT` and ends, with all its servers, when standard input does, on Ctrl-C,
//! or when it is told to terminate.

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

use api::{Api, AppEnvironment, Computer, ProcessEnvironment};
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use clap::Parser;
use host::{Host, HostOptions};
use installer::{Installer, RegistryChoice};
use tokio::net::TcpListener;

/// Serves the page and its host on loopback
#[derive(Debug, Parser)]
struct Options {
    /// The port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 1430)]
    port: u16,
    /// The settings file with the servers
    #[arg(long)]
    config: PathBuf,
    /// The folder for all else
    #[arg(long)]
    data_dir: PathBuf,
    /// The folder of the built page
    #[arg(long, default_value = "ui/dist")]
    ui: PathBuf,
    /// The folder with what the system's dialogs answer, and a keychain
    #[arg(long)]
    platform_dir: PathBuf,
    /// The demo server of a first start
    #[arg(long)]
    demo_server: Option<PathBuf>,
    /// The home folder that servers of other apps are looked for in
    #[arg(long)]
    home: Option<PathBuf>,
    /// The registry that servers are installed from, instead of the official one
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
        // The tests look for what steers a terminal, which colours do.
        .with_ansi(false)
        .init();
    match serve(Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: Options) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(demo) = &options.demo_server {
        store::add_demo_server_if_first_start(&options.config, &std::path::absolute(demo)?)?;
    }
    let platform = Arc::new(store::PlatformInFolder::new(&options.platform_dir));
    let secrets = Arc::new(keychain::KeychainInFile::new(options.platform_dir.join("keychain.json")));
    let ports = store::open_with(&options.config, &options.data_dir, platform, secrets)?;
    let computer = Computer {
        settings: Arc::clone(&ports.servers),
        secrets: Arc::clone(&ports.secrets),
        data_folder: options.data_dir.clone(),
        cache_folder: store::cache_folder(),
        environment: ProcessEnvironment::current(),
        search_path: None,
        web_view: None,
        clock: Arc::clone(&ports.clock),
    };
    let host = Host::start(ports, HostOptions { autostart: true, ..HostOptions::default() }).await;
    let kept = options.data_dir.join("registry-cache");
    let (documents, secrets) = (Arc::clone(&host.ports().documents), Arc::clone(&host.ports().secrets));
    let registry = options.registry.map_or(RegistryChoice::Settings { documents, secrets }, RegistryChoice::Named);
    let installer = Installer::new(options.data_dir, registry, move |address, header| {
        installer::open_catalog(address, header, Arc::new(store::CacheFolder::open(&kept)?))
    });
    let mut api = Api::new(host.clone()).with_computer_checks(computer).with_installer(installer);
    if let Some(home) = options.home {
        api = api.with_import_from(AppEnvironment::for_home(home));
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
    let port = listener.local_addr()?.port();
    let router = Router::new()
        .route("/api/{name}", post(commands::command))
        .route("/events", get(events::events))
        // What is attached to a message comes in one piece.
        .layer(DefaultBodyLimit::max(64 << 20))
        .with_state(api)
        .fallback_service(page::files(&options.ui))
        .layer(middleware::from_fn_with_state(port, guard::own_page_only));
    announce(port)?;
    // Connections that stay open, such as the events', do not hold the end up.
    tokio::select! {
        served = axum::serve(listener, router).into_future() => served?,
        () = ending::shutdown_requested() => {}
    }
    host.close().await;
    Ok(())
}

fn announce(port: u16) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut output = std::io::stdout();
    writeln!(output, "listening on http://127.0.0.1:{port}")?;
    output.flush()
}
