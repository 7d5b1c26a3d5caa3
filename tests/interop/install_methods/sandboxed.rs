//! Tests of sandboxed real servers, installed in the ways that users choose: by npx and uvx, in the global npm folder,
//! in a project, in a Python environment, as a tool of uv, and as a plain program. Each is started in a sandbox without
//! manually added folders, and lists its tools. The reachable part of the user's home is recorded in `SANDBOX.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::user::NewUser;
use crate::installed;

/// Time that excludes versions of dependencies published after it, so that each run uses the same versions.
const NEWEST_DEPENDENCY_DATE: &str = "2026-11-01T00:00:00Z";

const SANDBOX_TABLE_HEADING: &str = "\
# Real servers in a sandbox

Written by `cargo xtask test interop`, which installs each of these servers as its user would, starts it in a sandbox without one folder
named by hand, and lists its tools: not to be edited. The last column is what the server reaches of the user's home beside a home of its own;
it may read that and change nothing.

| installed by | server | command | network | tools | reaches of the home |
| --- | --- | --- | --- | --- | --- |
";

/// Real server, installed in a way that users choose.
struct InstalledRealServer {
    /// Name of the program with which the server was installed.
    installed_with: &'static str,
    /// Name and version of the server's package, or the name of its program.
    server: &'static str,
    /// Program that starts the server. `~` stands for the user's home folder.
    command: &'static str,
    args: &'static [&'static str],
    /// `true` if the command downloads its packages when it starts.
    downloads_packages: bool,
    /// Name of a tool that the server must list.
    tool: &'static str,
}

const REAL_SERVERS: &[InstalledRealServer] = &[
    InstalledRealServer {
        installed_with: "npx",
        server: "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
        command: "npx",
        args: &["-y", "@modelcontextprotocol/server-sequential-thinking@2026.8.31"],
        downloads_packages: true,
        tool: "sequentialthinking",
    },
    InstalledRealServer {
        installed_with: "npm, global",
        server: "@modelcontextprotocol/server-memory@2026.8.31",
        command: "~/.npm-global/bin/mcp-server-memory",
        args: &[],
        downloads_packages: false,
        tool: "read_graph",
    },
    InstalledRealServer {
        installed_with: "npm, global",
        server: "@upstash/context7-mcp@4.1.1",
        command: "~/.npm-global/bin/context7-mcp",
        args: &[],
        downloads_packages: false,
        tool: "resolve-library-id",
    },
    InstalledRealServer {
        installed_with: "npm, in a folder",
        server: "@modelcontextprotocol/server-filesystem@2026.8.31",
        command: "~/mcp/node_modules/.bin/mcp-server-filesystem",
        args: &["/usr/share"],
        downloads_packages: false,
        tool: "read_text_file",
    },
    InstalledRealServer {
        installed_with: "npm, as a script",
        server: "@modelcontextprotocol/server-everything@2026.8.31",
        command: "node",
        args: &["~/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js"],
        downloads_packages: false,
        tool: "get-sum",
    },
    InstalledRealServer {
        installed_with: "uvx",
        server: "mcp-server-time==2026.10.19",
        command: "uvx",
        args: &["mcp-server-time==2026.10.19"],
        downloads_packages: true,
        tool: "get_current_time",
    },
    InstalledRealServer {
        installed_with: "a Python environment",
        server: "mcp-server-git==2026.10.19",
        command: "~/venv/bin/mcp-server-git",
        args: &[],
        downloads_packages: false,
        tool: "git_status",
    },
    InstalledRealServer {
        installed_with: "a Python environment, as a module",
        server: "mcp-server-fetch==2026.10.24",
        command: "~/venv/bin/python",
        args: &["-m", "mcp_server_fetch"],
        downloads_packages: false,
        tool: "fetch",
    },
    InstalledRealServer {
        installed_with: "uv, as a tool",
        server: "mcp-server-time==2026.10.19",
        command: "~/.local/bin/mcp-server-time",
        args: &[],
        downloads_packages: false,
        tool: "convert_time",
    },
    InstalledRealServer {
        installed_with: "a plain program",
        server: "demo-server (rmcp)",
        command: "~/apps/demo-server",
        args: &[],
        downloads_packages: false,
        tool: "add",
    },
];

