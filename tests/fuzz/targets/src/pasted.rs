//! Fuzz target: pasted settings and command lines.

use ports::server_config::ServerEntry;

use crate::settings_fixture::SharedSettings;

/// Maximum number of servers that may be found in one pasted text.
const MAX_PASTED_SERVERS: usize = 100;

/// Tests the import of pasted text. Each found server must have a unique name. A usable server must be equal after it
/// was written to the settings file and read again.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn pasted(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let taken = ["demo".to_owned(), "files".to_owned()];
    let Ok(found) = other_apps::parse_pasted_servers(&text, &taken) else { return };
    assert!(!found.is_empty() && found.len() <= MAX_PASTED_SERVERS, "{} servers", found.len());
    let mut names = taken.to_vec();
    for server in &found {
        assert!(!names.contains(&server.name), "{} is unique", server.name);
        assert!(!server.name.is_empty() && server.name.chars().count() <= 64, "{:?} is a name", server.name);
        assert!(!server.name.contains(char::is_control), "{:?} is a name", server.name);
        names.push(server.name.clone());
    }
    let settings = SharedSettings::lock();
    let _ = std::fs::remove_file(settings.file());
    for server in found.iter().filter(|server| server.usable) {
        // A client secret is never written to the file.
        let has_secret = server.config.as_http().and_then(|http| http.auth.as_ref()?.client_secret.as_ref()).is_some();
        if has_secret {
            continue;
        }
        let entry = ServerEntry { name: server.name.clone(), config: server.config.clone() };
        settings.servers().put(&entry, None).unwrap_or_else(|problem| panic!("{entry:?} can't be added: {problem}"));
        let loaded = settings.servers().load().unwrap_or_else(|problem| panic!("{entry:?} can't be read: {problem}"));
        assert_eq!(loaded.last(), Some(&entry), "the server that is read equals the displayed one");
    }
}
