//! The seal of documents that grant rights: an HMAC over the name, a number that grows with each writing, and the bytes. Its key is
//! derived from the one that the keychain opens; the keychain itself knows the latest numbers, so that an older file is found too.

mod marking;

use marking::{Marking, numbers_in};

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use aws_lc_rs::hmac;
use ports::{Document, DocumentSeal, Secrets};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::audit::KeyHolder;
use crate::hex::{from_hex, hex};

/// What the keychain has the latest numbers under.
pub(crate) const MARK: &str = "sealed documents";
/// What the key of seals is derived under.
const LABEL: &[u8] = b"drawbridge document seal 1";
/// Whom the key is told to.
const LISTENER: &str = "documents";
/// Why a document is refused whose number the keychain knows to be too low.
pub(crate) const OLDER: &str = "it is an older copy";

/// Documents that grant rights. `policy.json` and `models.json` are not among them, as they are edited by hand: changes of those
/// are told, and what would reroute a conversation waits for the user.
pub(crate) const SEALED: [Document; 6] =
    [Document::Grants, Document::Pins, Document::Roots, Document::Flow, Document::Sampling, Document::Confirmed];

/// A document as it stands in its file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SealedText<'a> {
    seal: Seal,
    #[serde(borrow)]
    document: &'a RawValue,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seal {
    number: u64,
    key: String,
    mac: String,
}

/// The key, with what is known of the latest files.
struct Ready {
    id: String,
    key: hmac::Key,
    numbers: BTreeMap<String, u64>,
    /// The numbers that the keychain is told before the files are in their places, and those that it knows from other programs.
    announced: BTreeMap<String, u64>,
}

/// The text of a document's file.
pub(crate) struct FileText {
    pub(crate) text: String,
    /// Its number; none if it has no seal.
    pub(crate) number: Option<u64>,
}

enum State {
    NotAsked,
    Asking,
    /// There never was a key: nothing is sealed.
    Without(String),
    /// There is a key, and it can't be had.
    Unavailable(String),
    Ready(Ready),
}

