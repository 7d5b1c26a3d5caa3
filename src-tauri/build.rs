//! Build script that registers all commands with Tauri, so that a capability has to list each command that a window may
//! invoke.

include!("../crates/api/src/command_list.rs");
include!("src/own_commands.rs");

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident: $request:ty => $response:ty,)*) => { &[$(stringify!($name)),*] };
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const COMMAND_NAMES: &[&str] = commands!(names);
    println!("cargo:rerun-if-changed=../crates/api/src/command_list.rs");
    println!("cargo:rerun-if-changed=src/own_commands.rs");
    let names: Vec<&'static str> = COMMAND_NAMES.iter().chain(DESKTOP_SHELL_COMMANDS).copied().collect();
    // The attributes require a static list, and the build script exits directly after.
    let manifest = tauri_build::AppManifest::new().commands(names.leak());
    // All permissions are generated here. With the default pattern, cargo watches their folder and rebuilds the crate,
    // because this script has written to it.
    let manifest = manifest.permissions_path_pattern("permissions/*.toml");
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    Ok(())
}
