//! Event loop of the driver of one local server.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use mcp_proto::{OutgoingMessageKind, SessionConfig, StreamOrigin};
use process::{ProcessExit, ServerGroup};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::StdioDriverLimits;
use super::line_reader::LineReader;
use super::stderr::StderrOutput;
use super::write_queue::WriteQueue;
use crate::driver::deadline_timer::DeadlineTimer;
use crate::driver::driver_core::{DriverCore, tokio_clock_now};
use crate::driver::session_owner::wait_until_owner_ready;
use crate::driver::{DriverEvent, SessionOwner, WakeFlag};

/// Maximum time to wait, after one of the server's output, input and process has ended, for the other two to end, so
/// that the last messages and the exit status are read.
const PARTIAL_SERVER_END_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of the server's lines that are handled before other event sources are polled again.
const MAX_LINES_PER_POLL: usize = 64;

/// Driver of the session with one local server.
pub(super) struct StdioDriver<'o, R, W> {
    pub(super) core: DriverCore<'o>,
    pub(super) reader: LineReader<R>,
    /// Writer to the server's standard input, or `None` after it was closed.
    pub(super) writer: Option<W>,
    pub(super) queue: WriteQueue,
    pub(super) group: Option<ServerGroup>,
    /// Avoids polling for the exit of the server's process before it has woken the task.
    exit: WakeFlag,
    pub(super) egress: Option<EgressActivityLines>,
    pub(super) stderr: Option<StderrReader>,
    pub(super) limits: StdioDriverLimits,
    pub(super) ends: EndedPipesAndProcess,
    alarm: DeadlineTimer,
}

/// Receiver of the lines that the server writes to standard error.
pub(super) struct StderrReader {
    pub(super) lines: mpsc::Receiver<StderrOutput>,
    pub(super) drain: AbortHandle,
    /// Avoids polling the channel of standard error lines while it is idle.
    pub(super) more: WakeFlag,
}

/// Receiver of text lines that report the server's network access.
pub(super) struct EgressActivityLines {
    pub(super) lines: mpsc::Receiver<String>,
    /// Avoids polling the channel of lines about the network access while it is idle.
    more: WakeFlag,
}

impl EgressActivityLines {
    fn new(lines: mpsc::Receiver<String>) -> EgressActivityLines {
        EgressActivityLines { lines, more: WakeFlag::default() }
    }
}

/// Records which of the server's process, output and input have ended.
#[derive(Debug, Default)]
pub(super) struct EndedPipesAndProcess {
    pub(super) exit: Option<ProcessExit>,
    pub(super) output: bool,
    pub(super) write: Option<String>,
    /// Set if the driver closed the input while the process was running, because the server did not read it.
    pub(super) is_input_abandoned: bool,
    /// Time until which the driver waits for the others to end, or `None` if none has ended.
    until: Option<Instant>,
}

