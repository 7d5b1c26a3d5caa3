//! Output of the program, as readable text or as JSON Lines.

use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use crate::failure::CommandFailure;
use crate::terminal_escape;

/// Maximum number of pieces of output that are deferred during a prompt. When it is reached, they are printed and the
/// prompt is repeated.
const MAX_DEFERRED_OUTPUTS: usize = 1_000;

/// Output of the program, through which all async tasks print, so that their lines are not interleaved. During a
/// prompt, output other than the prompt is deferred.
pub(crate) struct Output {
    json: bool,
    screen: Mutex<OutputStreams>,
    closed: Notify,
}

struct OutputStreams {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// `true` after the result has been printed. Later output is discarded.
    is_finished: bool,
    /// Output that is deferred during a prompt, or `None` if there is no prompt.
    deferred: Option<DeferredOutput>,
}

/// Output that is printed after the user has replied to the prompt.
#[derive(Default)]
struct DeferredOutput {
    pieces: Vec<(OutputStream, String)>,
    /// Last line of the prompt, after which the user types.
    prompt: String,
}

#[derive(Clone, Copy)]
enum OutputStream {
    Out,
    Err,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self::with_streams(json, Box::new(io::stdout()), Box::new(io::stderr()))
    }

    pub(crate) fn with_streams(json: bool, out: Box<dyn Write + Send>, err: Box<dyn Write + Send>) -> Self {
        let screen = Mutex::new(OutputStreams { out, err, is_finished: false, deferred: None });
        Self { json, screen, closed: Notify::new() }
    }

    fn lock_streams(&self) -> MutexGuard<'_, OutputStreams> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the output format is JSON Lines.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Waits until a write fails because the reader of standard output has closed it.
    pub(crate) async fn wait_until_closed(&self) {
        self.closed.notified().await;
    }

    /// Prints an event as a JSON line. Does nothing if the output format is text.
    pub(crate) fn print_event(&self, name: &str, fields: Value) {
        if !self.json {
            return;
        }
        let mut line = Map::new();
        line.insert(String::from("event"), name.into());
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        self.print(format!("{}\n", terminal_escape::escape_json(&Value::Object(line))));
    }

    /// Prints lines of the result as text. Does nothing if the output format is JSON.
    pub(crate) fn print_text(&self, lines: &str) {
        if !self.json && !lines.is_empty() {
            self.print(format!("{}\n", lines.trim_end_matches('\n')));
        }
    }

    /// Prints a text without adding a line break. Does nothing if the output format is JSON.
    pub(crate) fn print_text_fragment(&self, text: &str) {
        if !self.json {
            self.print(text.to_owned());
        }
    }

    /// Prints a prompt for input. Does nothing if standard input is no terminal or the output format is JSON.
    pub(crate) fn print_prompt(&self, words: &str) {
        if !self.json && io::stdin().is_terminal() {
            self.lock_streams().print_or_defer(OutputStream::Err, words.to_owned());
        }
    }

    /// Prints a message to standard error. Does nothing if the output format is JSON.
    pub(crate) fn print_message(&self, line: &str) {
        if !self.json {
            self.print_message_in_any_format(line);
        }
    }

    /// Prints a message to standard error, also if the output format is JSON.
    pub(crate) fn print_message_in_any_format(&self, line: &str) {
        self.lock_streams().print_or_defer(OutputStream::Err, format!("{line}\n"));
    }

    /// Begins a prompt. All output except that of the returned guard is deferred until the guard is dropped.
    pub(crate) fn begin_prompt(self: &Arc<Self>) -> PromptGuard {
        self.lock_streams().deferred.get_or_insert_default();
        PromptGuard { output: Arc::clone(self) }
    }

    /// Prints the result of the command, or its failure. Output that follows is discarded.
    pub(crate) fn print_result(&self, result: Result<&Value, &CommandFailure>) {
        let mut screen = self.lock_streams();
        screen.print_deferred_output();
        screen.is_finished = true;
        if self.json {
            let line = match result {
                Ok(value) => json!({ "event": "result", "ok": true, "value": value }),
                Err(failure) => {
                    let mut line = json!({ "event": "result", "ok": false, "error": failure.to_json() });
                    if let Some(value) = &failure.value {
                        line["value"] = (**value).clone();
                    }
                    line
                }
            };
            if !screen.write(OutputStream::Out, &format!("{}\n", terminal_escape::escape_json(&line))) {
                self.closed.notify_one();
            }
        } else if let Err(failure) = result {
            screen.write(
                OutputStream::Err,
                &terminal_escape::escape_and_prefix_lines(&format!("error: {}", failure.message), ""),
            );
        }
    }

    fn print(&self, text: String) {
        let mut screen = self.lock_streams();
        if !screen.is_finished && !screen.print_or_defer(OutputStream::Out, text) {
            self.closed.notify_one();
        }
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("json", &self.json).finish_non_exhaustive()
    }
}

