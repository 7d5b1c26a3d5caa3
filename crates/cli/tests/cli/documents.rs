//! Tests of completions and manual pages, which require neither settings nor a host.

use std::fs;
use std::process::{Command, Output};

#[allow(clippy::disallowed_methods, reason = "starts the program under test, not a server")]
fn run_program(home: &std::path::Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_drawbridge-cli"));
    program.args(arguments).env("HOME", home).env("XDG_CONFIG_HOME", home.join("config"));
    program.env("XDG_DATA_HOME", home.join("data")).output().unwrap()
}

#[test]
fn shell_completions_contain_the_commands_and_create_no_file() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let output = run_program(home.path(), &["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{shell} should be supported");
        for word in ["servers", "call", "audit", "data-dir"] {
            assert!(script.contains(word), "{word} should be completed in {shell}");
        }
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "neither settings nor data should be created");
}

#[test]
fn unsupported_shell_is_a_usage_error() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(
        run_program(home.path(), &["completions", "cmd"]).status.code(),
        Some(2),
        "the exit status should report the failure"
    );
}

#[test]
fn manual_pages_are_written_for_the_program_and_each_command() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().to_str().unwrap();
    assert!(run_program(home.path(), &["man", folder]).status.success(), "the pages should be written");
    let page = fs::read_to_string(home.path().join("drawbridge-cli.1")).unwrap();
    assert!(page.contains("commandLineOnly"), "the long help should be in the page");
    for command in ["call", "audit", "completions"] {
        assert!(home.path().join(format!("drawbridge-cli-{command}.1")).is_file(), "{command} should have a page");
    }
    let missing = run_program(home.path(), &["man", "/nowhere/at/all"]);
    assert_eq!(missing.status.code(), Some(1), "a missing folder should be a failure");
}
