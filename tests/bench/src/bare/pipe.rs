//! Transfers lines through the pipes of a child process with blocking reads and writes.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use bench::report::{BenchClock, BenchReport};
use bench::request::request_json;
use bench::scenario::{PROGRESS_NOTIFICATIONS, Scenario, WARM_UP_CALLS};

use crate::{Outcome, REQUEST_ID};

/// Size of the read buffer in bytes. It exceeds the capacity of a pipe, so that one read returns all available data.
const READ_BUFFER_BYTES: usize = 256 * 1024;
/// Size of a response, in bytes, above which only one request instead of [`WARM_UP_CALLS`] is made before the
/// measurement.
const LARGE_RESPONSE_BYTES: usize = 64 * 1024;

/// Measures a scenario over stdio with the system calls of a minimal client: one write for each request, because
/// callers are independent of each other, and reads that each return all available responses.
pub(crate) fn measure_pipe(scenario: Scenario, server: &Path) -> Outcome<BenchReport> {
    let mut pipe = ServerPipe::open(scenario, server)?;
    // The first response follows the protocol. The server repeats its bytes for all further requests.
    let answer_bytes = pipe.exchange()?;
    for _ in 1..if answer_bytes > LARGE_RESPONSE_BYTES { 1 } else { WARM_UP_CALLS } {
        pipe.exchange()?;
    }
    let clock = BenchClock::start()?;
    if scenario.calls_in_flight() == 1 {
        for _ in 0..scenario.operation_count() {
            pipe.exchange()?;
        }
    } else {
        pipe.exchange_concurrently(scenario.operation_count(), scenario.calls_in_flight())?;
    }
    let mut report = clock.stop(scenario)?;
    report.answer_bytes = Some(answer_bytes);
    report.counted = (scenario == Scenario::StdioProgress10000).then_some(pipe.lines as u64 - 1);
    Ok(report)
}

struct ServerPipe {
    server: Child,
    input: ChildStdin,
    output: ChildStdout,
    request: Vec<u8>,
    read: Vec<u8>,
    /// Number of lines in each response.
    lines: usize,
}

impl ServerPipe {
    fn open(scenario: Scenario, server: &Path) -> Outcome<Self> {
        let mut server = Command::new(server)
            .args(["bare", "--tools", &scenario.tool_count().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
            return Err("the server has no pipes".into());
        };
        let request = format!("{}\n", request_json(scenario, REQUEST_ID)).into_bytes();
        let lines = if scenario == Scenario::StdioProgress10000 { PROGRESS_NOTIFICATIONS + 1 } else { 1 };
        Ok(Self { server, input, output, request, read: vec![0; READ_BUFFER_BYTES], lines })
    }

    /// Sends a request and reads its response. Returns the size of the response in bytes.
    fn exchange(&mut self) -> Outcome<usize> {
        self.input.write_all(&self.request)?;
        let (mut bytes, mut lines) = (0, 0);
        while lines < self.lines {
            let (more_bytes, more_lines) = self.read_once()?;
            bytes += more_bytes;
            lines += more_lines;
        }
        Ok(bytes)
    }

    /// Sends this many requests and reads their responses. Sends a new request for each received response, so that at
    /// most `at_once` requests wait for one.
    fn exchange_concurrently(&mut self, requests: usize, at_once: usize) -> Outcome<()> {
        let (mut sent, mut answered) = (0, 0);
        while answered < requests {
            while sent < requests && sent - answered < at_once {
                self.input.write_all(&self.request)?;
                sent += 1;
            }
            answered += self.read_once()?.1;
        }
        Ok(())
    }

    /// Reads from the pipe once. Returns the number of received bytes and of line ends among them.
    fn read_once(&mut self) -> Outcome<(usize, usize)> {
        let length = self.output.read(&mut self.read)?;
        if length == 0 {
            return Err("the server has ended".into());
        }
        Ok((length, memchr::memchr_iter(b'\n', &self.read[..length]).count()))
    }
}

impl Drop for ServerPipe {
    fn drop(&mut self) {
        // The measurement is complete, so the process is no longer needed.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
