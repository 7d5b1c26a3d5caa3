//! Tests that the right files are included in the launch files of a command.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::code::LaunchFiles;
use crate::command::ServerCommand;
use crate::programs::{SearchPath, SearchPathSource};

/// File content that is not recognized as code.
const PLAIN_TEXT: &str = "text";

struct TestFolder {
    folder: tempfile::TempDir,
}

impl TestFolder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().canonicalize().unwrap().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// Returns the launch files of a command line. `@` in its words stands for the path of the test folder.
    fn launch_files_of_command(&self, line: &[&str], variables: &[(&str, &str)], directory: &str) -> LaunchFiles {
        let whole = |text: &str| text.replace('@', &self.path(""));
        let command = ServerCommand {
            arguments: line.iter().skip(1).map(|word| whole(word)).collect(),
            environment: variables.iter().map(|(name, value)| ((*name).to_owned(), whole(value))).collect(),
            working_directory: Some(self.path(directory).into()),
            ..ServerCommand::default()
        };
        let directories = vec!["/usr/bin".into(), "/bin".into()];
        let path = SearchPath { directories, source: SearchPathSource::LoginShell };
        LaunchFiles::for_command(&command, Path::new(line.first().unwrap()), &path)
    }

    /// Returns `true` if a change of one file is visible in the launch files of a command line.
    fn detects_change(&self, file: &str, line: &[&str], variables: &[(&str, &str)], directory: &str) -> bool {
        self.write(file, PLAIN_TEXT);
        let before = self.launch_files_of_command(line, variables, directory);
        self.write(file, "replaced");
        self.launch_files_of_command(line, variables, directory) != before
    }
}

#[test]
fn s06_file_run_by_a_wrapper_or_an_option_is_a_launch_file() {
    let cases: &[(&str, &[&str])] = &[
        ("x.py", &["/bin/sh", "-c", "python3 @x.py"]),
        ("plain", &["/bin/sh", "-c", "cd @ && exec python3 plain"]),
        ("plain", &["/bin/sh", "-ec", "FOO=1;python3 '@plain'"]),
        ("plain", &["/bin/sh", "-e", "@plain"]),
        ("plain", &["/bin/sh", "-c", ". @plain"]),
        ("plain", &["/bin/sh", "-c", "exec \"$0\" \"$@\"", "python3", "@plain"]),
        ("plain", &["/usr/bin/env", "python3", "@plain"]),
        ("plain", &["/usr/bin/env", "A=1", "nice", "-n", "5", "python3", "@plain"]),
        ("plain", &["/usr/bin/env", "-S", "python3 @plain"]),
        ("plain", &["/usr/bin/env", "-Spython3 @plain"]),
        ("plain", &["/usr/bin/env", "-S", "sh -c 'python3 @plain'"]),
        ("plain", &["/usr/bin/env", "uv", "run", "--script", "@plain"]),
        ("plain", &["/usr/bin/python3", "-W", "ignore", "@plain"]),
        ("venv/pyvenv.cfg", &["/usr/bin/env", "@venv/bin/python", "@plain"]),
        ("venv/bin/python", &["/usr/bin/env", "@venv/bin/python", "@plain"]),
        ("x.py", &["/usr/bin/python3", "-c", "exec(open('@x.py').read())"]),
        ("b.jar", &["/opt/java", "-cp", "@a.jar:@b.jar", "Main"]),
        ("classes/com/Main.class", &["/opt/java", "-cp", "@classes", "com.Main"]),
        ("Evil.pm", &["/usr/bin/perl", "-I@", "-MEvil", "-e", "1"]),
        ("envfile", &["/bin/bash", "--init-file", "@envfile", "-i"]),
        ("Build", &["/usr/bin/make", "-f", "@Build"]),
        ("Build", &["/usr/bin/make", "--file=@Build"]),
        ("sub/Makefile", &["/usr/bin/make", "-C", "@sub"]),
        ("c.yml", &["/usr/bin/docker", "compose", "-f", "@c.yml", "run", "x"]),
        ("proj/package.json", &["/usr/bin/npm", "--prefix", "@proj", "start"]),
        ("plain", &["/usr/bin/awk", "-f", "@plain"]),
        ("Build", &["/usr/bin/make", "-sf", "@Build"]),
        ("main.go", &["/opt/go", "run", "@main.go"]),
        ("cmd/main.go", &["/opt/go", "run", "@cmd"]),
        ("x.swift", &["/opt/swift", "@x.swift"]),
        ("x.clj", &["/opt/bb", "@x.clj"]),
        ("x.scpt", &["/opt/osascript", "-l", "JavaScript", "@x.scpt"]),
        ("x.tcl", &["/usr/bin/env", "tclsh", "@x.tcl"]),
        ("proj/p.csproj", &["/opt/dotnet", "run", "--project", "@proj"]),
        ("proj/Cargo.toml", &["/opt/cargo", "run", "--manifest-path", "@proj/Cargo.toml"]),
    ];
    for (file, line) in cases {
        let ground = TestFolder::new();
        ground.write("venv/bin/python", PLAIN_TEXT);
        let executable = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(ground.path("venv/bin/python"), executable).unwrap();
        assert!(ground.detects_change(file, line, &[], ""), "{file} decides what {line:?} runs");
    }
}

