//! What is printed: for people or as JSON Lines.

use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use crate::failure::Failure;
use crate::visible;

/// The most pieces of output that wait while a question is answered. With more they are printed, and the prompt once more.
const MAX_HELD: usize = 1_000;

/// Where all output goes through, so that lines stay whole and in order: also that of prompts. While the user is asked
/// something, all else waits.
pub(crate) struct Output {
    json: bool,
    screen: Mutex<Screen>,
    gone: Notify,
}

struct Screen {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// Whether the result was printed, after which nothing is.
    over: bool,
    /// What waits for an answer of the user.
    held: Option<Held>,
}

/// What is printed once the user has answered.
#[derive(Default)]
struct Held {
    pieces: Vec<(Stream, String)>,
    /// The line that the user answers on.
    prompt: String,
}

#[derive(Clone, Copy)]
enum Stream {
    Out,
    Err,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self::to(json, Box::new(io::stdout()), Box::new(io::stderr()))
    }

    pub(crate) fn to(json: bool, out: Box<dyn Write + Send>, err: Box<dyn Write + Send>) -> Self {
        let screen = Mutex::new(Screen { out, err, over: false, held: None });
        Self { json, screen, gone: Notify::new() }
    }

    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether JSON is wanted.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Waits until nobody reads standard output any more.
    pub(crate) async fn nobody_reads(&self) {
        self.gone.notified().await;
    }

    /// Prints an event, if JSON is wanted.
    pub(crate) fn event(&self, name: &str, fields: Value) {
        if !self.json {
            return;
        }
        let mut line = Map::new();
        line.insert(String::from("event"), name.into());
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        self.print(format!("{}\n", visible::json(&Value::Object(line))));
    }

    /// Prints lines of a result, if it is for people.
    pub(crate) fn text(&self, lines: &str) {
        if !self.json && !lines.is_empty() {
            self.print(format!("{}\n", lines.trim_end_matches('\n')));
        }
    }

    /// Prints a piece of a line, or of several, if it is for people.
    pub(crate) fn piece(&self, text: &str) {
        if !self.json {
            self.print(text.to_owned());
        }
    }

    /// Says that a line is waited for, to a person at a terminal.
    pub(crate) fn prompt(&self, words: &str) {
        if !self.json && io::stdin().is_terminal() {
            self.screen().put(Stream::Err, words.to_owned());
        }
    }

    /// Says something beside the result, if it is for people.
    pub(crate) fn say(&self, line: &str) {
        if !self.json {
            self.announce(line);
        }
    }

    /// Says something beside the result, whoever reads that.
    pub(crate) fn announce(&self, line: &str) {
        self.screen().put(Stream::Err, format!("{line}\n"));
    }

    /// The user is asked something: until this is dropped, nothing but what is asked is printed.
    pub(crate) fn ask(self: &Arc<Self>) -> Asking {
        self.screen().held.get_or_insert_default();
        Asking { output: Arc::clone(self) }
    }

    /// Prints the result. Nothing is printed after it.
    pub(crate) fn result(&self, result: Result<&Value, &Failure>) {
        let mut screen = self.screen();
        screen.release();
        screen.over = true;
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
            if !screen.write(Stream::Out, &format!("{}\n", visible::json(&line))) {
                self.gone.notify_one();
            }
        } else if let Err(failure) = result {
            screen.write(Stream::Err, &visible::block(&format!("error: {}", failure.message), ""));
        }
    }

    fn print(&self, text: String) {
        let mut screen = self.screen();
        if !screen.over && !screen.put(Stream::Out, text) {
            self.gone.notify_one();
        }
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("json", &self.json).finish_non_exhaustive()
    }
}

