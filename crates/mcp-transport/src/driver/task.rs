//! The driver's loop: waits for whatever comes next and moves it one step on.

use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt};
use mcp_proto::{CallError, ClientNotification, CloseReason, Session, SessionConfig, SessionEvent};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::sleep_until;
use tokio_util::codec::FramedRead;

use super::intake::Intake;
use super::outbox::Outbox;
use super::write_queue::WriteQueue;
use super::{Direction, DriverCommand, DriverEvent, DriverLimits, Frame};
use crate::lines::Lines;
use crate::stdio::{Exit, ServerGroup, StderrOutput};

/// When one of output, input and process has ended, how long the others may take to follow, so that the
/// last messages and the true cause are seen.
const LINGER: Duration = Duration::from_secs(1);
/// How many lines are taken in before the other tasks of the driver are looked at again.
const LINES_AT_ONCE: usize = 64;
const READ_BYTES: usize = 8 * 1024;

/// The driver of one server.
pub(super) struct Task<R, W> {
    pub(super) session: Session,
    pub(super) reader: FramedRead<R, Lines>,
    /// None once the server takes no more.
    pub(super) writer: Option<W>,
    pub(super) queue: WriteQueue,
    pub(super) intake: Intake,
    pub(super) outbox: Outbox,
    pub(super) commands: mpsc::Receiver<DriverCommand>,
    pub(super) events: mpsc::Sender<DriverEvent>,
    pub(super) group: Option<ServerGroup>,
    pub(super) stderr: Option<Stderr>,
    pub(super) limits: DriverLimits,
    pub(super) ends: Ends,
    /// Waits for room in the outbox. It says the same however often it is said.
    notification: Option<ClientNotification>,
}

/// What the server prints on standard error.
pub(super) struct Stderr {
    pub(super) lines: mpsc::Receiver<StderrOutput>,
    pub(super) drain: AbortHandle,
}

