// The shell's commands beside the table: events, what is measured, and the page's own sandbox. Included by the build script too.

/// The names of the shell's own commands.
const OWN_COMMANDS: &[&str] =
    &["listen_events", "events_seen", "painted", "question_drawn", "page_sandbox", "retry_page_sandbox"];
