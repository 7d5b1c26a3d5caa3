//! Table of the observations. It is compared with `PROVIDERS.md`, or written if the environment requests that.

use std::fmt::Write as _;
use std::path::Path;

use crate::checks::ModelCheckResult;
use crate::place::{ModelServer, ServedWire, wire_name};

const PROVIDER_TABLE_HEADING: &str = "# What differs between providers of models

Written by `cargo xtask test models`, which asks each of these servers over every wire that it speaks: not to be edited.

- aimock answers by what it is asked, over each wire as its authors understood it.
- LiteLLM's proxy translates each wire into OpenAI's, in which aimock answers behind it.
- llama.cpp's server runs a model of random weights that the test makes: its tokens and its grammar are real, and its words are noise. It calls a tool when it is offered one, with arguments that fit the schema.

A word such as `rateLimited` is the code of the error that the user is told; `unknown` is what the window shows, too; `-` was not tried.
";

/// Creates the table from its columns, and compares it with `PROVIDERS.md`, or writes that file if an environment
/// variable requests it. The cell of a failed check is empty.
pub(crate) fn compare_or_write_provider_table(columns: &[(ServedWire, Vec<(&str, ModelCheckResult)>)]) {
    let mut table = PROVIDER_TABLE_HEADING.to_owned();
    let _ = write!(table, "\n| server | version |\n| --- | --- |\n");
    for (server, version) in pinned_versions() {
        let _ = writeln!(table, "| {server} | {version} |");
    }
    for server in ModelServer::ALL {
        let own: Vec<_> = columns.iter().filter(|(place, _)| place.server == server).collect();
        let wires: Vec<&str> = own.iter().map(|(place, _)| wire_name(place.wire)).collect();
        let _ = write!(table, "\n## {}\n\n| | {} |\n", server.name(), wires.join(" | "));
        let _ = writeln!(table, "| --- |{}", " --- |".repeat(own.len()));
        let lines = own.first().map_or(0, |(_, cells)| cells.len());
        for line in 0..lines {
            let cells: Vec<&str> = own.iter().map(|(_, cells)| cells[line].1.as_deref().unwrap_or_default()).collect();
            let _ = writeln!(table, "| {} | {} |", own[0].1[line].0, cells.join(" | "));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../PROVIDERS.md");
    if std::env::var_os("MODEL_SERVERS_WRITE").is_some() {
        std::fs::write(&path, &table).expect("a written table");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        stored, table,
        "PROVIDERS.md should match the results; run `MODEL_SERVERS_WRITE=yes cargo xtask test models` to update it"
    );
}

/// Returns the names of the model servers with the versions that the repository pins.
fn pinned_versions() -> Vec<(&'static str, String)> {
    let python = |name: &str| {
        let lines = include_str!("requirements.txt").lines();
        let own = lines.filter_map(|line| line.strip_prefix(name)).find_map(|line| line.strip_prefix("=="));
        own.expect("a pinned version").trim_end_matches(" \\").to_owned()
    };
    let npm: serde_json::Value = serde_json::from_str(include_str!("../../package.json")).expect("valid JSON");
    let aimock = npm["devDependencies"]["@copilotkit/aimock"].as_str().expect("a pinned version").to_owned();
    vec![
        ("@copilotkit/aimock", aimock),
        ("litellm", python("litellm")),
        ("llama.cpp, in xllamacpp", python("xllamacpp")),
    ]
}