/// What has come to its end.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// The owner wants it, or is gone.
    pub(super) stopped: bool,
    /// The session itself is over, for this reason if it has told it.
    pub(super) session: Option<CloseReason>,
    pub(super) exit: Option<Exit>,
    pub(super) output: bool,
    pub(super) write: Option<String>,
    /// How long the others may follow.
    until: Option<Instant>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Task<R, W> {
    pub(super) fn new(
        session: SessionConfig,
        (reader, writer): (R, W),
        process: Option<(ServerGroup, Stderr)>,
        commands: mpsc::Receiver<DriverCommand>,
        events: mpsc::Sender<DriverEvent>,
        limits: DriverLimits,
    ) -> Task<R, W> {
        let (group, stderr) = process.unzip();
        Task {
            session: Session::new(session, now()),
            reader: FramedRead::with_capacity(reader, Lines::new(limits.line_bytes), READ_BYTES),
            writer: Some(writer),
            queue: WriteQueue::new(limits.write_queue_bytes, limits.write_stall),
            intake: Intake::new(limits.line_bytes),
            outbox: Outbox::default(),
            commands,
            events,
            ends: Ends::default(),
            group,
            stderr,
            limits,
            notification: None,
        }
    }

    pub(super) async fn run(mut self) {
        while !self.is_over() {
            self.step().await;
            self.pump();
        }
        self.end().await;
    }

    /// Waits for one thing and handles it. Commands come first, so that nothing keeps Stop waiting; lines from
    /// the server come last, and only while the owner takes the events.
    async fn step(&mut self) {
        self.pump();
        if self.is_over() {
            return;
        }
        let wake = self.wakes_at().unwrap_or_else(|| now() + Duration::from_secs(3600));
        let room = !self.outbox.is_full();
        tokio::select! {
            biased;
            command = self.commands.recv() => self.on_command(command),
            () = self.events.closed() => self.ends.stopped = true,
            () = sleep_until(wake.into()) => self.on_time(),
            exit = exit_of(&mut self.group), if self.ends.exit.is_none() => {
                self.ends.exit = Some(exit);
                self.linger();
            }
            written = self.queue.write_some(&mut self.writer) => {
                if let Err(error) = written {
                    self.on_write_failed(format!("{error}"));
                }
            }
            // That the owner is gone is seen above.
            _ = self.outbox.deliver(&self.events), if !self.outbox.is_empty() => {}
            output = stderr_of(&mut self.stderr), if room && self.stderr.is_some() => self.on_stderr(output),
            line = self.reader.next(), if room && !self.ends.output => {
                self.on_line(line);
                self.on_more_lines();
            }
        }
    }

    /// Takes over what the session wants to send and to tell.
    pub(super) fn pump(&mut self) {
        if !self.outbox.is_crowded()
            && let Some(notification) = self.notification.take()
        {
            self.session.notify(notification);
        }
        while let Some(outgoing) = self.session.poll_transmit() {
            let mut line = outgoing.json.into_bytes();
            line.push(b'\n');
            self.send(Bytes::from(line));
        }
        // What does not fit stays in the session, which bounds and merges what waits there.
        while !self.outbox.is_full() {
            let Some(event) = self.session.poll_event() else { break };
            self.tell(event);
        }
    }

    pub(super) fn tell(&mut self, event: SessionEvent) {
        match &event {
            SessionEvent::Closed(reason) => self.ends.session = Some(reason.clone()),
            SessionEvent::OpeningFailed { cause, .. } => {
                self.ends.session.get_or_insert_with(|| CloseReason::OpeningFailed(cause.clone()));
            }
            _ => {}
        }
        self.intake.tell(event, &mut self.outbox, now());
    }

    fn send(&mut self, line: Bytes) {
        if self.writer.is_none() {
            return;
        }
        let frame = line.slice(..line.len() - 1);
        if self.queue.push(line, now()).is_err() {
            let waiting = self.queue.bytes();
            self.on_write_failed(format!("the server does not read its input; {waiting} bytes wait for it"));
            return;
        }
        self.outbox.push(DriverEvent::Frame(Frame {
            direction: Direction::Sent,
            at: SystemTime::now(),
            bytes: frame,
            note: None,
        }));
    }

    fn on_command(&mut self, command: Option<DriverCommand>) {
        match command {
            None | Some(DriverCommand::Stop) => self.ends.stopped = true,
            Some(DriverCommand::Call { request, deadline, reply }) => {
                let result = if self.outbox.is_crowded() {
                    Err(CallError::TooManyCalls)
                } else {
                    self.session.call(request, deadline, now())
                };
                // A caller that does not wait for the name is not told it.
                let _ = reply.send(result);
            }
            Some(DriverCommand::Cancel { call, reason }) => self.session.cancel(call, reason, now()),
            Some(DriverCommand::Answer { request, answer }) => {
                if let Err(error) = self.session.answer(request, answer, now()) {
                    tracing::debug!(%request, %error, "an answer was passed over");
                }
            }
            Some(DriverCommand::Notify(notification)) => self.notification = Some(notification),
        }
    }

    fn on_line(&mut self, line: Option<Result<crate::lines::Line, std::io::Error>>) {
        match line {
            Some(Ok(line)) => self.intake.line(line, &mut self.session, &mut self.outbox, now()),
            // A pipe that cannot be read is as good as closed.
            Some(Err(_)) | None => {
                self.ends.output = true;
                self.linger();
            }
        }
    }

    /// Takes in lines that have come already, without another round of the loop for each.
    fn on_more_lines(&mut self) {
        for _ in 1..LINES_AT_ONCE {
            self.pump();
            if self.outbox.is_full() || self.is_over() || self.ends.output {
                return;
            }
            match self.reader.next().now_or_never() {
                Some(line) => self.on_line(line),
                None => return,
            }
        }
    }

    fn on_stderr(&mut self, output: Option<StderrOutput>) {
        match output {
            Some(output) => self.outbox.push(output.into()),
            None => self.stderr = None,
        }
    }

    fn on_time(&mut self) {
        let now = now();
        if self.queue.stalls_at().is_some_and(|at| at <= now) {
            let (waiting, stall) = (self.queue.bytes(), self.limits.write_stall);
            self.on_write_failed(format!("the server took none of the {waiting} bytes that wait for it in {stall:?}"));
        }
        if self.session.poll_timeout().is_some_and(|at| at <= now) {
            self.session.handle_timeout(now);
        }
        self.intake.on_time(&mut self.session, &mut self.outbox, now);
    }

    fn on_write_failed(&mut self, cause: String) {
        self.writer = None;
        self.queue.clear();
        self.ends.write.get_or_insert(cause);
        self.linger();
    }

    fn linger(&mut self) {
        self.ends.until.get_or_insert(now() + LINGER);
    }

    fn wakes_at(&self) -> Option<Instant> {
        let times = [self.session.poll_timeout(), self.queue.stalls_at(), self.intake.wakes_at(), self.ends.until];
        let passed_over = self.outbox.is_full().then_some(self.ends.until).flatten();
        times.into_iter().flatten().filter(|at| Some(*at) != passed_over).min()
    }

    /// Whether the session, the owner, or all that there is of the server has come to its end.
    fn is_over(&self) -> bool {
        let ends = &self.ends;
        let all = match self.group {
            Some(_) => ends.exit.is_some() && ends.output && self.stderr.is_none(),
            None => ends.output || ends.write.is_some(),
        };
        // While the owner takes nothing, the last messages cannot be read, however late it is.
        let late = ends.until.is_some_and(|until| until <= now()) && !self.outbox.is_full();
        ends.stopped || ends.session.is_some() || all || late
    }
}

/// The tokio clock, so that tests can stop it.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

async fn exit_of(group: &mut Option<ServerGroup>) -> Exit {
    match group {
        Some(group) => group.wait().await,
        None => std::future::pending().await,
    }
}

/// The next output; None when no more will come.
pub(super) async fn stderr_of(stderr: &mut Option<Stderr>) -> Option<StderrOutput> {
    match stderr {
        Some(stderr) => stderr.lines.recv().await,
        None => None,
    }
}

impl Drop for Stderr {
    fn drop(&mut self) {
        // A process that has left the group may hold the pipe open for ever.
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
