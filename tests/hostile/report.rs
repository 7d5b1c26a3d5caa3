//! Writes a row for each attack to the table of `cargo xtask hostile`, and provides the seeded random values of a run.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// Environment variable with the path of the file to which result rows are appended.
pub(crate) const RESULT_TABLE_VARIABLE: &str = "HOSTILE_TABLE";
/// Environment variable with the seed of a run's random values. If it is not set, a random seed is used.
const RANDOM_SEED_VARIABLE: &str = "HOSTILE_SEED";
/// Environment variable with a secret, set by cargo, that must not reach a server or a file.
const CANARY_VARIABLE: &str = "HOSTILE_CANARY";

/// Measurements during one attack.
pub(crate) struct AttackMeasurements {
    /// Duration of the slowest response of the well-behaved server.
    pub(crate) slowest: Duration,
    /// Growth of the test process's peak memory in bytes.
    pub(crate) memory: u64,
    /// Time from the start of the host's shutdown until the last server process had ended.
    pub(crate) exit_time: Duration,
}

/// Row of the result table for one attack, which is written when this value is dropped. If the test panics, the row is
/// written as a failure, so a test keeps the value until its last assertion.
#[derive(Default)]
pub(crate) struct AttackResultRow {
    what: Mutex<String>,
    figures: Option<AttackMeasurements>,
}

impl AttackResultRow {
    /// Sets the name of the row, such as `X41 over stdio, a flood`, unless it already has one. The name consists of the
    /// case and the attack.
    pub(crate) fn set_name(&self, what: &str) {
        let mut own = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_empty() {
            what.clone_into(&mut own);
        }
    }

    /// Records the measurements of an attack that Drawbridge withstood. If the test panics later, the row is still
    /// written as a failure.
    pub(crate) fn record_withstood(&mut self, figures: AttackMeasurements) {
        self.figures = Some(figures);
    }

    /// Returns the row as a line of JSON, or `None` if it belongs to no listed case or the attack has not ended.
    fn json_line(&self, failed: bool) -> Option<Value> {
        let what = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        let measured = match &self.figures {
            _ if failed => Value::Null,
            None => return None,
            Some(figures) => json!({
                "slowest_ms": figures.slowest.as_secs_f64() * 1000.0,
                "memory_mib": figures.memory as f64 / 1024.0 / 1024.0,
                "gone_ms": figures.exit_time.as_secs_f64() * 1000.0,
            }),
        };
        let (case, tried) = what.split_once([' ', ',']).unwrap_or((&what, ""));
        let tried = tried.trim_start_matches([' ', ',']);
        case.starts_with(['X', 'S', 'E', 'B'])
            .then(|| json!({"case": case, "tried": tried, "withstood": !failed, "measured": measured}))
    }
}

fn append_line(line: &Value) {
    let Some(path) = std::env::var_os(RESULT_TABLE_VARIABLE) else { return };
    let file = OpenOptions::new().create(true).append(true).open(path);
    // A single write, so that lines of concurrent tests do not mix.
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written.expect("the table can be written");
}

/// Result rows of a test that ran in a separate process, which are written when this value is dropped. Like a
/// [`AttackResultRow`], they are written as failures if the test panics.
pub(crate) struct AttackResultRows(Vec<Value>);

impl AttackResultRows {
    /// Reads the rows that another process wrote to a file, or none if the file does not exist.
    pub(crate) fn read_from(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        Self(text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect())
    }
}

impl AttackResultRows {
    fn json_lines(&self, failed: bool) -> Vec<Value> {
        let mut lines = self.0.clone();
        for line in lines.iter_mut().filter(|_| failed) {
            line["withstood"] = Value::Bool(false);
        }
        lines
    }
}

impl Drop for AttackResultRows {
    fn drop(&mut self) {
        self.json_lines(std::thread::panicking()).iter().for_each(append_line);
    }
}

impl Drop for AttackResultRow {
    fn drop(&mut self) {
        let failed = std::thread::panicking();
        if failed {
            // The seed is printed on standard error, next to the output of the failed test.
            let _ = writeln!(std::io::stderr(), "{RANDOM_SEED_VARIABLE}={}", seed());
        }
        self.json_line(failed).iter().for_each(append_line);
    }
}

/// Returns the seed of all random values in this run.
fn seed() -> u64 {
    static CHOSEN_SEED: OnceLock<u64> = OnceLock::new();
    *CHOSEN_SEED.get_or_init(|| {
        std::env::var(RANDOM_SEED_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or_else(|| fastrand::u64(..))
    })
}

/// Returns a random number that differs from `number` by at most a fifth. It is the same in all runs with the same
/// seed.
pub(crate) fn random_number_near(number: usize) -> usize {
    let mut random = fastrand::Rng::with_seed(seed() ^ number as u64);
    let fifth = number / 5;
    number - fifth + random.usize(..=2 * fifth)
}

/// Returns a random word that begins with `name`. It is the same in all runs with the same seed.
pub(crate) fn random_word(name: &str) -> String {
    format!("{name}-{:016x}", seeded_random(name).u64(..))
}

/// Returns a random number generator whose values depend only on `name` and the seed of the run.
pub(crate) fn seeded_random(name: &str) -> fastrand::Rng {
    let salt = name.bytes().fold(0_u64, |salt, byte| salt.wrapping_mul(31).wrapping_add(byte.into()));
    fastrand::Rng::with_seed(seed() ^ salt)
}

/// Returns the secret in the environment of this process, which also runs the host.
pub(crate) fn host_canary() -> String {
    let canary = std::env::var(CANARY_VARIABLE).unwrap_or_default();
    assert!(
        canary.len() > 8,
        "{CANARY_VARIABLE} is set by .cargo/config.toml, because no leak would be detected without it"
    );
    canary
}

#[test]
fn failure_after_the_host_has_ended_is_reported() {
    let mut row = AttackResultRow::default();
    row.set_name("X00, an attack");
    assert_eq!(row.json_line(false), None, "an unfinished attack has no line");
    row.record_withstood(AttackMeasurements { slowest: Duration::ZERO, memory: 0, exit_time: Duration::ZERO });
    let withstood = |line: &Value| line["withstood"].as_bool();
    assert_eq!(row.json_line(false).as_ref().and_then(withstood), Some(true), "the attack was withstood");
    assert_eq!(row.json_line(true).as_ref().and_then(withstood), Some(false), "a later failure overrides the result");

    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("rows");
    std::fs::write(&table, row.json_line(false).unwrap().to_string()).unwrap();
    let rows = AttackResultRows::read_from(&table);
    assert_eq!(
        rows.json_lines(false).iter().filter_map(withstood).collect::<Vec<_>>(),
        [true],
        "the line has the same result"
    );
    assert_eq!(
        rows.json_lines(true).iter().filter_map(withstood).collect::<Vec<_>>(),
        [false],
        "a failure overrides the result of another process"
    );
}