impl OutputStreams {
    /// Prints a piece of output, or defers it during a prompt. Returns `false` if standard output is closed.
    fn print_or_defer(&mut self, stream: OutputStream, text: String) -> bool {
        let Some(deferred) = &mut self.deferred else { return self.write(stream, &text) };
        deferred.pieces.push((stream, text));
        if deferred.pieces.len() < MAX_DEFERRED_OUTPUTS {
            return true;
        }
        let (pieces, prompt) = (std::mem::take(&mut deferred.pieces), deferred.prompt.clone());
        self.write(OutputStream::Err, "\n");
        let is_read = self.write_all(pieces);
        self.write(OutputStream::Err, &prompt);
        is_read
    }

    fn print_deferred_output(&mut self) {
        if let Some(deferred) = self.deferred.take() {
            self.write_all(deferred.pieces);
        }
    }

    fn write_all(&mut self, pieces: Vec<(OutputStream, String)>) -> bool {
        pieces.into_iter().fold(true, |is_read, (stream, text)| self.write(stream, &text) && is_read)
    }

    /// Writes a piece of output. Returns `false` if standard output is closed. Errors on standard error are ignored, as
    /// they can't be reported.
    fn write(&mut self, stream: OutputStream, text: &str) -> bool {
        let to = match stream {
            OutputStream::Out => &mut self.out,
            OutputStream::Err => &mut self.err,
        };
        let written = to.write_all(text.as_bytes()).and_then(|()| to.flush());
        written.is_ok() || matches!(stream, OutputStream::Err)
    }
}

/// Prompt on the terminal. Other output is deferred until this value is dropped.
pub(crate) struct PromptGuard {
    output: Arc<Output>,
}

impl PromptGuard {
    /// Prints part of the prompt. The user types after its last line.
    pub(crate) fn write(&self, text: &str) {
        let mut screen = self.output.lock_streams();
        // If the terminal is closed, its input ends too, which counts as no.
        screen.write(OutputStream::Err, text);
        if let Some(deferred) = &mut screen.deferred {
            text.rsplit('\n').next().unwrap_or_default().clone_into(&mut deferred.prompt);
        }
    }
}

impl Drop for PromptGuard {
    fn drop(&mut self) {
        self.output.lock_streams().print_deferred_output();
    }
}

/// Serializes a value to JSON. Serialization of the printed types can't fail.
pub(crate) fn to_json_value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// Returns a JSON value in which a placeholder replaces the values of servers' environment variables, which are often
/// API keys, because output may be stored in logs.
pub(crate) fn with_redacted_environment_variables(mut value: Value) -> Value {
    redact_environment_variables(&mut value);
    value
}

fn redact_environment_variables(value: &mut Value) {
    match value {
        // The object describes a server, or a consent request for one.
        Value::Object(map) if map.contains_key("config") || map.contains_key("body") => {
            for key in ["config", "body"] {
                match map.get_mut(key).and_then(|part| part.get_mut("env")) {
                    Some(Value::Object(env)) => {
                        env.values_mut().for_each(|value| *value = REDACTED_VARIABLE_VALUE.into())
                    }
                    Some(Value::Array(env)) => {
                        env.iter_mut()
                            .filter_map(|pair| pair.get_mut(1))
                            .for_each(|value| *value = REDACTED_VARIABLE_VALUE.into());
                    }
                    _ => {}
                }
            }
        }
        Value::Object(map) => map.values_mut().for_each(redact_environment_variables),
        Value::Array(list) => list.iter_mut().for_each(redact_environment_variables),
        _ => {}
    }
}

/// Placeholder that is printed instead of the value of an environment variable.
const REDACTED_VARIABLE_VALUE: &str = "(hidden)";

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Buffer in which tests capture the text output of the program, with standard output and standard error combined.
    #[derive(Clone, Default)]
    pub(crate) struct CapturedOutput(Arc<Mutex<Vec<u8>>>);

    impl CapturedOutput {
        pub(crate) fn output(&self) -> Arc<Output> {
            Arc::new(Output::with_streams(false, Box::new(self.clone()), Box::new(self.clone())))
        }

        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for CapturedOutput {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn s33_output_waits_until_the_prompt_is_answered() {
        let paper = CapturedOutput::default();
        let output = paper.output();
        output.print_text_fragment("I add.\n");
        let asking = output.begin_prompt();
        asking.write("Let it run?\nAllow? ");
        output.print_message("← demo add: done");
        output.print_text_fragment("2 and 3");
        assert_eq!(paper.text(), "I add.\nLet it run?\nAllow? ", "other output should be deferred");
        drop(asking);
        assert_eq!(
            paper.text(),
            "I add.\nLet it run?\nAllow? ← demo add: done\n2 and 3",
            "deferred output should be printed in order"
        );
    }

    #[test]
    fn s33_waiting_output_is_bounded_and_the_prompt_is_repeated() {
        let paper = CapturedOutput::default();
        let output = paper.output();
        let asking = output.begin_prompt();
        asking.write("Let it run?\nAllow? ");
        for _ in 0..MAX_DEFERRED_OUTPUTS {
            output.print_message("a line");
        }
        let text = paper.text();
        assert_eq!(text.matches("a line\n").count(), MAX_DEFERRED_OUTPUTS, "output beyond the limit should be printed");
        assert!(text.ends_with("a line\nAllow? "), "the prompt should be repeated: {}", &text[text.len() - 40..]);
        drop(asking);
        assert_eq!(paper.text(), text, "nothing should be printed twice");
    }
}
