//! The same attacks on a client of the Rust SDK with its defaults: what a host gets that takes it as it is.

use serde_json::Value;

use super::table::Other;
use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::step;
use crate::workspace;

/// One attack: the case, and what the hostile server is told to do.
struct Attack(&'static str, &'static [&'static str]);

const ATTACKS: [Attack; 21] = [
    Attack("X08", &["--misbehave", "endless-cursor"]),
    Attack("X08", &["--misbehave", "many-tools"]),
    Attack("X24", &["--misbehave", "flood-sampling"]),
    Attack("X33", &[]),
    Attack("X34", &["--misbehave", "grandchild"]),
    Attack("X34", &["--misbehave", "never-exits"]),
    Attack("X35", &["--misbehave", "silent@initialize"]),
    Attack("X35", &["--misbehave", "silent@tools/list"]),
    Attack("X35", &["--misbehave", "silent"]),
    Attack("X37", &["--misbehave", "over-long"]),
    Attack("X37", &["--misbehave", "invalid-utf8"]),
    Attack("X37", &["--misbehave", "number-array"]),
    Attack("X38", &["--misbehave", "deep"]),
    Attack("X38", &["--misbehave", "duplicate-key"]),
    Attack("X38", &["--misbehave", "string-id"]),
    Attack("X40", &["--misbehave", "half-line"]),
    Attack("X40", &["--misbehave", "close-stdout"]),
    Attack("X41", &["--misbehave", "flood-log"]),
    Attack("X41", &["--misbehave", "flood-malformed"]),
    Attack("X42", &["--misbehave", "banner"]),
    Attack("X42", &["--misbehave", "http-text"]),
];

/// A secret in the client's environment.
const CANARY: &str = "canary-of-another-client";

pub(super) fn attack(cases: &[String]) -> Result<Vec<Other>, Problem> {
    step("the same attacks on a client of the Rust SDK");
    cargo().dir(workspace::root()).args(["build", "-p", "bench-peer-rmcp", "-p", "testkit"]).run()?;
    let (client, server) =
        (workspace::binary("debug", "hostile-peer-rmcp"), workspace::binary("debug", "scripted-server"));
    let mut others = Vec::new();
    for Attack(case, arguments) in &ATTACKS {
        if !cases.is_empty() && cases.iter().all(|id| id != case) {
            continue;
        }
        let tool = if *case == "X33" { "environment" } else { "echo" };
        let program = Program::new(&client).arg(tool).arg(&server).args(*arguments).env("HOSTILE_CANARY", CANARY);
        let printed = program.output()?;
        let outcome = match serde_json::from_str(printed.trim()) {
            Ok(told) => outcome(&told),
            Err(_) => "it ended without a word".to_owned(),
        };
        let name = arguments.last().copied().unwrap_or("environment");
        others.push(Other { case: (*case).to_owned(), outcome: format!("{name}: {outcome}") });
    }
    Ok(others)
}

/// In a few words: the steps that did not go well, and what was seen.
fn outcome(told: &Value) -> String {
    let steps = told["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let went_wrong = steps.iter().filter_map(|step| {
        let (name, how) = (step[0].as_str()?, step[1].as_str()?);
        (!how.ends_with(" ms")).then(|| format!("{name} {how}"))
    });
    let mut words: Vec<String> = went_wrong.collect();
    if words.is_empty() {
        words.push("answered".to_owned());
    }
    let said = told["said"].as_str().unwrap_or_default();
    if said.contains(CANARY) {
        words.push("the server sees the client's secret".to_owned());
    }
    if is_left(said) {
        words.push("what the server started lives on".to_owned());
    }
    words.push(format!("{} MiB", told["memory_mib"].as_u64().unwrap_or_default()));
    words.join(", ")
}

/// Whether the answer is the number of a process that still runs.
fn is_left(said: &str) -> bool {
    let result: Value = serde_json::from_str(said).unwrap_or_default();
    let pid = result["content"][0]["text"].as_str().and_then(|text| text.parse::<u32>().ok());
    pid.is_some_and(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_wrong_is_told_and_what_went_well_is_not() {
        let told =
            serde_json::json!({"steps": [["connect", "12 ms"], ["call", "hangs"]], "memory_mib": 40, "said": ""});
        assert_eq!(outcome(&told), "call hangs, 40 MiB", "the step that hangs, and the memory");
        let told = serde_json::json!({"steps": [["connect", "12 ms"]], "memory_mib": 8, "said": CANARY});
        assert_eq!(outcome(&told), "answered, the server sees the client's secret, 8 MiB", "a leak is told");
    }
}
