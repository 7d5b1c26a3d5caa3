//! What somebody outside of the window wants opened: bundle files (the file manager, a drop, the command line) and install links (the
//! browser). Each only opens a sheet in the page; nothing is read, installed or started by it. Callers: `lib.rs` (a second start),
//! `start.rs` (the own arguments), `closing.rs` (macOS), `dropping.rs`.
//!
//! One is with the page at a time; it says when the user is done with it ([`opening_done`]). Few wait, the rest is counted: any web
//! page can fire a link, in a hidden frame too.

pub(crate) mod arguments;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tauri::{AppHandle, Manager as _, State};

use crate::link_handler;
use crate::shell_events::{ShellEvent, ShellEvents};
use crate::window;
use arguments::Argument;

/// The most openings that wait behind the one that the page has.
const MOST_WAITING: usize = 8;

/// Something to open, or why it is not opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(crate) enum Opening {
    /// A file that is there and has a bundle's name. Whether it is a bundle is found out when it is read.
    Bundle {
        /// Its absolute path.
        path: String,
    },
    /// A link of the app's own scheme. It may hold secrets, so it is not logged.
    Link {
        /// The link.
        link: String,
    },
    /// It is not opened.
    Refused {
        /// What was to be opened, cut where it is long.
        what: String,
        /// Why not.
        why: Refusal,
    },
    /// So many were not opened, as too many came at once.
    LeftOut {
        /// How many.
        count: u32,
    },
}

/// Why something is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refusal {
    /// There is no such file.
    NotFound,
    /// It is a folder, a pipe or a device.
    NotAFile,
    /// Its name does not end as a bundle's.
    NotABundle,
    /// Its path is not Unicode.
    NotUnicode,
    /// It is no install link of the app's own.
    NotAnInstallLink,
    /// It is longer than any install link.
    LinkTooLong,
    /// Links are turned off in the settings.
    LinksOff,
}

/// What is opened, and what waits.
#[derive(Default)]
pub(crate) struct Openings(Mutex<Queue>);

/// An opening that the page has, by a number that no other one gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Opened {
    id: u64,
    opening: Opening,
}

#[derive(Default)]
struct Queue {
    current: Option<Opened>,
    last_id: u64,
    waiting: VecDeque<Opening>,
    left_out: u32,
}

impl Queue {
    /// Has it wait, or counts it if enough are waiting. There is one link at a time.
    fn add(&mut self, opening: Opening) {
        let is_link = |one: &Opening| matches!(one, Opening::Link { .. });
        let current = self.current.iter().map(|current| &current.opening);
        let has_link = current.chain(&self.waiting).any(is_link);
        if self.waiting.len() >= MOST_WAITING || has_link && is_link(&opening) {
            self.left_out = self.left_out.saturating_add(1);
        } else {
            self.waiting.push_back(opening);
        }
    }

    /// Begins the next one, if none is open.
    fn advance(&mut self) -> Option<Opened> {
        if self.current.is_some() {
            return None;
        }
        let opening = self.waiting.pop_front().or_else(|| match std::mem::take(&mut self.left_out) {
            0 => None,
            count => Some(Opening::LeftOut { count }),
        })?;
        self.last_id += 1;
        self.current = Some(Opened { id: self.last_id, opening });
        self.current.clone()
    }

    /// Ends the one that is open, if it is this one. The page may say so late, or twice.
    fn end(&mut self, id: u64) {
        self.current.take_if(|current| current.id == id);
    }
}

impl Openings {
    fn add(&self, opening: Opening, events: &ShellEvents) {
        let mut queue = self.lock();
        queue.add(opening);
        Self::advance(&mut queue, events);
    }

    /// Tells a new page what is open.
    pub(crate) fn tell(&self, events: &ShellEvents) {
        if let Some(opened) = self.lock().current.clone() {
            events.send(ShellEvent::Opened(opened));
        }
    }

    fn done(&self, id: u64, events: &ShellEvents) {
        let mut queue = self.lock();
        queue.end(id);
        Self::advance(&mut queue, events);
    }

    fn advance(queue: &mut Queue, events: &ShellEvents) {
        if let Some(opened) = queue.advance() {
            // Without a page it is told to the next one, which asks.
            events.send(ShellEvent::Opened(opened));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens what is named, with the window in front. Looks at the files on a thread that may wait for a disk.
pub(crate) fn open(app: &AppHandle, named: Vec<Argument>) {
    if named.is_empty() {
        return;
    }
    window::show(app);
    look_at(app, named);
}

/// As [`open`], with a window that is about to open anyway.
pub(crate) fn look_at(app: &AppHandle, named: Vec<Argument>) {
    if named.is_empty() {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn_blocking(move || {
        for argument in named {
            let opening = argument.look_at(link_handler::is_on);
            app.state::<Openings>().add(opening, &app.state::<ShellEvents>());
        }
    });
}

/// The user is done with what was opened under this id.
#[tauri::command]
pub(crate) fn opening_done(openings: State<'_, Openings>, events: State<'_, ShellEvents>, id: u64) {
    openings.done(id, &events);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(number: usize) -> Opening {
        Opening::Bundle { path: format!("/{number}.mcpb") }
    }

    fn link(name: &str) -> Opening {
        Opening::Link { link: format!("drawbridge://mcp/install?name={name}") }
    }

    /// Ends the one that is open, and begins the next one.
    fn next(queue: &mut Queue) -> Option<Opening> {
        if let Some(current) = queue.current.clone() {
            queue.end(current.id);
        }
        queue.advance().map(|opened| opened.opening)
    }

    #[test]
    fn a_late_word_about_one_does_not_end_another() {
        let mut queue = Queue::default();
        (0..3).for_each(|number| queue.add(bundle(number)));
        let first = queue.advance().expect("one is open");
        queue.end(first.id);
        let second = queue.advance().expect("the next is open");
        queue.end(first.id);
        assert_eq!(queue.current, Some(second), "it stays open");
        assert_eq!(queue.advance(), None, "and the third waits");
    }

    #[test]
    fn one_is_open_at_a_time_and_the_others_follow_in_order() {
        let mut queue = Queue::default();
        for number in 0..3 {
            queue.add(bundle(number));
        }
        assert_eq!(next(&mut queue), Some(bundle(0)), "the first");
        assert_eq!(queue.advance(), None, "no other one while it is open");
        for number in 1..3 {
            assert_eq!(next(&mut queue), Some(bundle(number)), "the next");
        }
        assert_eq!(next(&mut queue), None, "nothing waits, and nothing was left out");
    }

    #[test]
    fn of_a_flood_of_links_one_is_opened_and_the_rest_is_counted() {
        let mut queue = Queue::default();
        queue.add(link("first"));
        assert_eq!(next(&mut queue), Some(link("first")), "the first");
        for _ in 0..10_000 {
            queue.add(link("more"));
        }
        assert!(queue.waiting.is_empty(), "none waits");
        queue.add(bundle(1));
        assert_eq!(next(&mut queue), Some(bundle(1)), "a file still gets in");
        assert_eq!(next(&mut queue), Some(Opening::LeftOut { count: 10_000 }), "then their number");
        assert_eq!(next(&mut queue), None, "and nothing more");
        queue.add(link("later"));
        assert_eq!(next(&mut queue), Some(link("later")), "and later a link again");
    }

    #[test]
    fn few_files_wait() {
        let mut queue = Queue::default();
        for number in 0..MOST_WAITING + 5 {
            queue.add(bundle(number));
        }
        assert_eq!(queue.waiting.len(), MOST_WAITING, "bounded");
        assert_eq!(queue.left_out, 5, "the rest is counted");
    }
}
