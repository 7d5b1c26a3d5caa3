// The shell's commands beside the table: events, and what is measured. Included by the build script too.

/// The names of the shell's own commands.
const OWN_COMMANDS: &[&str] = &["listen_events", "events_seen", "painted", "question_drawn"];
