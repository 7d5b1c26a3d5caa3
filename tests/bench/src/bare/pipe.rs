//! Lines through the pipe of a child process, with blocking reads and writes.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use bench::scenario::{NOTIFICATIONS, Scenario, WARM_UP};

use crate::Outcome;

/// A call of `echo`, as Drawbridge writes it.
pub(crate) const REQUEST: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":10000,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"hello\"},\"_meta\":{\"progressToken\":10000}}}\n";
/// Bytes of the lines that answer, as bench-server writes them.
pub(crate) const ECHO_BYTES: usize = 88;
const NOTIFICATION_BYTES: usize = 141;
const LIST_BYTES: usize = 2_185_049;
const IMAGE_LINE_BYTES: usize = 13_981_117;
/// What is read at once.
const READ_BYTES: usize = 256 * 1024;

pub(crate) struct Pipe {
    server: Child,
    input: ChildStdin,
    output: ChildStdout,
    read: Vec<u8>,
    /// How many lines answer each request.
    lines: usize,
}

impl Pipe {
    pub(crate) fn open(scenario: Scenario, server: &Path) -> Outcome<Self> {
        let (bytes, lines) = match scenario {
            Scenario::StdioList5000 => (LIST_BYTES, 1),
            Scenario::StdioBig10MB => (IMAGE_LINE_BYTES, 1),
            Scenario::StdioProgress10000 => (NOTIFICATION_BYTES, NOTIFICATIONS),
            _ => (ECHO_BYTES, 1),
        };
        let mut server = Command::new(server)
            .args(["bare", "--bytes", &bytes.to_string(), "--lines", &lines.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
            return Err("the server has no pipes".into());
        };
        Ok(Self { server, input, output, read: vec![0; READ_BYTES], lines })
    }

    /// As the other clients do; with large answers, once is enough to have all memory in use.
    pub(crate) fn warm_up(&mut self) -> Outcome<()> {
        let large = self.lines > 1;
        for _ in 0..if large { 1 } else { WARM_UP.min(20) } {
            self.input.write_all(REQUEST)?;
            self.read_lines(self.lines)?;
        }
        Ok(())
    }

    /// Gives the notifications that came, if it is about them.
    pub(crate) fn run(&mut self, scenario: Scenario) -> Outcome<Option<u64>> {
        let operations = scenario.operations();
        if scenario.in_flight() == 1 {
            for _ in 0..operations {
                self.input.write_all(REQUEST)?;
                self.read_lines(self.lines)?;
            }
        } else {
            self.in_flight(operations, scenario.in_flight())?;
        }
        Ok((scenario == Scenario::StdioProgress10000).then_some(NOTIFICATIONS as u64))
    }

    /// Each answer makes room for one more request.
    fn in_flight(&mut self, requests: usize, at_once: usize) -> Outcome<()> {
        let batch = REQUEST.repeat(at_once);
        let (mut sent, mut answered) = (at_once.min(requests), 0);
        self.input.write_all(&batch[..sent * REQUEST.len()])?;
        while answered < requests {
            let lines = self.read_some()?;
            answered += lines;
            let more = lines.min(requests - sent);
            self.input.write_all(&batch[..more * REQUEST.len()])?;
            sent += more;
        }
        Ok(())
    }

    fn read_lines(&mut self, lines: usize) -> Outcome<()> {
        let mut seen = 0;
        while seen < lines {
            seen += self.read_some()?;
        }
        Ok(())
    }

    /// Reads once, and says how many lines ended.
    fn read_some(&mut self) -> Outcome<usize> {
        let length = self.output.read(&mut self.read)?;
        if length == 0 {
            return Err("the server has ended".into());
        }
        Ok(memchr::memchr_iter(b'\n', &self.read[..length]).count())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // It is ours, and nothing of it is needed any longer.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