impl Screen {
    /// Prints a piece, now or once the user has answered. Gives whether somebody reads it, as far as that is known.
    fn put(&mut self, stream: Stream, text: String) -> bool {
        let Some(held) = &mut self.held else { return self.write(stream, &text) };
        held.pieces.push((stream, text));
        if held.pieces.len() < MAX_HELD {
            return true;
        }
        let (pieces, prompt) = (std::mem::take(&mut held.pieces), held.prompt.clone());
        self.write(Stream::Err, "\n");
        let is_read = self.write_all(pieces);
        self.write(Stream::Err, &prompt);
        is_read
    }

    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.write_all(held.pieces);
        }
    }

    fn write_all(&mut self, pieces: Vec<(Stream, String)>) -> bool {
        pieces.into_iter().fold(true, |is_read, (stream, text)| self.write(stream, &text) && is_read)
    }

    /// Gives whether somebody reads it. Of standard error that is never asked: there is nowhere to say that nothing can be said.
    fn write(&mut self, stream: Stream, text: &str) -> bool {
        let to = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        let written = to.write_all(text.as_bytes()).and_then(|()| to.flush());
        written.is_ok() || matches!(stream, Stream::Err)
    }
}

/// A question that the user is asked on the terminal.
pub(crate) struct Asking {
    output: Arc<Output>,
}

impl Asking {
    /// Prints a part of what is asked. What stands behind its last line break is the prompt.
    pub(crate) fn write(&self, text: &str) {
        let mut screen = self.output.screen();
        // A terminal that is gone ends the input, too, and that is a no.
        screen.write(Stream::Err, text);
        if let Some(held) = &mut screen.held {
            text.rsplit('\n').next().unwrap_or_default().clone_into(&mut held.prompt);
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.output.screen().release();
    }
}

/// A value as JSON. What is printed is made of texts, numbers and lists, which always can be.
pub(crate) fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// Takes the values of a server's variables out, which are often keys: output ends up in logs that others read. They are in the
/// settings file for whoever may see them.
pub(crate) fn without_variables(mut value: Value) -> Value {
    hide(&mut value);
    value
}

fn hide(value: &mut Value) {
    match value {
        // A server, and a question about one.
        Value::Object(map) if map.contains_key("config") || map.contains_key("body") => {
            for key in ["config", "body"] {
                match map.get_mut(key).and_then(|part| part.get_mut("env")) {
                    Some(Value::Object(env)) => env.values_mut().for_each(|value| *value = HIDDEN.into()),
                    Some(Value::Array(env)) => {
                        env.iter_mut().filter_map(|pair| pair.get_mut(1)).for_each(|value| *value = HIDDEN.into());
                    }
                    _ => {}
                }
            }
        }
        Value::Object(map) => map.values_mut().for_each(hide),
        Value::Array(list) => list.iter_mut().for_each(hide),
        _ => {}
    }
}

/// Stands for a value that is not printed.
const HIDDEN: &str = "(hidden)";

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A screen that can be read: standard output and standard error together.
    #[derive(Clone, Default)]
    pub(crate) struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Paper {
        pub(crate) fn output(&self) -> Arc<Output> {
            Arc::new(Output::to(false, Box::new(self.clone()), Box::new(self.clone())))
        }

        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn s33_nothing_is_printed_behind_a_prompt_before_it_is_answered() {
        let paper = Paper::default();
        let output = paper.output();
        output.piece("I add.\n");
        let asking = output.ask();
        asking.write("Let it run?\nAllow? ");
        output.say("← demo add: done");
        output.piece("2 and 3");
        assert_eq!(paper.text(), "I add.\nLet it run?\nAllow? ", "all else waits");
        drop(asking);
        assert_eq!(paper.text(), "I add.\nLet it run?\nAllow? ← demo add: done\n2 and 3", "and comes in its order");
    }

    #[test]
    fn s33_what_waits_is_bounded_and_the_prompt_stays_the_last_line() {
        let paper = Paper::default();
        let output = paper.output();
        let asking = output.ask();
        asking.write("Let it run?\nAllow? ");
        for _ in 0..MAX_HELD {
            output.say("a line");
        }
        let text = paper.text();
        assert_eq!(text.matches("a line\n").count(), MAX_HELD, "what is too much to wait is printed");
        assert!(text.ends_with("a line\nAllow? "), "and the prompt follows once more: {}", &text[text.len() - 40..]);
        drop(asking);
        assert_eq!(paper.text(), text, "nothing is printed twice");
    }
}