/// A document's bytes, judged.
pub(crate) enum Judged<'a> {
    /// As Drawbridge wrote it, or nothing can be said of it for want of a keychain.
    Good(&'a [u8]),
    /// Not used, as the seal can't be checked now.
    Withheld(String),
    /// Written by another program.
    Forged(&'static str),
}

/// Seals documents, and checks the seals.
pub(crate) struct DocumentSealer {
    keys: Arc<KeyHolder>,
    secrets: Arc<dyn Secrets>,
    state: Mutex<State>,
    changed: Condvar,
    told: Mutex<Vec<mpsc::Sender<()>>>,
    /// Seals what stands there when the first key is made.
    adopt: Mutex<Option<Box<Adopt>>>,
    adopted: Mutex<Option<Vec<String>>>,
    /// Looks for seals on disk.
    was_sealed: Mutex<Option<Box<WasSealed>>>,
    /// Held by whoever settles it.
    settling: Mutex<()>,
    /// Whether a thread waits for that.
    settles: AtomicBool,
    /// The thread that tells the keychain.
    marking: Mutex<Marking>,
    /// Told when that thread ends.
    marked: Condvar,
    /// Held while the keychain is told.
    telling: Mutex<()>,
}

/// Writes with a seal what stands there without one, and gives the names; it is given what makes the text of a file.
type Adopt = dyn Fn(&dyn Fn(Document, &[u8]) -> Option<String>) -> Vec<Document> + Send;

/// Returns true if a key once sealed something in the data folder.
type WasSealed = dyn Fn() -> bool + Send;

/// Why documents are withheld where seals are found and the keychain has no key.
const KEY_IS_GONE: &str = "what lies here was sealed with a key that the keychain does not have any more";

impl DocumentSealer {
    pub(crate) fn new(keys: Arc<KeyHolder>, secrets: Arc<dyn Secrets>) -> Arc<Self> {
        let sealer = Arc::new(Self {
            keys,
            secrets,
            state: Mutex::new(State::NotAsked),
            changed: Condvar::new(),
            told: Mutex::default(),
            adopt: Mutex::default(),
            adopted: Mutex::default(),
            was_sealed: Mutex::default(),
            settling: Mutex::default(),
            settles: AtomicBool::new(false),
            marking: Mutex::default(),
            marked: Condvar::new(),
            telling: Mutex::default(),
        });
        let own: Weak<Self> = Arc::downgrade(&sealer);
        sealer.keys.listen(
            LISTENER,
            Arc::new(move || {
                if let Some(sealer) = own.upgrade() {
                    sealer.settle();
                }
            }),
        );
        sealer
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets how documents that stand there without a seal are sealed, once, when there was no seal before.
    pub(crate) fn adopt_with(
        &self,
        adopt: impl Fn(&dyn Fn(Document, &[u8]) -> Option<String>) -> Vec<Document> + Send + 'static,
    ) {
        *self.adopt.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(adopt));
    }

    /// Sets how seals on disk are found. Where there are any, a missing key withholds documents: else whoever takes the keychain
    /// away could grant rights.
    pub(crate) fn find_seals_with(&self, was_sealed: impl Fn() -> bool + Send + 'static) {
        *self.was_sealed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(was_sealed));
    }

    fn finds_seals(&self) -> bool {
        self.was_sealed.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|found| found())
    }

    /// Tells this one when the key is there, or it turns out that there is none.
    pub(crate) fn tell(&self, changed: mpsc::Sender<()>) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(changed);
    }

    /// The documents that were sealed when the first key was made; told once.
    pub(crate) fn adopted(&self) -> Option<Vec<String>> {
        self.adopted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Asks for the key, and waits for it, for a while.
    pub(crate) fn wait(self: &Arc<Self>, patience: Duration) {
        let start = Instant::now();
        {
            let mut state = self.state();
            if matches!(*state, State::NotAsked) {
                *state = State::Asking;
            }
        }
        self.keys.ask(false);
        if self.keys.is_settled() {
            // It may have been answered before this one listened.
            self.settle_beside();
        }
        let waits = |state: &mut State| matches!(state, State::Asking);
        let left = patience.saturating_sub(start.elapsed());
        drop(self.changed.wait_timeout_while(self.state(), left, waits));
    }

    /// Settles it in a thread, one at a time: the keychain is asked for its mark, and may hang.
    fn settle_beside(self: &Arc<Self>) {
        if self.settles.swap(true, Ordering::AcqRel) {
            return;
        }
        let sealer = Arc::clone(self);
        let thread = std::thread::Builder::new().name("document seal".into()).spawn(move || {
            sealer.settle();
            sealer.settles.store(false, Ordering::Release);
        });
        if let Err(error) = thread {
            self.settles.store(false, Ordering::Release);
            *self.state() = State::Unavailable(error.to_string());
        }
    }

    /// The user approves something: where the key could not be had, such as behind a prompt that was dismissed, it is asked for again.
    /// Nothing waits for that here. Once the key is there, what was withheld holds again.
    pub(crate) fn ask_for_user(self: &Arc<Self>) {
        if !matches!(*self.state(), State::Unavailable(_)) {
            return;
        }
        if self.keys.key().is_ok() {
            // Only the mark could not be had.
            self.settle_beside();
        } else {
            self.keys.ask_for_user();
        }
    }

    /// Whether the key was asked for.
    pub(crate) fn was_asked(&self) -> bool {
        !matches!(*self.state(), State::NotAsked)
    }

    /// How documents are told from forged ones now.
    pub(crate) fn seal(&self) -> DocumentSeal {
        match &*self.state() {
            State::NotAsked | State::Asking => DocumentSeal::Waiting,
            State::Without(cause) => DocumentSeal::None { cause: cause.clone() },
            State::Unavailable(cause) => DocumentSeal::Unavailable { cause: cause.clone() },
            State::Ready(_) => DocumentSeal::Sealed,
        }
    }

    /// The key is there, or there is none.
    fn settle(&self) {
        let _one = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*self.state(), State::Ready(_)) {
            return;
        }
        let (next, is_first) = match self.keys.key() {
            Ok(key) => self.ready(key.derived(LABEL)),
            Err(missing) if missing.exists => (State::Unavailable(missing.cause), false),
            Err(missing) if self.finds_seals() => {
                (State::Unavailable(format!("{KEY_IS_GONE} ({})", missing.cause)), false)
            }
            Err(missing) => (State::Without(missing.cause), false),
        };
        *self.state() = next;
        if is_first {
            self.mark();
        }
        self.changed.notify_all();
        for changed in self.told.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // A full channel holds a message already.
            let _ = changed.try_send(());
        }
    }

    /// With the key. Whether nothing was ever sealed before.
    fn ready(&self, (id, key): (String, hmac::Key)) -> (State, bool) {
        let numbers = match self.secrets.mark(MARK) {
            Ok(mark) => mark.map(|mark| numbers_in(&mark)),
            Err(error) => return (State::Unavailable(error.to_string()), false),
        };
        if let Some(numbers) = numbers {
            return (State::Ready(Ready { id, key, numbers, announced: BTreeMap::new() }), false);
        }
        let mut ready = Ready { id, key, numbers: BTreeMap::new(), announced: BTreeMap::new() };
        let text = |name: Document, bytes: &[u8]| match ready.judge(name, bytes) {
            Some((number, _)) => {
                tracing::debug!(number, "a document is sealed already");
                None
            }
            None => {
                // One that another key sealed, as on another computer, is taken over without that seal.
                let inner = serde_json::from_slice::<SealedText<'_>>(bytes).ok();
                let own = inner.map_or(bytes, |sealed| sealed.document.get().as_bytes());
                serde_json::from_slice(own).ok().and_then(|value| ready.text(name, 1, &value).ok())
            }
        };
        let adopt = self.adopt.lock().unwrap_or_else(PoisonError::into_inner);
        let adopted = adopt.as_ref().map(|adopt| adopt(&text)).unwrap_or_default();
        drop(adopt);
        for name in &adopted {
            ready.numbers.insert(name.file_name().to_owned(), 1);
        }
        let names = adopted.into_iter().map(|name| name.file_name().to_owned()).collect();
        *self.adopted.lock().unwrap_or_else(PoisonError::into_inner) = Some(names);
        (State::Ready(ready), true)
    }

    /// Returns true if these are the bytes of a sealed document, whatever key sealed it.
    pub(crate) fn has_seal(bytes: &[u8]) -> bool {
        serde_json::from_slice::<SealedText<'_>>(bytes).is_ok()
    }

    /// Judges the bytes of a file.
    pub(crate) fn judge<'a>(&self, name: Document, bytes: &'a [u8]) -> Judged<'a> {
        let read = serde_json::from_slice::<SealedText<'_>>(bytes).ok();
        let mut state = self.state();
        let ready = match &mut *state {
            State::Without(_) => return Judged::Good(read.map_or(bytes, |read| read.document.get().as_bytes())),
            State::NotAsked | State::Asking => return Judged::Withheld("the keychain was not asked yet".to_owned()),
            State::Unavailable(cause) => return Judged::Withheld(cause.clone()),
            State::Ready(ready) => ready,
        };
        if read.is_none() {
            return Judged::Forged("it has no seal");
        }
        let Some((number, text)) = ready.judge(name, bytes) else {
            return Judged::Forged("its seal was not made with the key in the keychain");
        };
        let latest = ready.numbers.entry(name.file_name().to_owned()).or_default();
        if number < *latest {
            return Judged::Forged(OLDER);
        }
        *latest = number;
        Judged::Good(text)
    }

    /// Whether a document was written before, so that it is missed where there is none.
    pub(crate) fn is_missed(&self, name: Document) -> bool {
        match &*self.state() {
            State::Ready(ready) => ready.numbers.get(name.file_name()).is_some_and(|number| *number > 0),
            _ => false,
        }
    }

    /// The text of a file with this document. Without a keychain it has no seal. `beside` is what lies beside the document's place: the
    /// keychain may know of it, so this file has a higher number.
    ///
    /// # Errors
    /// If there is a key and it can't be had, in words.
    pub(crate) fn text(&self, name: Document, value: &Value, beside: Option<&[u8]>) -> Result<FileText, String> {
        let state = self.state();
        match &*state {
            State::Without(_) => Ok(FileText { text: format!("{value:#}\n"), number: None }),
            State::NotAsked | State::Asking => Err("the keychain does not answer; unlock it".to_owned()),
            State::Unavailable(cause) => Err(cause.clone()),
            State::Ready(ready) => {
                let known = [&ready.numbers, &ready.announced].map(|numbers| numbers.get(name.file_name()).copied());
                let beside = beside.and_then(|bytes| ready.judge(name, bytes)).map(|(number, _)| number);
                let number = known.into_iter().flatten().chain(beside).max().unwrap_or_default() + 1;
                let text = ready.text(name, number, value).map_err(|error| error.to_string())?;
                Ok(FileText { text, number: Some(number) })
            }
        }
    }
}

impl Ready {
    /// The number and the bytes of a document, if it was sealed with this key.
    fn judge<'a>(&self, name: Document, bytes: &'a [u8]) -> Option<(u64, &'a [u8])> {
        let SealedText { seal, document } = serde_json::from_slice(bytes).ok()?;
        let (text, mac) = (document.get().as_bytes(), from_hex(&seal.mac)?);
        let holds = hmac::verify(&self.key, &message(name, seal.number, text), &mac).is_ok();
        (seal.key == self.id && holds).then_some((seal.number, text))
    }

    fn text(&self, name: Document, number: u64, value: &Value) -> serde_json::Result<String> {
        let document = format!("{value:#}");
        let mac = hmac::sign(&self.key, &message(name, number, document.as_bytes()));
        let seal = Seal { number, key: self.id.clone(), mac: hex(mac.as_ref()) };
        let seal = serde_json::to_string(&seal)?;
        Ok(format!("{{\n\"seal\": {seal},\n\"document\": {document}\n}}\n"))
    }
}

fn message(name: Document, number: u64, text: &[u8]) -> Vec<u8> {
    let mut message = format!("drawbridge document 1\n{}\n{number}\n", name.file_name()).into_bytes();
    message.extend_from_slice(text);
    message
}