/// Runs a program with the user's environment, and waits until it has ended.
async fn run_program(user: &NewUser, program: &Path, arguments: &[&str]) {
    let home = user.path("home").display().to_string();
    let mut command = user.command(program);
    for argument in arguments {
        command.arg(argument.replace('~', &home));
    }
    command.env("npm_config_before", NEWEST_DEPENDENCY_DATE).env("npm_config_cache", user.path("home/.npm"));
    command.env("UV_EXCLUDE_NEWER", NEWEST_DEPENDENCY_DATE).env("UV_SYSTEM_CERTS", "true");
    let output = command.output().await.unwrap();
    let printed = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{} {arguments:?} should succeed: {}",
        program.display(),
        String::from_utf8_lossy(&printed)
    );
}

async fn install_all_servers(user: &mut NewUser) {
    let begun = Instant::now();
    let npm = installed::node_path().with_file_name("npm");
    let uv = installed::uvx_path().with_file_name("uv");
    let package = |by: &str| {
        let all = REAL_SERVERS.iter().filter(|real| real.installed_with == by).map(|real| real.server);
        all.collect::<Vec<_>>()
    };
    run_program(user, &npm, &[&["install", "-g", "--prefix", "~/.npm-global"], &package("npm, global")[..]].concat())
        .await;
    fs::create_dir(user.path("home/mcp")).unwrap();
    fs::write(user.path("home/mcp/package.json"), "{}").unwrap();
    let local = [package("npm, in a folder"), package("npm, as a script")].concat();
    run_program(user, &npm, &[&["install", "--prefix", "~/mcp"], &local[..]].concat()).await;
    run_program(user, &uv, &["venv", "~/venv"]).await;
    let modules = [package("a Python environment"), package("a Python environment, as a module")].concat();
    run_program(user, &uv, &[&["pip", "install", "--python", "~/venv/bin/python"], &modules[..]].concat()).await;
    for tool in package("uv, as a tool") {
        run_program(user, &uv, &["tool", "install", tool]).await;
    }
    fs::create_dir(user.path("home/apps")).unwrap();
    fs::copy(testkit::binaries::demo_server(), user.path("home/apps/demo-server")).unwrap();
    user.record_duration("installing all", begun);
}

/// Returns the content of the settings file with all servers, each with a sandbox to which no folder was added by hand.
fn all_server_settings(user: &NewUser) -> Value {
    let home = user.path("home").display().to_string();
    let entry = |real: &InstalledRealServer| {
        let args: Vec<String> = real.args.iter().map(|arg| arg.replace('~', &home)).collect();
        let mut entry = json!({ "command": real.command.replace('~', &home), "args": args });
        entry["sandbox"] = json!({ "folders": [], "network": real.downloads_packages });
        if real.downloads_packages {
            entry["env"] = json!({ "npm_config_before": NEWEST_DEPENDENCY_DATE, "UV_EXCLUDE_NEWER": NEWEST_DEPENDENCY_DATE, "UV_SYSTEM_CERTS": "true" });
        }
        entry
    };
    let servers = REAL_SERVERS.iter().enumerate().map(|(number, real)| (format!("server-{number}"), entry(real)));
    json!({ "mcpServers": servers.collect::<serde_json::Map<_, _>>() })
}

