//! The settings file with the servers: whether it can be read, and whether each server in it can be used.

use ports::server_config::{ConfigProblem, ServerEntry};

use crate::finding::Outcome;
use crate::text::Text;

/// The most servers whose problem is told.
const MOST_TOLD: usize = 5;

pub(crate) fn check(read: &Result<Vec<ServerEntry>, ConfigProblem>) -> Outcome {
    let servers = match read {
        Ok(servers) => servers,
        Err(problem) => {
            let mut seen = Text::of("The settings file can't be used");
            if let Some(line) = problem.line {
                seen = seen.and(", line ").number(line.into());
            }
            if let Some(column) = problem.column {
                seen = seen.and(", column ").number(column.into());
            }
            seen = seen.and(": ").foreign(&problem.message);
            if let Some(file) = &problem.file {
                seen = seen.and(" (").path(file).and(")");
            }
            return Outcome::problem(
                seen.and("."),
                Text::of(
                    "Correct it in an editor; it is read again at once. Until then the servers stay as they were.",
                ),
            );
        }
    };
    let broken: Vec<(&ServerEntry, String)> =
        servers.iter().filter_map(|server| Some((server, server.config.problem()?))).collect();
    let seen = Text::of("Set up: ").count(servers.len(), "server", "servers");
    if broken.is_empty() {
        return Outcome::ok(seen.and("."));
    }
    let mut seen = seen.and("; unusable: ").number(broken.len() as u64).and(". ");
    for (server, problem) in broken.iter().take(MOST_TOLD) {
        seen = seen.foreign(format!("{}: {problem}. ", server.name));
    }
    let next = Text::of("Open the settings of those servers, and complete them.");
    Outcome::problem(seen, next).of(broken.iter().map(|(server, _)| server.name.clone()).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::finding::FindingState;

    fn of(text: &str) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        std::fs::write(&file, text).unwrap();
        let (settings, _) = store::look(&file, folder.path()).unwrap();
        check(&settings.load())
    }

    #[test]
    fn a_problem_has_its_line_and_a_server_its_name() {
        let broken = of("{\n  \"mcpServers\": {\n    \"a\": {\"command\": 7}\n  }\n}");
        assert_eq!(broken.state, FindingState::Problem, "{}", broken.seen);
        assert!(broken.seen.to_string().contains("line 3, column "), "{}", broken.seen);
        let incomplete = of(r#"{"mcpServers": {"a": {"command": " "}, "b": {"command": "x"}}}"#);
        assert_eq!((incomplete.state, &incomplete.servers[..]), (FindingState::Problem, &["a".to_owned()][..]));
        let good = of(r#"{"mcpServers": {"b": {"command": "x"}}}"#);
        assert_eq!((good.state, good.seen.to_string()), (FindingState::Ok, "Set up: 1 server.".to_owned()));
    }
}
