//! `cargo xtask dev`: starts the app with live reload of the page.

use std::net::{Ipv4Addr, Ipv6Addr, TcpStream};
use std::time::{Duration, Instant};

use clap::Args;

use crate::problem::Problem;
use crate::process::{self, Program, RunningProgram, cargo};
use crate::progress::print_step;
use crate::screen::has_display;
use crate::system_packages::{self, COMPILER_PACKAGES, DESKTOP_APP_BUILD_PACKAGES, RequiredPackage};
use crate::{node, workspace};

/// Port of the development server (Vite) that serves the page, as configured in tauri.conf.json.
const UI_DEV_SERVER_PORT: u16 = 1420;

#[derive(Args)]
pub(crate) struct DevOptions {
    /// Install missing system packages without confirmation
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(options: &DevOptions) -> Result<(), Problem> {
    if !has_display() {
        return Err(Problem::Machine("there is no display to show the window on; `cargo xtask run` needs none".into()));
    }
    if is_ui_dev_server_listening() {
        return Err(Problem::Machine(format!("port {UI_DEV_SERVER_PORT} is in use; end what listens there first")));
    }
    let needs: Vec<RequiredPackage> = COMPILER_PACKAGES.iter().chain(DESKTOP_APP_BUILD_PACKAGES).copied().collect();
    system_packages::ensure_packages_are_installed(&needs, options.yes)?;
    node::check_node_version()?;
    node::install_packages(&workspace::ui_folder(), &mut Program::run)?;
    print_step("starting the page's development server");
    let mut server = node::npm(&workspace::ui_folder()).args(["run", "dev"]).start()?;
    wait_for_ui_dev_server(&mut server)?;
    cargo().dir(workspace::root_folder()).args(["build", "-p", "demo-server"]).run()?;
    print_step("building and opening the app; closing its window ends both");
    cargo().dir(workspace::root_folder()).args(["run", "-p", "drawbridge"]).run()
}

fn is_ui_dev_server_listening() -> bool {
    // The name `localhost` may resolve to either address, so the server may listen on only one of them.
    TcpStream::connect((Ipv4Addr::LOCALHOST, UI_DEV_SERVER_PORT)).is_ok()
        || TcpStream::connect((Ipv6Addr::LOCALHOST, UI_DEV_SERVER_PORT)).is_ok()
}

fn wait_for_ui_dev_server(server: &mut RunningProgram) -> Result<(), Problem> {
    let start = Instant::now();
    while !is_ui_dev_server_listening() {
        if let Some(status) = server.exit_status()? {
            return Err(Problem::Machine(format!("the development server ended ({status})")));
        }
        if start.elapsed() > Duration::from_secs(60) {
            return Err(Problem::Machine(format!(
                "the development server does not listen on port {UI_DEV_SERVER_PORT}"
            )));
        }
        process::interruptible_sleep(Duration::from_millis(100))?;
    }
    Ok(())
}
