//! Fuzz target: the reader of `mcp.json`.

use ports::server_config::ServerEntry;
use serde_json::Value;

use crate::settings_fixture::SharedSettings;

/// Tests the parser of the settings file `mcp.json`. Writing a parsed entry back must change no server and no other
/// content of the file. Removing an entry must keep all others.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn mcp_json(data: &[u8]) {
    let settings = SharedSettings::lock();
    let (file, servers) = (settings.file(), settings.servers());
    std::fs::write(&file, data).unwrap();
    let loaded = match servers.load() {
        Ok(loaded) => loaded,
        Err(problem) => {
            assert!(problem.file.is_some(), "the problem contains the file");
            let lines = data.iter().filter(|byte| **byte == b'\n').count() + 1;
            let is_there = |line: u32| usize::try_from(line).is_ok_and(|line| (1..=lines).contains(&line));
            assert!(problem.line.is_none_or(is_there), "line {:?} of {lines}", problem.line);
            assert_eq!(std::fs::read(&file).unwrap(), data, "a file that can't be read is not changed");
            return;
        }
    };
    for (at, entry) in loaded.iter().enumerate() {
        assert!(loaded[..at].iter().all(|other| other.name != entry.name), "{} is unique", entry.name);
    }
    let Some(first) = loaded.first() else { return };
    // Values that have several notations, such as a relative folder, keep their meaning when they are read again.
    if servers.put(first, None).is_ok() {
        assert_eq!(servers.load().unwrap(), loaded, "writing an entry that was read changes no server");
        assert_eq!(
            members_except_servers(&std::fs::read(&file).unwrap()),
            members_except_servers(data),
            "writing an entry keeps all other members"
        );
    }
    if servers.remove(&first.name).is_ok() {
        let others: Vec<ServerEntry> = loaded[1..].to_vec();
        assert_eq!(servers.load().unwrap(), others, "only {} is removed", first.name);
    }
}

/// Returns the members of a settings file other than `mcpServers`, or `None` if the text is not plain JSON.
fn members_except_servers(text: &[u8]) -> Option<Vec<(String, Value)>> {
    let Ok(Value::Object(members)) = serde_json::from_slice(text) else { return None };
    Some(members.into_iter().filter(|(name, _)| name != "mcpServers").collect())
}