impl<'o, R: AsyncRead + Unpin, W: AsyncWrite + Unpin> StdioDriver<'o, R, W> {
    pub(super) fn new(
        session: SessionConfig,
        (reader, writer): (R, W),
        process: Option<(ServerGroup, StderrReader)>,
        owner: &'o mut dyn SessionOwner,
        limits: StdioDriverLimits,
    ) -> Box<StdioDriver<'o, R, W>> {
        let (mut group, stderr) = process.unzip();
        Box::new(StdioDriver {
            core: DriverCore::new(session, owner, limits.line_bytes),
            reader: LineReader::new(reader, limits.line_bytes),
            writer: Some(writer),
            queue: WriteQueue::new(limits.write_queue_bytes, limits.write_stall),
            ends: EndedPipesAndProcess::default(),
            alarm: DeadlineTimer::new(),
            egress: group.as_mut().and_then(ServerGroup::take_egress_activity_lines).map(EgressActivityLines::new),
            group,
            exit: WakeFlag::default(),
            stderr,
            limits,
        })
    }

    /// Runs the driver until the server has ended. Boxed, because a future that contains the driver itself would store
    /// it several times.
    pub(super) async fn run(mut self: Box<Self>) {
        loop {
            self.send_and_deliver();
            self.write_queued_bytes();
            if self.is_over() {
                break;
            }
            self.process_next_event().await;
        }
        // Boxed, because its state is only needed from here on.
        Box::pin(self.shut_down()).await;
    }

    /// Writes queued bytes to the server's standard input, as many as possible without waiting.
    fn write_queued_bytes(&mut self) {
        while !self.queue.is_empty() {
            match self.queue.write_some(&mut self.writer).now_or_never() {
                Some(Ok(())) => {}
                Some(Err(error)) => self.close_server_input_after_failure(format!("{error}")),
                None => break,
            }
        }
    }

    /// Waits for one event of the owner, a timer or the server, and handles it. The owner is polled first, so that a
    /// stop by the owner is not delayed. Lines of the server are read last, and only while the owner accepts events.
    async fn process_next_event(&mut self) {
        let due = self.next_deadline();
        self.alarm.fire_no_later_than(due);
        let room = self.core.has_room();
        tokio::select! {
            biased;
            () = wait_until_owner_ready(self.core.owner) => self.core.process_ready_owner(),
            () = self.alarm.wait_until_due() => self.on_deadline(),
            exit = poll_fn(|context| poll_process_exit(&mut self.group, &mut self.exit, context)), if self.ends.exit.is_none() => {
                self.ends.exit = Some(exit);
                self.start_partial_server_end_timeout();
            }
            written = self.queue.write_some(&mut self.writer) => {
                if let Err(error) = written {
                    self.close_server_input_after_failure(format!("{error}"));
                }
            }
            line = poll_fn(|context| poll_egress_line(&mut self.egress, context)), if room && self.egress.is_some() => {
                self.core.outbox.push(DriverEvent::Note { line });
            }
            output = poll_fn(|context| poll_stderr_output(&mut self.stderr, context)), if room && self.stderr.is_some() => self.on_stderr(output),
            line = self.reader.next(), if room && !self.ends.output => {
                self.on_received_line(line);
                self.process_buffered_lines();
            }
        }
    }

    /// Queues the session's messages for writing to the server, and delivers the session's events to the owner.
    pub(super) fn send_and_deliver(&mut self) {
        loop {
            self.core.send_pending_notification();
            while let Some(outgoing) = self.core.session.poll_transmit() {
                let mut line = outgoing.json.into_bytes();
                line.push(b'\n');
                self.queue_line_to_server(Bytes::from(line), &outgoing.about);
            }
            self.core.queue_session_events();
            if !self.core.deliver_events() {
                return;
            }
        }
    }

    fn queue_line_to_server(&mut self, line: Bytes, about: &OutgoingMessageKind) {
        if self.writer.is_none() {
            return;
        }
        let frame = line.slice(..line.len() - 1);
        if self.queue.push(line, tokio_clock_now()).is_err() {
            let waiting = self.queue.bytes();
            self.close_unread_server_input(format!("the server does not read its input; {waiting} bytes wait for it"));
            return;
        }
        self.core.emit_sent_frame(frame, about);
    }

    fn on_received_line(&mut self, line: Option<Result<crate::line_decoder::DecodedLine, std::io::Error>>) {
        match line {
            Some(Ok(line)) => {
                self.core.process_received_line(line, StreamOrigin::Stdio, tokio_clock_now());
            }
            // A read error is treated like the end of the stream.
            Some(Err(_)) | None => {
                self.ends.output = true;
                self.start_partial_server_end_timeout();
            }
        }
    }

    /// Handles further lines of the server that are already in the read buffer, which avoids an iteration of the event
    /// loop for each.
    fn process_buffered_lines(&mut self) {
        for _ in 1..MAX_LINES_PER_POLL {
            // The session merges consecutive progress notifications of a call.
            if !self.core.session.has_only_progress_queued() {
                self.send_and_deliver();
            }
            if !self.core.has_room() || self.is_over() || self.ends.output {
                return;
            }
            match self.reader.take_buffered_line() {
                Some(line) => self.on_received_line(Some(line)),
                None => return,
            }
        }
    }

    fn on_stderr(&mut self, output: Option<StderrOutput>) {
        match output {
            Some(output) => self.core.outbox.push(output.into()),
            None => self.stderr = None,
        }
    }

    fn on_deadline(&mut self) {
        let now = tokio_clock_now();
        if self.queue.stall_deadline().is_some_and(|at| at <= now) {
            let (waiting, stall) = (self.queue.bytes(), self.limits.write_stall);
            self.close_unread_server_input(format!(
                "the server took none of the {waiting} bytes that wait for it in {stall:?}"
            ));
        }
        self.core.on_deadline(now);
    }

    /// Closes the server's input because the server does not read it, as `cause` explains. If the server then exits,
    /// `cause` is reported as the reason instead of the exit.
    fn close_unread_server_input(&mut self, cause: String) {
        self.ends.is_input_abandoned = self.ends.exit.is_none();
        self.close_server_input_after_failure(cause);
    }

    fn close_server_input_after_failure(&mut self, cause: String) {
        self.writer = None;
        self.queue.clear();
        self.ends.write.get_or_insert(cause);
        self.start_partial_server_end_timeout();
    }

    fn start_partial_server_end_timeout(&mut self) {
        self.ends.until.get_or_insert(tokio_clock_now() + PARTIAL_SERVER_END_TIMEOUT);
    }

    fn next_deadline(&self) -> Option<Instant> {
        let times = [self.core.next_deadline(), self.queue.stall_deadline(), self.ends.until];
        let passed_over = self.ends.until.filter(|_| !self.core.has_room());
        times.into_iter().flatten().filter(|at| Some(*at) != passed_over).min()
    }

    /// Returns `true` if the owner requested a stop, the session is closed, the server has ended completely, or
    /// [`PARTIAL_SERVER_END_TIMEOUT`] has expired after a part of it ended.
    fn is_over(&self) -> bool {
        let ends = &self.ends;
        let all = match self.group {
            Some(_) => ends.exit.is_some() && ends.output && self.stderr.is_none(),
            None => ends.output || ends.write.is_some(),
        };
        // While the owner accepts no events, the last messages cannot be read, even after the deadline.
        let late = ends.until.is_some_and(|until| until <= tokio_clock_now()) && self.core.has_room();
        self.core.is_stopped() || self.core.close_reason.is_some() || all || late
    }
}