/// Returns a text that lists the paths in the user's home folder that a server can reach from its sandbox, except its
/// private home folder.
async fn reachable_paths(user: &NewUser, server: &str) -> String {
    let (report, _) = user.run_cli(&["sandbox", server]).await;
    let report = report.unwrap();
    assert_eq!(report["plan"]["folders"], json!([]), "the settings contain no folder");
    let home = user.path("home").display().to_string();
    let parts = report["plan"]["program"].as_array().unwrap().iter().filter_map(Value::as_str);
    let mut own: Vec<String> = parts.filter(|part| part.starts_with(&home)).map(|p| p.replace(&home, "~")).collect();
    // A folder inside another reachable folder is omitted.
    let all = own.clone();
    own.retain(|part| !all.iter().any(|other| part != other && Path::new(part).starts_with(other)));
    if own.is_empty() {
        "nothing".to_owned()
    } else {
        own.iter().map(|p| format!("`{p}`")).collect::<Vec<_>>().join(", ")
    }
}

#[tokio::test]
async fn real_servers_start_in_a_sandbox_without_folders() {
    let mut user = NewUser::with_separate_settings("real servers in a sandbox");
    install_all_servers(&mut user).await;
    fs::write(user.settings_path(), all_server_settings(&user).to_string()).unwrap();
    let mut table = SANDBOX_TABLE_HEADING.to_owned();
    for (number, real) in REAL_SERVERS.iter().enumerate() {
        let name = format!("server-{number}");
        let tools = user.list_tools(&name).await;
        assert!(
            tools.iter().any(|tool| tool == real.tool),
            "{} installed by {} should list its tool: {tools:?}",
            real.server,
            real.installed_with
        );
        let reached = reachable_paths(&user, &name).await;
        let command = [&[real.command], real.args].concat().join(" ");
        let network = if real.downloads_packages { "yes" } else { "none" };
        let (by, server, tools) = (real.installed_with, real.server, tools.len());
        let _ = writeln!(table, "| {by} | {server} | `{command}` | {network} | {tools} | {reached} |");
    }
    compare_sandbox_table(&table);
    user.print_durations();
}

/// Compares the table with `SANDBOX.md`, or writes that file if an environment variable requests it.
fn compare_sandbox_table(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("install_methods/SANDBOX.md");
    if std::env::var_os("INTEROP_WRITE_MATRIX").is_some() {
        fs::write(&path, table).unwrap();
    }
    let stored = fs::read_to_string(path).unwrap();
    assert_eq!(stored, table, "SANDBOX.md should match the outcomes; run `cargo xtask test interop` to update it");
}

/// [E6] A Node.js program needs a module outside of its sandbox. The host reports the path and proposes to add a
/// folder. With this folder and the user's consent, the program starts.
#[tokio::test]
async fn e6_path_missed_by_a_failed_server_is_named_and_adding_it_fixes_the_start() {
    let user = NewUser::with_separate_settings("a module outside of the sandbox");
    for folder in ["home/work/app", "home/work/shared/lib", "home/.ssh"] {
        fs::create_dir_all(user.path(folder)).unwrap();
    }
    fs::write(user.path("home/.ssh/id_ed25519"), "a key").unwrap();
    let sdk = installed::node_modules_folder().join("@modelcontextprotocol/server-everything/dist/index.js");
    // A module of the user in a folder next to the server's package.
    fs::write(user.path("home/work/shared/lib/greeting.mjs"), "export const greeting = 'ahoy';\n").unwrap();
    let key = user.path("home/.ssh/id_ed25519");
    let script = format!(
        "console.error({:?});\nconst {{ greeting }} = await import('../shared/lib/greeting.mjs');\nconsole.error(greeting);\nawait import({:?});\n",
        format!("I need '{}', too", key.display()),
        sdk.display()
    );
    let app = user.path("home/work/app/server.mjs");
    fs::write(&app, script).unwrap();
    let packages = installed::node_modules_folder().display().to_string();
    let write = |folders: &[&str]| {
        let folders: Vec<Value> = folders.iter().map(|path| json!({ "path": path, "access": "read" })).collect();
        let entry = json!({ "command": "node", "args": [app], "sandbox": { "folders": folders, "network": false } });
        fs::write(user.settings_path(), json!({ "mcpServers": { "app": entry } }).to_string()).unwrap();
    };
    write(&[&packages]);
    let answers = user.path("answers.json").display().to_string();
    let (failed, _) = user.run_cli(&["--answers", &answers, "tools", "app"]).await;
    let failed = failed.unwrap_err();
    let blocked = &failed["data"]["state"]["blocked"];
    let offer = |path: &Path| {
        let path = path.display().to_string();
        let all = blocked.as_array().unwrap_or_else(|| panic!("the error should contain the blocked paths: {failed}"));
        all.iter().find(|one| one["path"] == path).map(|one| one["offer"].clone())
    };
    let shared = user.path("home/work/shared/lib");
    let expected = json!({ "is": "folder", "folder": shared, "names": ["greeting.mjs"], "count": 1 });
    assert_eq!(
        offer(&shared.join("greeting.mjs")),
        Some(expected),
        "the folder with the missing module is proposed: {blocked}"
    );
    let refused = json!({ "is": "none", "because": "secrets" });
    assert_eq!(offer(&key), Some(refused), "no folder with keys is proposed: {blocked}");
    let words = failed["message"].as_str().unwrap();
    assert!(
        words.contains(&format!("add the folder {} to its sandbox", shared.display())),
        "the message should propose the folder: {words}"
    );

    write(&[&packages, &shared.display().to_string()]);
    let (unapproved, _) = user.run_cli(&["tools", "app"]).await;
    assert_eq!(unapproved.unwrap_err()["code"], "refused", "a start with the folder requires consent again");
    let (tools, _) = user.run_cli(&["--answers", &answers, "tools", "app"]).await;
    assert!(tools.unwrap().to_string().contains("get-sum"), "the server starts");
    user.print_durations();
}

