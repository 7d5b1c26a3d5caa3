//! What is printed: for people or as JSON Lines.

use std::io::{self, IsTerminal as _, Write};
use std::sync::Mutex;
use std::sync::PoisonError;

use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use crate::failure::Failure;
use crate::visible;

/// Where all output goes through, so that lines stay whole.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    /// Whether the result was printed, after which nothing is.
    over: Mutex<bool>,
    gone: Notify,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, over: Mutex::new(false), gone: Notify::new() }
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
        self.print(&visible::json(&Value::Object(line)));
    }

    /// Prints lines of a result, if it is for people.
    pub(crate) fn text(&self, lines: &str) {
        if !self.json && !lines.is_empty() {
            self.print(lines.trim_end_matches('\n'));
        }
    }

    /// Prints a piece of a line, or of several, if it is for people.
    pub(crate) fn piece(&self, text: &str) {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.json && !*over {
            self.write_raw(text);
        }
    }

    /// Says that a line is waited for, to a person at a terminal.
    pub(crate) fn prompt(&self, words: &str) {
        if !self.json && io::stdin().is_terminal() {
            let mut err = io::stderr().lock();
            // There is nowhere to say that nothing can be said.
            let _ = err.write_all(words.as_bytes()).and_then(|()| err.flush());
        }
    }

    /// Says something beside the result, if it is for people.
    pub(crate) fn say(&self, line: &str) {
        if !self.json {
            // There is nowhere to say that nothing can be said.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// Prints the result. Nothing is printed after it.
    pub(crate) fn result(&self, result: Result<&Value, &Failure>) {
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        *over = true;
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
            self.write(&visible::json(&line));
        } else if let Err(failure) = result {
            let _ = write!(io::stderr(), "{}", visible::block(&format!("error: {}", failure.message), ""));
        }
    }

    fn print(&self, line: &str) {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        if !*over {
            self.write(line);
        }
    }

    fn write(&self, line: &str) {
        self.write_raw(&format!("{line}\n"));
    }

    fn write_raw(&self, text: &str) {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if written.is_err() {
            self.gone.notify_one();
        }
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
