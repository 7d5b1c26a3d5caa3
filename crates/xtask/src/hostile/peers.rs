//! Runs the same attacks on a client of the Rust SDK with default settings, to show their effect on a host without
//! additional protection.

use serde_json::Value;

use super::table::OtherClientResultRow;
use crate::problem::Problem;
use crate::process::{self, Program, cargo};
use crate::progress::print_step;
use crate::workspace;

/// Attack on another client: the identifier of the case, and the command-line arguments of the hostile server.
struct AttackOnOtherClient(&'static str, &'static [&'static str]);

const ATTACKS_ON_OTHER_CLIENTS: [AttackOnOtherClient; 21] = [
    AttackOnOtherClient("X08", &["--misbehave", "endless-cursor"]),
    AttackOnOtherClient("X08", &["--misbehave", "many-tools"]),
    AttackOnOtherClient("X24", &["--misbehave", "flood-sampling"]),
    AttackOnOtherClient("X33", &[]),
    AttackOnOtherClient("X34", &["--misbehave", "grandchild"]),
    AttackOnOtherClient("X34", &["--misbehave", "never-exits"]),
    AttackOnOtherClient("X35", &["--misbehave", "silent@initialize"]),
    AttackOnOtherClient("X35", &["--misbehave", "silent@tools/list"]),
    AttackOnOtherClient("X35", &["--misbehave", "silent"]),
    AttackOnOtherClient("X37", &["--misbehave", "over-long"]),
    AttackOnOtherClient("X37", &["--misbehave", "invalid-utf8"]),
    AttackOnOtherClient("X37", &["--misbehave", "number-array"]),
    AttackOnOtherClient("X38", &["--misbehave", "deep"]),
    AttackOnOtherClient("X38", &["--misbehave", "duplicate-key"]),
    AttackOnOtherClient("X38", &["--misbehave", "string-id"]),
    AttackOnOtherClient("X40", &["--misbehave", "half-line"]),
    AttackOnOtherClient("X40", &["--misbehave", "close-stdout"]),
    AttackOnOtherClient("X41", &["--misbehave", "flood-log"]),
    AttackOnOtherClient("X41", &["--misbehave", "flood-malformed"]),
    AttackOnOtherClient("X42", &["--misbehave", "banner"]),
    AttackOnOtherClient("X42", &["--misbehave", "http-text"]),
];

/// Environment variable that holds a secret of the attacked client and is inherited by its child processes.
const ATTACKED_CLIENT_SECRET_VARIABLE: &str = "HOSTILE_CANARY";

pub(super) fn attack_other_client(cases: &[String]) -> Result<Vec<OtherClientResultRow>, Problem> {
    print_step("the same attacks on a client of the Rust SDK");
    cargo().dir(workspace::root_folder()).args(["build", "-p", "bench-peer-rmcp", "-p", "testkit"]).run()?;
    let (client, server) =
        (workspace::binary_path("debug", "hostile-peer-rmcp"), workspace::binary_path("debug", "scripted-server"));
    let canary = format!("canary-of-another-client-{}", std::process::id());
    let mut others = Vec::new();
    for AttackOnOtherClient(case, arguments) in &ATTACKS_ON_OTHER_CLIENTS {
        if !cases.is_empty() && cases.iter().all(|id| id != case) {
            continue;
        }
        let tool = if *case == "X33" { "environment" } else { "echo" };
        let program =
            Program::new(&client).arg(tool).arg(&server).args(*arguments).env(ATTACKED_CLIENT_SECRET_VARIABLE, &canary);
        let printed = program.output();
        let left = process::processes_with_environment_variable(ATTACKED_CLIENT_SECRET_VARIABLE, &canary);
        process::kill_processes(&left);
        let outcome = match serde_json::from_str(printed?.trim()) {
            Ok(report) => attack_outcome_text(&report, &canary, !left.is_empty()),
            Err(_) => "it ended without a word".to_owned(),
        };
        let name = arguments.last().copied().unwrap_or("environment");
        others.push(OtherClientResultRow { case: (*case).to_owned(), outcome: format!("{name}: {outcome}") });
    }
    Ok(others)
}

/// Returns a short description of an attack's result: the steps of the client that failed, and the observed effects.
fn attack_outcome_text(report: &Value, canary: &str, lives_on: bool) -> String {
    let steps = report["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let went_wrong = steps.iter().filter_map(|step| {
        let (name, how) = (step[0].as_str()?, step[1].as_str()?);
        (!how.ends_with(" ms")).then(|| format!("{name} {how}"))
    });
    let mut words: Vec<String> = went_wrong.collect();
    if words.is_empty() {
        words.push("answered".to_owned());
    }
    if report["said"].as_str().unwrap_or_default().contains(canary) {
        words.push("the server sees the client's secret".to_owned());
    }
    if lives_on {
        words.push("what was started lives on".to_owned());
    }
    words.push(format!("{} MiB", report["memory_mib"].as_u64().unwrap_or_default()));
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failed_attack_steps_are_reported() {
        let report =
            serde_json::json!({"steps": [["connect", "12 ms"], ["call", "hangs"]], "memory_mib": 40, "said": ""});
        assert_eq!(
            attack_outcome_text(&report, "canary", false),
            "call hangs, 40 MiB",
            "the hanging step and the memory should be reported"
        );
        let report = serde_json::json!({"steps": [["connect", "12 ms"]], "memory_mib": 8, "said": "canary"});
        let leaks = "answered, the server sees the client's secret, what was started lives on, 8 MiB";
        assert_eq!(
            attack_outcome_text(&report, "canary", true),
            leaks,
            "the leak and the leftover process should be reported"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn leftover_processes_of_a_client_are_found_and_killed() {
        let canary = format!("canary-of-a-test-{}", std::process::id());
        // The shell exits while its child process continues to run.
        let script = "sleep 300 >/dev/null 2>&1 & echo started";
        let printed = Program::new("setsid")
            .args(["sh", "-c", script])
            .env(ATTACKED_CLIENT_SECRET_VARIABLE, &canary)
            .output()
            .unwrap();
        assert_eq!(printed.trim(), "started", "the child process should be started");
        let left = process::processes_with_environment_variable(ATTACKED_CLIENT_SECRET_VARIABLE, &canary);
        assert_eq!(left.len(), 1, "the child process should be found: {left:?}");
        process::kill_processes(&left);
        let began = std::time::Instant::now();
        while !process::processes_with_environment_variable(ATTACKED_CLIENT_SECRET_VARIABLE, &canary).is_empty() {
            assert!(began.elapsed().as_secs() < 10, "the child process should be killed");
            // sleep: polls, because no event reports the state.
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}
