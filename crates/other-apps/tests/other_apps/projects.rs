//! Tests of [`project_servers`] with project folders on disk.

use std::fs;
use std::path::{Path, PathBuf};

use other_apps::{AppEnvironment, ProjectServers, project_servers};
use ports::server_config::{ServerEntry, StdioConfig};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home folder with a project folder.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn project(&self) -> PathBuf {
        self.path().join("work")
    }

    fn write(&self, file: &str, content: &Value) {
        write_text(&self.project().join(file), &content.to_string());
    }

    fn read(&self, folder: &Path, configured: &[ServerEntry]) -> Option<ProjectServers> {
        project_servers(folder, &AppEnvironment::for_home(self.path()), configured)
    }

    fn read_project(&self) -> Option<ProjectServers> {
        self.read(&self.project(), &[])
    }
}

fn write_text(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn local_server(command: &str) -> Value {
    json!({ "command": command })
}

#[test]
fn servers_of_all_three_files_are_counted_once() {
    let home = Home::new();
    assert_eq!(home.read_project(), None, "an empty folder has no servers");
    home.write(".mcp.json", &json!({ "mcpServers": { "one": local_server("x"), "two": local_server("y") } }));
    home.write(".vscode/mcp.json", &json!({ "servers": { "one": local_server("x") } }));
    home.write(".cursor/mcp.json", &json!({ "mcpServers": { "three": { "url": "https://a.example/mcp" } } }));
    let found = home.read_project().expect("the project has servers");
    assert_eq!(found.folder, home.project().to_str().unwrap());
    assert_eq!(found.files, [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"]);
    assert_eq!(found.count, 3, "equal servers of two files count once");
}

#[test]
fn hash_changes_only_with_the_content() {
    let home = Home::new();
    let hash = || home.read_project().expect("the project has servers").hash;
    home.write(".mcp.json", &json!({ "mcpServers": { "one": local_server("x") } }));
    let first = hash();
    assert_eq!(hash(), first, "the same files have the same hash");
    home.write("notes.json", &json!({ "mcpServers": { "two": local_server("y") } }));
    assert_eq!(hash(), first, "other files are not read");
    home.write(".mcp.json", &json!({ "mcpServers": { "one": local_server("z") } }));
    let second = hash();
    assert_ne!(second, first, "another command has another hash");
    home.write(".vscode/mcp.json", &json!({ "servers": {} }));
    assert_eq!(hash(), second, "a file without servers is not part of the hash");
    home.write(".vscode/mcp.json", &json!({ "servers": { "two": local_server("y") } }));
    assert_ne!(hash(), second, "a second file is part of the hash");
}

#[test]
fn configured_servers_are_not_counted() {
    let home = Home::new();
    home.write(".mcp.json", &json!({ "mcpServers": { "one": local_server("x"), "two": local_server("y") } }));
    let configured = |name: &str, command: &str| ServerEntry {
        name: name.to_owned(),
        config: StdioConfig { command: command.to_owned(), ..StdioConfig::default() }.into(),
    };
    let count = |configured: &[ServerEntry]| home.read(&home.project(), configured).map(|found| found.count);
    assert_eq!(count(&[configured("one", "x")]), Some(1), "the same server is configured");
    assert_eq!(count(&[configured("one", "other")]), Some(2), "a different server has the name");
    assert_eq!(count(&[configured("one", "x"), configured("two", "y")]), None, "no server is left");
}

#[test]
fn unusable_files_count_as_missing() {
    let home = Home::new();
    write_text(&home.project().join(".mcp.json"), "{ \"mcpServers\": ");
    write_text(&home.project().join(".vscode/mcp.json"), &format!("{}{{\"servers\": {{}}}}", " ".repeat(1 << 20)));
    fs::create_dir_all(home.project().join(".cursor/mcp.json")).unwrap();
    assert_eq!(home.read_project(), None, "an invalid file, a large file and a folder are ignored");
    home.write(".mcp.json", &json!({ "mcpServers": { "one": local_server("x"), "two": 3 } }));
    assert_eq!(home.read_project().map(|found| found.count), Some(1), "an invalid entry is not counted");
}

#[test]
fn number_of_counted_servers_is_bounded() {
    let home = Home::new();
    let servers = |count: usize| -> Value {
        let entries = (0..count).map(|number| (format!("s{number}"), local_server(&format!("x{number}"))));
        json!({ "mcpServers": entries.collect::<serde_json::Map<_, _>>() })
    };
    home.write(".mcp.json", &servers(100));
    let full = home.read_project().expect("the project has servers");
    assert_eq!((full.count, full.files.len()), (100, 1));
    home.write(".cursor/mcp.json", &servers(101));
    let more = home.read_project().expect("the project has servers");
    assert_eq!((more.count, more.files.len()), (100, 2), "further servers are not counted");
    assert_ne!(more.hash, full.hash, "but the hash covers their file");
}

#[test]
fn home_folder_is_no_project() {
    let home = Home::new();
    write_text(
        &home.path().join(".cursor/mcp.json"),
        &json!({ "mcpServers": { "one": local_server("x") } }).to_string(),
    );
    assert_eq!(home.read(&home.path(), &[]), None, "the file contains the user's own settings");
}

#[cfg(unix)]
#[test]
fn link_out_of_the_project_is_not_followed() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    let content = json!({ "mcpServers": { "one": local_server("x") } }).to_string();
    write_text(&home.path().join("outside.json"), &content);
    symlink("../outside.json", home.project().join(".mcp.json")).unwrap();
    assert_eq!(home.read_project(), None, "the link leads out of the project");
    fs::remove_file(home.project().join(".mcp.json")).unwrap();
    write_text(&home.project().join("config/servers.json"), &content);
    symlink("config/servers.json", home.project().join(".mcp.json")).unwrap();
    assert_eq!(home.read_project().map(|found| found.count), Some(1), "the link leads to a file of the project");
}
