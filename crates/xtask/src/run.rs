//! `cargo xtask run`: installs missing packages on a new machine, builds the app, and opens its window.

use std::time::Duration;

use clap::Args;

use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;
use crate::screen::{VirtualScreen, has_display};
use crate::system_packages::{
    self, COMPILER_PACKAGES, DESKTOP_APP_BUILD_PACKAGES, RequiredPackage, VIRTUAL_DISPLAY_PACKAGES,
};
use crate::{desktop_app, node, workspace};

/// Maximum time from the start of the app until its window shows content.
const WINDOW_CONTENT_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(crate) struct RunOptions {
    /// Install missing system packages without confirmation
    #[arg(long)]
    yes: bool,
    /// Run on a virtual display, take a screenshot, and exit
    #[arg(long)]
    screenshot_only: bool,
}

pub(crate) fn run(options: &RunOptions) -> Result<(), Problem> {
    let headless = options.screenshot_only || !has_display();
    if headless {
        print_step("no display is used: the window opens on a virtual one (Xvfb), and a screenshot shows it");
    }
    let mut needs: Vec<RequiredPackage> = COMPILER_PACKAGES.iter().chain(DESKTOP_APP_BUILD_PACKAGES).copied().collect();
    if headless {
        needs.extend(VIRTUAL_DISPLAY_PACKAGES);
    }
    print_step("looking for system packages and Node.js");
    system_packages::ensure_packages_are_installed(&needs, options.yes)?;
    node::check_node_version()?;
    node::install_packages(&workspace::ui_folder(), &mut Program::run)?;
    node::build_ui(&mut Program::run)?;
    print_step("building the app and the demo server (a first build takes some minutes)");
    desktop_app::desktop_app_build_command(desktop_app::DEBUG_PROFILE).run()?;
    let app = desktop_app::desktop_app_path(desktop_app::DEBUG_PROFILE)?;

    if !headless {
        print_step("opening the window; it ends when the window is closed");
        return Program::new(app).run();
    }
    let picture = workspace::create_folder_in_target("screenshots")?.join("run.png");
    let mut screen = VirtualScreen::start()?;
    print_step("opening the window");
    let mut window = screen.program(&app).start()?;
    screen.take_screenshot_with_content(&mut window, &picture, WINDOW_CONTENT_TIMEOUT)?;
    println!("Screenshot: {}", picture.display());
    if options.screenshot_only {
        return Ok(());
    }
    print_step("running until Ctrl-C");
    window.finish(Duration::MAX)
}
