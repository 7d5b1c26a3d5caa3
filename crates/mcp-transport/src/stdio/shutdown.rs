//! End of a driver: closes the session, shuts down the server within its grace periods, and meanwhile delivers the
//! remaining events to the owner.

use std::future::poll_fn;
use std::time::Duration;

use mcp_proto::CloseReason;
use process::{ProcessExit, ServerGroup};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::line_reader::LineReader;
use super::stdio_driver::{EgressActivityLines, StderrReader, StdioDriver, poll_stderr_output};
use crate::driver::DriverEvent;
use crate::driver::driver_core::tokio_clock_now;
use crate::driver::event_outbox::EventOutbox;

/// Timeout of writing the last messages to the server, after which its standard input is closed.
const LAST_STDIN_WRITES_TIMEOUT: Duration = Duration::from_millis(200);
/// Maximum time for which the remaining standard error is read after the process has exited.
const LAST_STDERR_TIMEOUT: Duration = Duration::from_millis(300);
/// Maximum number of lines of the remaining standard error that are reported after the process has exited.
const MAX_LAST_STDERR_LINES: usize = 100;

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> StdioDriver<'_, R, W> {
    /// Closes the session and shuts down the server. Meanwhile delivers the remaining events to the owner, which may
    /// take longer.
    pub(super) async fn shut_down(mut self: Box<Self>) {
        let exited = self.ends.exit;
        if let Some(exit) = exited {
            emit_last_stderr_lines(&mut self.stderr, &mut self.core.outbox).await;
            emit_last_egress_lines(&mut self.egress, self.group.as_mut(), &mut self.core.outbox);
            self.core.outbox.push(exit.into());
        }
        self.core.session.handle_connection_closed(self.close_reason(), tokio_clock_now());
        self.send_and_deliver();
        self.core.emit_remaining_events();

        let StdioDriver {
            mut core, mut reader, mut writer, mut queue, mut group, mut stderr, mut egress, limits, ..
        } = *self;
        let kill = Notify::new();
        let end_server = async {
            // Written even without a process, since the other end of the streams may still read.
            let _ = timeout(LAST_STDIN_WRITES_TIMEOUT, queue.write_all(&mut writer)).await;
            drop(writer);
            let group = group.as_mut().filter(|_| exited.is_none())?;
            tokio::select! {
                exit = group.shut_down(limits.grace, &kill) => Some(exit),
                () = discard_remaining_server_output(&mut reader) => None,
            }
        };
        if let Some(exit) = core.deliver_events_until(end_server, &kill).await {
            emit_last_stderr_lines(&mut stderr, &mut core.outbox).await;
            emit_last_egress_lines(&mut egress, group.as_mut(), &mut core.outbox);
            core.outbox.push(exit.into());
        }
        let finish = async {
            if let Some(group) = group {
                group.finish().await;
            }
        };
        tokio::join!(core.deliver_all_remaining_events(), finish);
    }

    fn close_reason(&self) -> CloseReason {
        let ends = &self.ends;
        if let Some(reason) = self.core.stop_reason().or_else(|| self.core.close_reason.clone()) {
            return reason;
        }
        match (ends.exit, ends.output, &ends.write) {
            (Some(ProcessExit { exceeded: Some(exceeded), .. }), _, _) => {
                CloseReason::LimitReached(exceeded.to_string())
            }
            (_, _, Some(cause)) if ends.is_input_abandoned => CloseReason::WriteFailed(cause.clone()),
            (Some(ProcessExit { status, signal, .. }), _, _) => CloseReason::ServerExited { status, signal },
            (None, false, Some(cause)) => CloseReason::WriteFailed(cause.clone()),
            (None, _, _) => CloseReason::ServerClosedOutput,
        }
    }
}

impl From<ProcessExit> for DriverEvent {
    fn from(ProcessExit { status, signal, .. }: ProcessExit) -> DriverEvent {
        DriverEvent::Exited { status, signal }
    }
}

/// Reads and discards the server's output, so that the server does not block on a full pipe. Never completes.
async fn discard_remaining_server_output<R: AsyncRead + Unpin>(reader: &mut LineReader<R>) {
    while reader.next().await.is_some() {}
    std::future::pending().await
}

/// Emits the remaining lines about the server's network access as notes.
fn emit_last_egress_lines(
    egress: &mut Option<EgressActivityLines>,
    group: Option<&mut ServerGroup>,
    outbox: &mut EventOutbox,
) {
    let waiting = std::iter::from_fn(|| egress.as_mut()?.lines.try_recv().ok());
    for line in waiting.chain(group.map(ServerGroup::stop_egress_proxy).unwrap_or_default()) {
        outbox.push(DriverEvent::Note { line });
    }
}

async fn emit_last_stderr_lines(stderr: &mut Option<StderrReader>, outbox: &mut EventOutbox) {
    let lines = async {
        for _ in 0..MAX_LAST_STDERR_LINES {
            match poll_fn(|context| poll_stderr_output(stderr, context)).await {
                Some(output) => outbox.push(output.into()),
                None => return,
            }
        }
    };
    // Lines that arrive later are stored in the ring buffer only.
    let _ = timeout(LAST_STDERR_TIMEOUT, lines).await;
}
