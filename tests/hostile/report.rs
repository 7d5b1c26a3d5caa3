//! One line for each attack, withstood or not, for the table of `cargo xtask hostile`; and what varies from run to run.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// The file that gets the lines.
const TABLE: &str = "HOSTILE_TABLE";
/// The seed of what varies; any, if none is given.
const SEED: &str = "HOSTILE_SEED";
/// A secret in the environment of the host, which no server may see and nothing may write down.
const CANARY: &str = "HOSTILE_CANARY";

/// What was measured of the general criterion.
pub(crate) struct Figures {
    /// The slowest answer of the good server.
    pub(crate) slowest: Duration,
    /// What memory grew by at its peak, in bytes.
    pub(crate) memory: u64,
    /// How long until the processes were gone.
    pub(crate) gone: Duration,
}

/// One attack. Dropped while its test fails, it tells that.
#[derive(Default)]
pub(crate) struct Row {
    what: Mutex<String>,
}

impl Row {
    /// Names it: the case, then what is tried, as in `X41 over stdio, a flood`.
    pub(crate) fn is(&self, what: &str) {
        let mut own = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_empty() {
            what.clone_into(&mut own);
        }
    }

    /// It was withstood.
    pub(crate) fn withstood(&self, figures: &Figures) {
        let measured = json!({
            "slowest_ms": figures.slowest.as_secs_f64() * 1000.0,
            "memory_mib": figures.memory as f64 / 1024.0 / 1024.0,
            "gone_ms": figures.gone.as_secs_f64() * 1000.0,
        });
        self.tell(true, measured);
    }

    fn tell(&self, withstood: bool, measured: Value) {
        let what = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = std::env::var_os(TABLE).filter(|_| what.starts_with('X')) else { return };
        let (case, tried) = what.split_once([' ', ',']).unwrap_or((&what, ""));
        let tried = tried.trim_start_matches([' ', ',']);
        let line = json!({"case": case, "tried": tried, "withstood": withstood, "measured": measured});
        let file = OpenOptions::new().create(true).append(true).open(path);
        // One write, so that lines of tests that run at once do not mix.
        let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        written.expect("the table can be written");
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.what.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            // Standard error belongs to the failed test.
            let _ = writeln!(std::io::stderr(), "{SEED}={}", seed());
            self.tell(false, Value::Null);
        }
    }
}

/// The seed of this run.
fn seed() -> u64 {
    static CHOSEN: OnceLock<u64> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        std::env::var(SEED).ok().and_then(|text| text.parse().ok()).unwrap_or_else(|| fastrand::u64(..))
    })
}

/// A number near this one, at most a fifth away; the same in each run with the same seed.
pub(crate) fn about(number: usize) -> usize {
    let mut random = fastrand::Rng::with_seed(seed() ^ number as u64);
    let fifth = number / 5;
    number - fifth + random.usize(..=2 * fifth)
}

/// A word that nobody guesses; the same for the same name in each run with the same seed.
pub(crate) fn word(name: &str) -> String {
    let salt = name.bytes().fold(0_u64, |salt, byte| salt.wrapping_mul(31).wrapping_add(byte.into()));
    let mut random = fastrand::Rng::with_seed(seed() ^ salt);
    format!("{name}-{:016x}", random.u64(..))
}

/// The secret in the host's environment, if the run has one.
pub(crate) fn canary() -> Option<String> {
    std::env::var(CANARY).ok().filter(|canary| !canary.is_empty())
}
