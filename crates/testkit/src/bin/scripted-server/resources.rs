//! Misbehaviors that exhaust resources of the computer or attempt forbidden system calls.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::peer::{PeerRequest, ScriptedPeer};
use crate::processes::wait_for_ever;

/// Pause between two process starts, allocations or writes that exhaust a resource, so that the sandbox's supervisor
/// has time to react.
const EXHAUSTION_STEP_PAUSE: Duration = Duration::from_millis(5);
const MIB: usize = 1 << 20;

/// Command that each child process of the server runs while it forks endlessly.
const FORKED_CHILD_COMMAND: [&str; 2] = ["sleep", "7412"];

#[allow(clippy::disallowed_methods, clippy::zombie_processes, reason = "a server may start what it likes")]
pub(crate) fn fork_forever(_: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    loop {
        // If the system refuses to create a process, the next iteration tries again.
        let _ = Command::new(FORKED_CHILD_COMMAND[0])
            .arg(FORKED_CHILD_COMMAND[1])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        std::thread::sleep(EXHAUSTION_STEP_PAUSE);
    }
}

pub(crate) fn allocate_forever(_: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    let mut held: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut more = Vec::new();
        if more.try_reserve_exact(4 * MIB).is_ok() {
            more.resize(4 * MIB, 1);
            held.push(more);
        }
        std::thread::sleep(EXHAUSTION_STEP_PAUSE);
    }
}

pub(crate) fn write_until_home_is_full(_: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    let home = std::env::var("HOME").map_err(io::Error::other)?;
    let mut file = std::fs::File::create(std::path::Path::new(&home).join("filled"))?;
    loop {
        file.write_all(&vec![1; MIB])?;
        std::thread::sleep(EXHAUSTION_STEP_PAUSE);
    }
}

pub(crate) fn use_processor_forever(_: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    for _ in 0..4 {
        std::thread::spawn(|| {
            loop {
                std::hint::spin_loop();
            }
        });
    }
    wait_for_ever()
}

/// Programs that require privileges, by the name under which a success is reported. `program` is a control that
/// requires none.
const PRIVILEGED_PROGRAMS: [(&str, &[&str]); 7] = [
    ("namespace", &["unshare", "--user", "true"]),
    ("namespace of the first process", &["nsenter", "--target", "1", "--user", "true"]),
    ("mount", &["mount", "-t", "tmpfs", "none", "/tmp"]),
    ("root", &["chroot", "/", "true"]),
    ("log of the kernel", &["dmesg"]),
    ("clock", &["date", "--set", "2001-01-01"]),
    ("program", &["true"]),
];

#[allow(clippy::disallowed_methods, reason = "a server may start what it likes")]
pub(crate) fn try_privileged_programs(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let works = |(name, arguments): &(&str, &[&str])| {
        let (program, arguments) = arguments.split_first()?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Some(((*name).to_owned(), Value::Bool(command.status().is_ok_and(|status| status.success()))))
    };
    let mut results: Map<String, Value> = PRIVILEGED_PROGRAMS.iter().filter_map(works).collect();
    results.insert("temporary files of others".to_owned(), Value::Bool(sandboxed_process_can_read_test_file()));
    peer.send_text_result(request, &Value::Object(results).to_string())
}

/// Returns `true` if the server can see a file that a test has created in the computer's `/tmp`.
fn sandboxed_process_can_read_test_file() -> bool {
    let files = std::fs::read_dir("/tmp").into_iter().flatten().flatten();
    files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with("s23-"))
}