#[test]
fn s06_file_resolved_by_node_is_a_launch_file() {
    let cases: &[(&str, &[&str])] = &[
        ("ext.js", &["/usr/bin/node", "@ext"]),
        ("ext.cjs", &["/usr/bin/node", "@ext"]),
        ("ext.json", &["/usr/bin/node", "@ext"]),
        ("ext.js", &["/usr/bin/node", "-r", "@ext", "-e", "0"]),
        ("ext.js", &["/usr/bin/node", "--require=@ext", "-e", "0"]),
        ("hook.mjs", &["/usr/bin/node", "--import", "file://@hook.mjs", "@main"]),
        ("sp ace.mjs", &["/usr/bin/node", "--import", "file://@sp%20ace.mjs", "@main"]),
        ("dir/index.js", &["/usr/bin/node", "@dir"]),
        ("dir/package.json", &["/usr/bin/node", "@dir"]),
        ("pkg/lib/code", &["/usr/bin/node", "@pkg"]),
    ];
    for (file, line) in cases {
        let ground = TestFolder::new();
        ground.write("pkg/package.json", r#"{"main":"lib/code"}"#);
        ground.write("main", PLAIN_TEXT);
        assert!(ground.detects_change(file, line, &[], ""), "{file} decides what {line:?} runs");
    }
}

#[test]
fn s06_file_named_by_a_variable_is_a_launch_file() {
    let ninth: String = (0..9).map(|hook| format!("-r @h{hook}.js ")).collect();
    let (node, python, bash) = (["/usr/bin/node", "@main"], ["/usr/bin/python3", "-m", "mod"], ["/bin/bash", "@main"]);
    let attached = ["/usr/bin/python3", "-Imod"];
    let short = ["/usr/bin/python3", "-mmod"];
    let cases: &[(&str, &[&str], (&str, &str))] = &[
        ("hook.mjs", &node, ("NODE_OPTIONS", "--import file://@hook.mjs")),
        ("hook.js", &node, ("NODE_OPTIONS", "--require ./hook.js")),
        ("hook.js", &node, ("NODE_OPTIONS", "--require \"@hook.js\"")),
        ("hook.js", &node, ("NODE_OPTIONS", "--require @hook")),
        ("h8.js", &node, ("NODE_OPTIONS", &ninth)),
        ("lib/ext.js", &["/usr/bin/node", "-r", "ext", "@main"], ("NODE_PATH", "@lib")),
        ("pp/mod.py", &python, ("PYTHONPATH", "/nowhere:@pp")),
        ("pp/mod.py", &short, ("PYTHONPATH", "pp")),
        ("pp/mod.py", &["/usr/bin/env", "python3", "-um", "mod"], ("PYTHONPATH", "@pp")),
        ("pp/sitecustomize.py", &attached, ("PYTHONPATH", "@pp")),
        ("envfile", &bash, ("BASH_ENV", "@envfile")),
        ("envfile", &["/bin/sh", "-c", "python3 $WHERE/envfile"], ("WHERE", "@")),
        ("x.so", &node, ("LD_PRELOAD", "@x.so")),
        ("lib/libc.so.6", &node, ("LD_LIBRARY_PATH", "@lib")),
        ("plain", &["/bin/sh", "-c", "python3 \"${D:-/x}/plain\""], ("D", "@")),
        ("plain", &["/bin/sh", "-c", "python3 ${D:-@}/plain"], ("D", "")),
        (".bash_profile", &["/bin/bash", "-lc", "server"], ("HOME", "@")),
        ("lib/python3.11/site-packages/usercustomize.py", &python, ("PYTHONUSERBASE", "@")),
    ];
    for (file, line, variable) in cases {
        let ground = TestFolder::new();
        ground.write("main", PLAIN_TEXT);
        for hook in 0..8 {
            ground.write(&format!("h{hook}.js"), PLAIN_TEXT);
        }
        assert!(
            ground.detects_change(file, line, &[*variable], ""),
            "{file} decides what {line:?} with {variable:?} runs"
        );
    }
    assert!(TestFolder::new().detects_change("pp/mod.py", &short, &[], "pp"), "a module in the working directory");
}

#[test]
fn s06_project_file_in_every_parent_folder_is_a_launch_file() {
    let cases: &[(&str, &[&str])] = &[
        ("package.json", &["/usr/bin/npx", "-y", "server"]),
        (".npmrc", &["/usr/bin/npx", "-y", "server"]),
        (".npmrc", &["/bin/sh", "-c", "exec npx -y server"]),
        ("NuGet.Config", &["/usr/bin/dnx", "server@1.2.3"]),
        ("pyproject.toml", &["/usr/bin/uv", "run", "server"]),
        ("a/Cargo.toml", &["/usr/bin/cargo", "run"]),
    ];
    for (file, line) in cases {
        let ground = TestFolder::new();
        ground.write("a/b/file", PLAIN_TEXT);
        let none = ground.launch_files_of_command(line, &[], "a/b");
        assert!(ground.detects_change(file, line, &[], "a/b"), "{file} decides what {line:?} runs");
        assert!(
            ground.launch_files_of_command(line, &[], "a/b").first_difference(&none).is_some(),
            "a new {file} must count as well"
        );
    }
    let ground = TestFolder::new();
    ground.write("a/b/file", PLAIN_TEXT);
    let line: &[&str] = &["/usr/bin/npx", "-y", "server@1.2.3"];
    let before = ground.launch_files_of_command(line, &[], "a/b");
    ground.write("node_modules/.bin/server@1.2.3", PLAIN_TEXT);
    let packages = ground.path("node_modules");
    assert_eq!(
        ground.launch_files_of_command(line, &[], "a/b").first_difference(&before),
        Some(Path::new(&packages)),
        "a package folder that npx would prefer must count"
    );
    assert!(!ground.detects_change("Makefile", &["/usr/bin/make"], &[], "a/b"), "make looks only where it runs");
}

#[test]
fn s06_program_on_the_search_path_of_the_command_is_a_launch_file() {
    let executable = |ground: &TestFolder, name: &str, text: &str| {
        ground.write(name, text);
        std::fs::set_permissions(ground.path(name), std::fs::Permissions::from_mode(0o700)).unwrap();
    };
    let cases: &[(&str, &[&str], &str)] = &[
        ("bin/python3", &["@tool"], "@bin:/usr/bin"),
        ("bin/python3", &["@tool"], "bin:/usr/bin"),
        ("bin/mysrv", &["/bin/sh", "-c", "exec mysrv"], "@bin"),
        ("bin/mysrv", &["/bin/sh", "-c", "PATH=@bin:$PATH exec mysrv"], "/bin"),
        ("bin/mysrv", &["/bin/sh", "-c", "export PATH=@bin:$PATH; mysrv"], "/bin"),
        ("bin/mysrv", &["/usr/bin/env", "PATH=@bin", "mysrv"], "/bin"),
    ];
    for (file, line, path) in cases {
        let ground = TestFolder::new();
        executable(&ground, "tool", "#!/usr/bin/env python3\n");
        executable(&ground, file, PLAIN_TEXT);
        let line: Vec<String> = line.iter().map(|word| word.replace("@tool", &ground.path("tool"))).collect();
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let files = || ground.launch_files_of_command(&line, &[("PATH", *path)], "");
        let before = files();
        executable(&ground, file, "replaced");
        assert_ne!(files(), before, "{file} decides what {line:?} with {path} runs");
    }
}

#[test]
fn s06_data_file_is_not_a_launch_file() {
    let cases: &[(&str, &[&str])] = &[
        ("notes.db", &["/usr/bin/python3", "@main.py", "@notes.db"]),
        ("notes.db", &["/usr/bin/env", "python3", "@main.py", "--db", "@notes.db"]),
        ("notes.db", &["/usr/bin/python3", "-m", "mod", "@notes.db"]),
        ("notes.db", &["/usr/bin/npx", "-y", "server", "-f", "@notes.db"]),
        ("notes.db", &["/opt/server", "--db=@notes.db", "-r", "@notes.db"]),
        ("notes.db", &["/bin/sh", "-c", "python3 @main.py @notes.db"]),
    ];
    for (file, line) in cases {
        let ground = TestFolder::new();
        ground.write("main.py", PLAIN_TEXT);
        ground.write("mod.py", PLAIN_TEXT);
        assert!(!ground.detects_change(file, line, &[], ""), "{file} is data of {line:?}");
    }
}
