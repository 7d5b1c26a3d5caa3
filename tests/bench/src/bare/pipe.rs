//! Transfers lines through the pipes of a child process with blocking reads and writes.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use bench::report::{Clock, Report};
use bench::request::request;
use bench::scenario::{NOTIFICATIONS, Scenario, WARM_UP};

use crate::{ID, Outcome};

/// Size of the read buffer in bytes. Larger than the capacity of a pipe, so that one read returns all available data.
const READ_BYTES: usize = 256 * 1024;
/// Response size in bytes above which a single request is sent before the measurement.
const LARGE: usize = 64 * 1024;

/// Measures a scenario with the system calls of a minimal client. Each request is a separate write, because callers are
/// independent of each other. A read returns all available bytes, so responses that the server wrote together are read
/// together.
pub(crate) fn run(scenario: Scenario, server: &Path) -> Outcome<Report> {
    let mut pipe = Pipe::open(scenario, server)?;
    // The first response follows the protocol. The server repeats its bytes for all further requests.
    let answer_bytes = pipe.exchange()?;
    for _ in 1..if answer_bytes > LARGE { 1 } else { WARM_UP } {
        pipe.exchange()?;
    }
    let clock = Clock::start()?;
    if scenario.in_flight() == 1 {
        for _ in 0..scenario.operations() {
            pipe.exchange()?;
        }
    } else {
        pipe.in_flight(scenario.operations(), scenario.in_flight())?;
    }
    let mut report = clock.stop(scenario)?;
    report.answer_bytes = Some(answer_bytes);
    report.counted = (scenario == Scenario::StdioProgress10000).then_some(pipe.lines as u64 - 1);
    Ok(report)
}

struct Pipe {
    server: Child,
    input: ChildStdin,
    output: ChildStdout,
    request: Vec<u8>,
    read: Vec<u8>,
    /// Number of lines in each response.
    lines: usize,
}

impl Pipe {
    fn open(scenario: Scenario, server: &Path) -> Outcome<Self> {
        let mut server = Command::new(server)
            .args(["bare", "--tools", &scenario.tools().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
            return Err("the server has no pipes".into());
        };
        let request = format!("{}\n", request(scenario, ID)).into_bytes();
        let lines = if scenario == Scenario::StdioProgress10000 { NOTIFICATIONS + 1 } else { 1 };
        Ok(Self { server, input, output, request, read: vec![0; READ_BYTES], lines })
    }

    /// Sends a request and reads its response. Returns the size of the response in bytes.
    fn exchange(&mut self) -> Outcome<usize> {
        self.input.write_all(&self.request)?;
        let (mut bytes, mut lines) = (0, 0);
        while lines < self.lines {
            let (more_bytes, more_lines) = self.read_some()?;
            bytes += more_bytes;
            lines += more_lines;
        }
        Ok(bytes)
    }

    /// Sends a new request for each received response, so that at most `at_once` requests are pending.
    fn in_flight(&mut self, requests: usize, at_once: usize) -> Outcome<()> {
        let (mut sent, mut answered) = (0, 0);
        while answered < requests {
            while sent < requests && sent - answered < at_once {
                self.input.write_all(&self.request)?;
                sent += 1;
            }
            answered += self.read_some()?.1;
        }
        Ok(())
    }

    /// Reads once. Returns the number of bytes and of line ends in them.
    fn read_some(&mut self) -> Outcome<(usize, usize)> {
        let length = self.output.read(&mut self.read)?;
        if length == 0 {
            return Err("the server has ended".into());
        }
        Ok((length, memchr::memchr_iter(b'\n', &self.read[..length]).count()))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // The measurement is complete, so the process is no longer needed.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
