//! Runs each target with its corpus, then with mutations of it for a bounded time. The mutations are the same in each
//! run. This part of fuzzing needs no nightly toolchain. `FUZZ_SECONDS` sets the time per target.
// The numbers of inputs and a failing input are printed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fastrand::Rng;
use fuzz_targets::{FUZZ_TARGETS, FuzzTarget};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Default time for which each target runs with mutated inputs, in seconds.
const DEFAULT_TARGET_SECONDS: u64 = 2;
/// Maximum size of an input in bytes.
const MAX_INPUT_BYTES: usize = 8 * 1024;
/// Maximum memory in bytes that one input may allocate, in addition to [`MAX_MEMORY_PER_BYTE`] for each byte of the
/// input. Fixtures are not counted.
const MAX_FIXED_MEMORY_BYTES: usize = 8 << 20;
const MAX_MEMORY_PER_BYTE: usize = 512;
/// Maximum size of all corpora together, in bytes.
const MAX_CORPORA_BYTES: u64 = 300_000;

/// Byte sequences with a special meaning in text and JSON, which mutations insert into inputs.
const SPECIAL_INPUT_PIECES: [&str; 40] = [
    "\n",
    "\r",
    "\r\n",
    "\t",
    " ",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "\u{2028}",
    "\u{85}",
    "\\",
    "\"",
    "\\u0000",
    "\\ud800",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "true",
    "-0",
    "1e999",
    "18446744073709551616",
    "0.1",
    "`",
    "```",
    "~~~",
    "<",
    ">",
    "](x:y)",
    "![",
    "|",
    "%2e",
    "../",
    "://",
    "@",
    "=",
    "*",
];

fn read_corpus(target: &FuzzTarget) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(target.name);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("each target has a corpus").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

fn run_target(target: &FuzzTarget) {
    // With `cargo test` the targets share a process, whose memory is measured as a whole.
    static FUZZ_TARGET_RUN_LOCK: Mutex<()> = Mutex::new(());
    let _alone = FUZZ_TARGET_RUN_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let seeds = read_corpus(target);
    assert!(seeds.len() >= 4, "{} seeds", seeds.len());
    // Creates fixtures before memory is measured.
    (target.run)(&seeds[0]);
    for seed in &seeds {
        run_input(target, seed);
    }
    let seconds =
        std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_TARGET_SECONDS);
    let end = Instant::now() + Duration::from_secs(seconds);
    let salt = target.name.bytes().fold(7_u64, |salt, byte| salt.wrapping_mul(31).wrapping_add(byte.into()));
    let mut random = Rng::with_seed(salt);
    let mut inputs = 0_u64;
    while Instant::now() < end {
        run_input(target, &mutate_seed(&seeds, &mut random));
        inputs += 1;
    }
    println!("{}: {} seeds and {inputs} mutations in {seconds} s", target.name, seeds.len());
}

/// Runs one input. If the target panics, saves the input to a file.
fn run_input(target: &FuzzTarget, input: &[u8]) {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        (target.run)(input);
        let taken = ALLOCATOR.peak_usage().saturating_sub(before);
        let most = MAX_FIXED_MEMORY_BYTES + input.len() * MAX_MEMORY_PER_BYTE;
        assert!(taken <= most, "{taken} bytes of memory for an input of {} bytes", input.len());
    }));
    if let Err(panic) = ended {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-failing-input", target.name));
        std::fs::write(&file, input).unwrap();
        println!("{} fails on {:?}, which is in {}", target.name, String::from_utf8_lossy(input), file.display());
        resume_unwind(panic);
    }
}

fn mutate_seed(seeds: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut input = seeds[random.usize(..seeds.len())].clone();
    for _ in 0..random.usize(1..=6) {
        let at = random.usize(..=input.len());
        let end = (at + random.usize(..=16)).min(input.len());
        match random.u8(..9) {
            0 if at < input.len() => input[at] ^= 1 << random.u8(..8),
            1 if at < input.len() => input[at] = random.u8(..),
            2 => drop(input.drain(at..end)),
            3 => {
                let part = input[at..end].to_vec();
                let to = random.usize(..=input.len());
                input.splice(to..to, part);
            }
            4 => {
                let part = input[at..end].repeat(random.usize(2..200));
                input.splice(at..end, part);
            }
            5 => {
                let other = &seeds[random.usize(..seeds.len())];
                let from = random.usize(..=other.len());
                let to = (from + random.usize(..=64)).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
            6 => input.truncate(at),
            _ => {
                let piece = SPECIAL_INPUT_PIECES[random.usize(..SPECIAL_INPUT_PIECES.len())];
                let to = if random.bool() { end } else { at };
                input.splice(at..to, piece.bytes());
            }
        }
        input.truncate(MAX_INPUT_BYTES);
    }
    input
}

#[test]
fn fuzz_corpora_are_small_and_belong_to_targets() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let mut size = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        // The corpus `tool_schema` belongs to the schema parser of the page.
        let is_known = name == "tool_schema" || FUZZ_TARGETS.iter().any(|target| name == target.name);
        assert!(is_known, "{name:?} is the name of a target");
        for file in std::fs::read_dir(entry.path()).unwrap() {
            size += file.unwrap().metadata().unwrap().len();
        }
    }
    assert!(size < MAX_CORPORA_BYTES, "the corpora have {size} bytes");
}

#[test]
fn each_fuzz_target_has_a_program_for_libfuzzer() {
    let manifest = include_str!("../../Cargo.toml");
    let programs = manifest.lines().filter(|line| line.starts_with("path = \"fuzz_targets/")).count();
    assert_eq!(programs, FUZZ_TARGETS.len(), "each target has a program");
    for target in FUZZ_TARGETS {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{}.rs\"", target.name)), "{}", target.name);
    }
}

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                run_target(FUZZ_TARGETS.iter().find(|target| target.name == stringify!($name)).expect("a target"));
            }
        )*

        #[test]
        fn each_fuzz_target_is_replayed() {
            assert_eq!([$(stringify!($name)),*], FUZZ_TARGETS.map(|target| target.name), "the tests and the targets are the same");
        }
    };
}

targets![
    message,
    sse,
    content,
    form,
    mcp_json,
    pasted,
    registry_page,
    app_settings,
    policy,
    audit_log,
    audit_export,
    challenge,
    metadata,
    conversation,
];