fn poll_process_exit(
    group: &mut Option<ServerGroup>,
    wake_flag: &mut WakeFlag,
    context: &Context<'_>,
) -> Poll<ProcessExit> {
    match group {
        Some(group) => wake_flag.poll(context, |context| pin!(group.wait()).poll(context)),
        None => Poll::Pending,
    }
}

/// Polls for the next line about the server's network access.
fn poll_egress_line(egress: &mut Option<EgressActivityLines>, context: &Context<'_>) -> Poll<String> {
    let Some(EgressActivityLines { lines, more }) = egress else { return Poll::Pending };
    match more.poll(context, |context| lines.poll_recv(context)) {
        Poll::Ready(Some(line)) => Poll::Ready(line),
        Poll::Ready(None) => {
            *egress = None;
            Poll::Pending
        }
        Poll::Pending => Poll::Pending,
    }
}

/// Polls for the next output of the server's standard error. Returns `None` at its end.
pub(super) fn poll_stderr_output(
    stderr: &mut Option<StderrReader>,
    context: &Context<'_>,
) -> Poll<Option<StderrOutput>> {
    match stderr {
        Some(stderr) => stderr.more.poll(context, |context| stderr.lines.poll_recv(context)),
        None => Poll::Ready(None),
    }
}

impl Drop for StderrReader {
    fn drop(&mut self) {
        // A process that has left the group may keep the pipe open indefinitely.
        self.drain.abort();
    }
}

impl From<StderrOutput> for DriverEvent {
    fn from(output: StderrOutput) -> DriverEvent {
        match output {
            StderrOutput::Line(line) => DriverEvent::Stderr { line },
            StderrOutput::Dropped(bytes) => DriverEvent::StderrDropped { bytes },
        }
    }
}
