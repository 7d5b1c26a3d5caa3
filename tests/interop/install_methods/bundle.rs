//! Tests of a bundle that contains a real server with all dependencies, packed and signed by the official tool.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use api::{Api, dispatch};
use host::HostOptions;
use installer::{Installer, RegistryChoice, open_registry_catalog};
use serde_json::{Value, json};
use store::CacheFolder;
use testkit::app::TestApp;

use super::user::NewUser;
use crate::installed;
use crate::user::{call_tool, result_text};

/// Copies the files of a folder except symbolic links. Those that npm creates lead to programs that the server does not
/// need.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (kind, to) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &to);
        } else if kind.is_file() {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Runs the official bundle tool (`mcpb`) as the user.
async fn run_mcpb(user: &NewUser, arguments: &[&Path]) {
    let mut command = user.command(&installed::node_path());
    let output = command.arg(installed::mcpb_script()).args(arguments).output().await.unwrap();
    let printed = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "mcpb {arguments:?} should succeed: {}", String::from_utf8_lossy(&printed));
}

/// Packs the server as a bundle with this version, and returns the path of the bundle.
async fn pack_bundle_version(user: &mut NewUser, version: &str) -> PathBuf {
    let source = user.path("source");
    if !source.exists() {
        copy_folder(&installed::unpacked_bundle_folder(), &source);
    }
    let manifest = source.join("manifest.json");
    let mut written: Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    written["version"] = version.into();
    fs::write(manifest, written.to_string()).unwrap();
    let file = user.path(&format!("memory-{version}.mcpb"));
    let begun = Instant::now();
    run_mcpb(user, &[Path::new("pack"), &source, &file]).await;
    user.record_duration("mcpb pack", begun);
    file
}

/// Returns the names of the files and folders in a folder. Empty if the folder does not exist.
fn folder_entry_names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn bundle_is_packed_installed_called_updated_and_removed() {
    let mut user = NewUser::new("a bundle");
    let (first, second) =
        (pack_bundle_version(&mut user, "1.0.0").await, pack_bundle_version(&mut user, "1.1.0").await);
    let (inspected, _) = user.run_cli(&["bundle", "inspect", &first.display().to_string()]).await;
    let inspected = inspected.unwrap();
    assert_eq!(inspected["signature"], json!({ "state": "absent" }));
    assert_eq!(
        inspected["plan"]["inputs"][0]["key"], "folder",
        "the bundle should require a folder: {}",
        inspected["plan"]
    );
    assert!(inspected["files"].as_array().unwrap().len() > 1_000, "the bundle contains all installed packages");
    let mut inspect = user.command(&installed::drawbridge_cli_path());
    let output = inspect.args(["bundle", "inspect"]).arg(&first).output().await.unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.lines().count() < 150 && output.contains("more; --json lists them all"),
        "the text output is short enough to read: {output}"
    );
    assert!(folder_entry_names(&user.path("data/bundles")).is_empty(), "nothing is unpacked before the installation");

    let graph = user.path("graph");
    fs::create_dir(&graph).unwrap();
    let set = format!("folder={}", graph.display());
    let write = graph.display().to_string();
    let options = ["--set", &set, "--write", &write, "--name"];
    user.install(&first.display().to_string(), &[&options[..], &["memory"]].concat()).await;
    let sandbox = &user.settings()["memory"]["sandbox"];
    assert_eq!(
        sandbox["folders"].as_array().unwrap().len(),
        2,
        "the sandbox allows the bundle's files and the selected folder: {sandbox}"
    );
    assert!(user.list_tools("memory").await.contains(&"create_entities".to_owned()));
    let harbour = json!({ "name": "harbour", "entityType": "place", "observations": ["it has a bridge"] });
    user.call_tool("memory", "create_entities", &json!({ "entities": [harbour] })).await;
    let stored = fs::read_to_string(graph.join("memory.jsonl")).unwrap();
    assert!(stored.contains("it has a bridge"), "the sandboxed server writes to the selected folder: {stored}");

    user.install(&second.display().to_string(), &[&options[..], &["memory-2"]].concat()).await;
    let (args, folders) =
        (|name: &str| user.settings()[name]["args"][0].clone(), unpacked_bundles(&user.path("data/bundles")));
    assert_ne!(args("memory"), args("memory-2"), "each version has separate files");
    assert_eq!(folders.len(), 2, "both versions should be unpacked: {folders:?}");
    let read = user.call_tool("memory-2", "read_graph", &json!({})).await;
    assert!(read.contains("it has a bridge"), "the second version reads the data of the first one: {read}");

    let app = TestApp::start_in_folder(user.print_durations(), Vec::new(), HostOptions::default()).await;
    let (folder, removing) = (app.folder.path().to_owned(), api_that_can_remove_servers(&app));
    dispatch(&removing, "remove_server", json!({ "server": "memory" })).await.unwrap();
    assert_eq!(unpacked_bundles(&folder.join("data/bundles")).len(), 1, "removing a version removes its files");
    app.ready("memory-2").await;
    let read = result_text(&call_tool(&app, "memory-2", "read_graph", json!({})).await);
    assert!(read.contains("it has a bridge"), "the other version keeps its files: {read}");
    dispatch(&removing, "remove_server", json!({ "server": "memory-2" })).await.unwrap();
    app.host.close().await;
    assert_eq!(folder_entry_names(&folder.join("data/bundles")), [".lock"], "only the lock file of the folder remains");
    assert_eq!(
        folder_entry_names(&folder.join("data/sandbox")),
        Vec::<String>::new(),
        "no private home folder remains"
    );
    let origins = fs::read_to_string(folder.join("data/origins.json")).unwrap();
    assert!(!origins.contains("memory"), "no origin of the server remains: {origins}");
    assert_eq!(folder_entry_names(&folder.join("graph")), ["memory.jsonl"], "the user's files remain");
}

/// Returns the names of the folders into which bundles have been unpacked.
fn unpacked_bundles(place: &Path) -> Vec<String> {
    folder_entry_names(place).into_iter().filter(|name| place.join(name).is_dir()).collect()
}

/// Returns the API that the page uses, with which the test removes servers.
fn api_that_can_remove_servers(app: &TestApp) -> Api {
    let cache = app.folder.path().join("registry-cache");
    let installer = Installer::new(app.folder.path().join("data"), RegistryChoice::Official, move |address, header| {
        open_registry_catalog(address, header, Arc::new(CacheFolder::open(&cache)?))
    });
    Api::new(app.host.clone()).with_installer(installer)
}

#[tokio::test]
async fn bundle_signature_is_shown_as_unverified() {
    let mut user = NewUser::new("a signed bundle");
    let file = pack_bundle_version(&mut user, "1.0.0").await;
    let plain = fs::metadata(&file).unwrap().len();
    run_mcpb(&user, &[Path::new("sign"), Path::new("--self-signed"), &file]).await;
    assert!(fs::metadata(&file).unwrap().len() > plain, "the signature should be appended to the archive");
    let (inspected, _) = user.run_cli(&["bundle", "inspect", &file.display().to_string()]).await;
    let signature = inspected.unwrap()["signature"].clone();
    let claimed = json!({ "state": "claimed", "name": "MCPB Self-Signed Certificate" });
    assert_eq!(signature, claimed, "the signer should be shown as claimed");
    user.install(&file.display().to_string(), &["--set", "folder=/nowhere", "--no-sandbox"]).await;
    user.print_durations();
}
