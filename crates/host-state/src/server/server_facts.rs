//! Bounds on the texts that a server sends about itself on initialization. Used by `host/src/owner/session_events.rs`.

use mcp_proto::session::ServerFacts;

/// Maximum length of a server's stored instructions, in characters.
const MAX_INSTRUCTIONS_CHARS: usize = 64 * 1024;
/// Maximum length of each other stored text that a server sends about itself, such as its title, in characters.
const MAX_SELF_DESCRIPTION_CHARS: usize = 1_000;

/// Truncates the texts that a server sent on initialization, since they are displayed in several places.
pub fn truncate_server_facts(mut facts: ServerFacts) -> ServerFacts {
    if let Some(instructions) = &mut facts.instructions {
        truncate(instructions, MAX_INSTRUCTIONS_CHARS);
    }
    if let Some(server) = &mut facts.server {
        let optional = [&mut server.title, &mut server.description, &mut server.website_url];
        for text in optional.into_iter().flatten().chain([&mut server.name, &mut server.version]) {
            truncate(text, MAX_SELF_DESCRIPTION_CHARS);
        }
        server.icons.clear();
        server.extra.clear();
    }
    facts
}

fn truncate(text: &mut String, most: usize) {
    if let Some((at, _)) = text.char_indices().nth(most) {
        let omitted = text[at..].chars().count();
        text.truncate(at);
        text.push_str(&format!("… ({omitted} more characters)"));
    }
}