/// A bundle whose packages are installed by uv runs in a sandbox that can't write to the folder of the bundle.
#[tokio::test]
async fn uv_bundle_starts_in_its_sandbox_and_leaves_its_folder_unchanged() {
    let mut user = NewUser::new("a bundle of uv");
    let source = user.path("source");
    fs::create_dir(&source).unwrap();
    let manifest = json!({
        "manifest_version": "0.4", "name": "clock", "version": "1.0.0", "description": "Tells the time",
        "author": { "name": "Drawbridge" }, "server": { "type": "uv", "entry_point": "server.py" },
    });
    fs::write(source.join("manifest.json"), manifest.to_string()).unwrap();
    let project = "[project]\nname = \"clock\"\nversion = \"1.0.0\"\nrequires-python = \">=3.10\"\ndependencies = [\"mcp-server-time==2026.10.19\"]\n[tool.uv]\nexclude-newer = \"2026-11-01T00:00:00Z\"\nsystem-certs = true\n";
    fs::write(source.join("pyproject.toml"), project).unwrap();
    fs::write(source.join("server.py"), "from mcp_server_time import main\nmain()\n").unwrap();
    let file = user.path("clock.mcpb");
    let mut zip = user.command(Path::new("python3"));
    zip.args(["-m", "zipfile", "-c"]).arg(&file).args(["manifest.json", "pyproject.toml", "server.py"]);
    let packed = zip.current_dir(&source).output().await.unwrap();
    assert!(packed.status.success(), "the bundle is packed");
    user.install(&file.display().to_string(), &["--network", "all", "--name", "clock"]).await;
    assert_eq!(user.settings()["clock"]["env"]["UV_ISOLATED"], "1");
    for _ in 0..2 {
        assert_eq!(
            user.list_tools("clock").await,
            ["get_current_time", "convert_time"],
            "the server should start in each run"
        );
    }
    let bundles = fs::read_dir(user.path("data/bundles")).unwrap().map(|entry| entry.unwrap().path());
    let folder = bundles.into_iter().find(|path| path.is_dir()).unwrap();
    assert!(
        !folder.join(".venv").exists() && !folder.join("uv.lock").exists(),
        "the folder of the bundle is unchanged"
    );
    user.print_durations();
}
