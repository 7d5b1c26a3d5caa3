//! `cargo xtask dist`: builds the packages for Linux, and checks them.

mod assets;
mod build;
mod check;
mod compare;
mod deb;
mod install;
mod notices;
mod release;
mod rpm;
mod sbom;
mod sums;
mod tree;

use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;
use crate::system_packages::{
    self, COMPILER_PACKAGES, DESKTOP_APP_BUILD_PACKAGES, PACKAGE_CHECK_TOOLS, PACKAGING_TOOLS, RequiredPackage,
    VIRTUAL_DISPLAY_PACKAGES,
};
use crate::{node, workspace};
use release::Release;

#[derive(Args)]
pub(crate) struct DistOptions {
    /// Folder for the packages (default: target/dist)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Build only this package format
    #[arg(long, value_enum)]
    only: Option<PackageFormat>,
    /// Check the packages, and install the .deb in a new root file system
    #[arg(long)]
    check: bool,
    /// Build nothing, and compare the packages in the output folder with those of another build in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["only", "check"])]
    compare: Option<PathBuf>,
    /// Cargo profile of the build. Use only "release" for packages to distribute
    #[arg(long, default_value = "release")]
    profile: String,
    /// Install missing system packages and cargo tools for the SBOM without confirmation
    #[arg(long)]
    yes: bool,
}

/// Package format of a Linux distribution.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PackageFormat {
    Deb,
    Rpm,
}

pub(crate) fn run(options: &DistOptions) -> Result<(), Problem> {
    if !cfg!(target_os = "linux") {
        return Err(Problem::Machine("packages for Linux are built on Linux".into()));
    }
    let out = options.out.clone().map_or_else(|| workspace::create_folder_in_target("dist"), Ok)?;
    if let Some(other) = &options.compare {
        system_packages::ensure_packages_are_installed(PACKAGING_TOOLS, options.yes)?;
        return compare::compare_packages(&out, other);
    }
    let mut needs: Vec<RequiredPackage> = [COMPILER_PACKAGES, DESKTOP_APP_BUILD_PACKAGES, PACKAGING_TOOLS].concat();
    if options.check {
        needs.extend([PACKAGE_CHECK_TOOLS, VIRTUAL_DISPLAY_PACKAGES].concat());
    }
    system_packages::ensure_packages_are_installed(&needs, options.yes)?;
    node::check_node_version()?;
    node::install_packages(&workspace::ui_folder(), &mut Program::run)?;
    node::build_ui(&mut Program::run)?;

    let release = Release::read()?;
    sbom::install_sbom_tools(options.yes)?;
    build::build_programs(&options.profile, &release)?;

    fs::create_dir_all(&out).map_err(Problem::file_error(&out))?;
    let out = out.canonicalize().map_err(Problem::file_error(&out))?;
    let bills = sbom::write_sboms(&out, &release)?;
    print_step("staging the files of the packages");
    let tree = workspace::create_folder_in_target("dist-stage")?.join("tree");
    assets::stage_package_files(&tree, &options.profile, &release, &bills)?;

    let includes = |format| options.only.is_none_or(|only| only == format);
    let mut made = Vec::new();
    if includes(PackageFormat::Deb) {
        made.push(deb::pack_deb(&tree, &out, &release)?);
    }
    if includes(PackageFormat::Rpm) {
        made.push(rpm::pack_rpm(&tree, &out, &release)?);
    }
    made.extend(bills);
    made.push(sums::write_checksums(&out, &made)?);
    for file in &made {
        let size = fs::metadata(file).map_err(Problem::file_error(file))?.len();
        println!("{} ({size} bytes)", file.display());
    }
    if options.check { check::check_packages(&made, &tree) } else { Ok(()) }
}
