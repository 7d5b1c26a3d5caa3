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

#[derive(Default)]
struct Queue {
    current: Option<Opening>,
    waiting: VecDeque<Opening>,
    left_out: u32,
}

impl Queue {
    /// Has it wait, or counts it if enough are waiting. There is one link at a time.
    fn add(&mut self, opening: Opening) {
        let is_link = |one: &Opening| matches!(one, Opening::Link { .. });
        let has_link = self.current.iter().chain(&self.waiting).any(is_link);
        if self.waiting.len() >= MOST_WAITING || has_link && is_link(&opening) {
            self.left_out = self.left_out.saturating_add(1);
        } else {
            self.waiting.push_back(opening);
        }
    }

    /// Begins the next one, if none is open.
    fn advance(&mut self) -> Option<Opening> {
        if self.current.is_some() {
            return None;
        }
        self.current = self.waiting.pop_front().or_else(|| match std::mem::take(&mut self.left_out) {
            0 => None,
            count => Some(Opening::LeftOut { count }),
        });
        self.current.clone()
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
        if let Some(opening) = self.lock().current.clone() {
            events.send(ShellEvent::Opened { opening });
        }
    }

    fn done(&self, events: &ShellEvents) {
        let mut queue = self.lock();
        queue.current = None;
        Self::advance(&mut queue, events);
    }

    fn advance(queue: &mut Queue, events: &ShellEvents) {
        if let Some(opening) = queue.advance() {
            // Without a page it is told to the next one, which asks.
            events.send(ShellEvent::Opened { opening });
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

/// The user is done with what was opened last.
#[tauri::command]
pub(crate) fn opening_done(openings: State<'_, Openings>, events: State<'_, ShellEvents>) {
    openings.done(&events);
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

    #[test]
    fn one_is_open_at_a_time_and_the_others_follow_in_order() {
        let mut queue = Queue::default();
        for number in 0..3 {
            queue.add(bundle(number));
        }
        assert_eq!(queue.advance(), Some(bundle(0)), "the first");
        assert_eq!(queue.advance(), None, "no other one while it is open");
        for number in 1..3 {
            queue.current = None;
            assert_eq!(queue.advance(), Some(bundle(number)), "the next");
        }
        queue.current = None;
        assert_eq!(queue.advance(), None, "nothing waits, and nothing was left out");
    }

    #[test]
    fn of_a_flood_of_links_one_is_opened_and_the_rest_is_counted() {
        let mut queue = Queue::default();
        queue.add(link("first"));
        assert_eq!(queue.advance(), Some(link("first")), "the first");
        for _ in 0..10_000 {
            queue.add(link("more"));
        }
        assert!(queue.waiting.is_empty(), "none waits");
        queue.add(bundle(1));
        queue.current = None;
        assert_eq!(queue.advance(), Some(bundle(1)), "a file still gets in");
        queue.current = None;
        assert_eq!(queue.advance(), Some(Opening::LeftOut { count: 10_000 }), "then their number");
        queue.current = None;
        queue.add(link("later"));
        assert_eq!(queue.advance(), Some(link("later")), "and later a link again");
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
