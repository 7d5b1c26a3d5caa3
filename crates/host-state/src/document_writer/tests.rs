//! Tests of which queued operations are executed together.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::json;

use super::*;

/// Documents in memory that record each write, and refuse content that contains the word `bad`.
#[derive(Default)]
struct RecordingDocuments {
    contents: Mutex<HashMap<Document, Value>>,
    writes: Mutex<Vec<(Document, Value)>>,
}

impl Documents for RecordingDocuments {
    fn path(&self) -> PathBuf {
        PathBuf::new()
    }

    fn read(&self, name: Document) -> Result<Option<Value>, StoreError> {
        Ok(self.contents.lock().unwrap().get(&name).cloned())
    }

    fn set_aside(&self, _: Document) -> Result<PathBuf, StoreError> {
        Ok(PathBuf::new())
    }

    fn write(&self, name: Document, value: &Value) -> Result<(), StoreError> {
        if value.to_string().contains("bad") {
            return Err(StoreError { path: name.file_name().to_owned(), cause: "refused".to_owned() });
        }
        self.writes.lock().unwrap().push((name, value.clone()));
        self.contents.lock().unwrap().insert(name, value.clone());
        Ok(())
    }
}

/// Appends a word to a list in a document. The result is the word, and `true` if it was written.
struct AppendWord(Document, &'static str);

impl DocumentUpdate<AppendedWordResult> for AppendWord {
    fn document(&self) -> Document {
        self.0
    }

    fn change(&mut self, content: Option<Value>) -> Value {
        let mut words: Vec<String> =
            content.map(|content| serde_json::from_value(content).unwrap()).unwrap_or_default();
        words.push(self.1.to_owned());
        json!(words)
    }

    fn finish(self: Box<Self>, written: Result<(), StoreError>) -> AppendedWordResult {
        (self.1, written.is_ok())
    }
}

type AppendedWordResult = (&'static str, bool);

/// Runs these operations as if they were queued together. `None` is an operation other than an update. Returns the
/// writes, and the continuations in order.
fn run(jobs: &[Option<(Document, &'static str)>]) -> (Vec<(Document, Value)>, Vec<AppendedWordResult>) {
    let job = |job: &Option<(Document, &'static str)>| match *job {
        Some((document, word)) => WriterJob::Update(Box::new(AppendWord(document, word))),
        None => WriterJob::Run(Box::new(|_: &dyn Documents| ("run", true))),
    };
    let (documents, mut finished) = (RecordingDocuments::default(), Vec::new());
    run_waiting_jobs(&documents, jobs.iter().map(job).collect(), |continuation| finished.push(continuation));
    (documents.writes.into_inner().unwrap(), finished)
}

#[test]
fn waiting_changes_of_a_document_are_written_together() {
    let (writes, finished) = run(&[
        Some((Document::Pins, "a")),
        Some((Document::Roots, "b")),
        Some((Document::Pins, "c")),
        Some((Document::Roots, "d")),
    ]);
    assert_eq!(writes, [(Document::Pins, json!(["a", "c"])), (Document::Roots, json!(["b", "d"]))]);
    assert_eq!(finished, [("a", true), ("c", true), ("b", true), ("d", true)]);
}

#[test]
fn document_changes_are_not_merged_across_another_operation() {
    let (writes, finished) = run(&[Some((Document::Pins, "a")), None, Some((Document::Pins, "b"))]);
    assert_eq!(writes, [(Document::Pins, json!(["a"])), (Document::Pins, json!(["a", "b"]))]);
    assert_eq!(finished, [("a", true), ("run", true), ("b", true)]);
}

#[test]
fn changes_that_are_written_together_fail_together() {
    let pins = |word| Some((Document::Pins, word));
    let (writes, finished) = run(&[pins("a"), pins("bad"), Some((Document::Roots, "b")), pins("c")]);
    assert_eq!(writes, [(Document::Roots, json!(["b"]))], "no part of a failed write should be stored");
    assert_eq!(finished, [("a", false), ("bad", false), ("c", false), ("b", true)]);
}
