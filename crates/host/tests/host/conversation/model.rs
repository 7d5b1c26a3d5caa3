//! A model that says what the test wrote, and keeps what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use models::{
    Delta, Deltas, Kind, Loss, Message, Model, ModelError, Part, Price, Provider, Reply, Request, Role, Stop, Usage,
};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

/// One piece of what it says.
pub(crate) enum Piece {
    Delta(Delta),
    /// Waits until the test lets it go on.
    Wait(Arc<Semaphore>),
    Error(ModelError),
}

#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Vec<Piece>>>,
    asked: Mutex<Vec<Request>>,
}

impl Scripted {
    pub(crate) fn new(answers: Vec<Vec<Piece>>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into()), asked: Mutex::default() })
    }

    /// What it was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

/// An answer of these parts, with their deltas before.
pub(crate) fn answer(parts: Vec<Part>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut stop = Stop::EndTurn;
    for part in &parts {
        match part {
            Part::Text(text) => {
                let (one, other) = text.split_at(text.floor_char_boundary(text.len() / 2));
                pieces.extend([one, other].map(|text| Piece::Delta(Delta::Text(text.to_owned()))));
            }
            Part::Thinking { text, .. } => pieces.push(Piece::Delta(Delta::Thinking(text.clone()))),
            Part::ToolUse { id, name, arguments, .. } => {
                stop = Stop::ToolUse;
                pieces.push(Piece::Delta(Delta::ToolUseBegan { id: id.clone(), name: name.clone() }));
                let text = Value::Object(arguments.clone()).to_string();
                pieces.push(Piece::Delta(Delta::ToolUseArguments { id: id.clone(), text }));
            }
            other => panic!("{other:?} is no part of an answer"),
        }
    }
    let usage = Usage { input: Some(1_000), output: Some(100), ..Usage::default() };
    let message = Message { role: Role::Assistant, parts };
    pieces.push(Piece::Delta(Delta::Ended(Reply { message, stop, usage, model: "m".into() })));
    pieces
}

pub(crate) fn says(text: &str) -> Vec<Piece> {
    answer(vec![Part::text(text)])
}

pub(crate) fn uses(id: &str, name: &str, arguments: Value) -> Part {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
    Part::ToolUse { id: id.into(), name: name.into(), arguments, opaque: None }
}

/// What is known of it.
pub(crate) fn known(context: Option<u32>) -> Model {
    let price = Price {
        input: 1.0,
        output: 10.0,
        cached_input: None,
        written_input: None,
        long: None,
        currency: "USD".into(),
        as_of: "2026-11-21".into(),
    };
    Model { id: "m".into(), name: "M".into(), context, price: Some(price), ..Model::default() }
}

#[async_trait::async_trait]
impl Provider for Scripted {
    fn kind(&self) -> Kind {
        Kind::OpenAi
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        Ok(vec![known(None)])
    }

    fn cannot_carry(&self, _: &Request) -> Vec<Loss> {
        Vec::new()
    }

    async fn stream(&self, request: Request) -> Result<Deltas, ModelError> {
        self.asked.lock().unwrap().push(request);
        let pieces = self.answers.lock().unwrap().pop_front().expect("the test wrote an answer for each request");
        let deltas = futures_util::stream::iter(pieces).filter_map(|piece| async move {
            match piece {
                Piece::Delta(delta) => Some(Ok(delta)),
                Piece::Error(error) => Some(Err(error)),
                Piece::Wait(until) => {
                    until.acquire().await.expect("the test holds it").forget();
                    None
                }
            }
        });
        Ok(deltas.boxed())
    }
}
