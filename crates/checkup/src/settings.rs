//! Checks that the settings file can be read and that the settings of each server are valid.

use ports::server_config::{ConfigProblem, ServerEntry};

use crate::finding::CheckOutcome;
use crate::text::FindingText;

pub(crate) fn check_settings(read: &Result<Vec<ServerEntry>, ConfigProblem>) -> CheckOutcome {
    let servers = match read {
        Ok(servers) => servers,
        Err(problem) => {
            let mut observation = FindingText::new("The settings file can't be used");
            if let Some(line) = problem.line {
                observation = observation.and(", line ").number(line.into());
            }
            if let Some(column) = problem.column {
                observation = observation.and(", column ").number(column.into());
            }
            observation = observation.and(": ").foreign(&problem.message);
            if let Some(file) = &problem.file {
                observation = observation.and(" (").path(file).and(")");
            }
            return CheckOutcome::problem(
                observation.and("."),
                FindingText::new(
                    "Correct it in an editor. It is then read again. Until then the servers stay unchanged.",
                ),
            );
        }
    };
    CheckOutcome::ok(FindingText::new("Set up: ").count(servers.len(), "server", "servers").and("."))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::finding::FindingState;

    fn check_settings_text(text: &str) -> CheckOutcome {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        std::fs::write(&file, text).unwrap();
        check_settings(&store::open_read_only(&file, folder.path()).unwrap().servers.load())
    }

    #[test]
    fn settings_problem_is_reported_with_its_line_number() {
        let broken = check_settings_text("{\n  \"mcpServers\": {\n    \"a\": {\"command\": 7}\n  }\n}");
        assert_eq!(broken.state, FindingState::Problem, "{}", broken.observation);
        assert!(broken.observation.to_string().contains("line 3, column "), "{}", broken.observation);
        let good = check_settings_text(r#"{"mcpServers": {"b": {"command": "x"}}}"#);
        assert_eq!((good.state, good.observation.to_string()), (FindingState::Ok, "Set up: 1 server.".to_owned()));
    }
}
