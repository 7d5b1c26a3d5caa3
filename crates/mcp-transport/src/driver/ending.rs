//! The end of a driver: the session is closed at once, the server is ended in its own time, and what
//! the owner still has to learn is handed over meanwhile.

use std::time::Duration;

use futures_util::StreamExt;
use mcp_proto::{CloseReason, Session};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use super::outbox::Outbox;
use super::task::{Stderr, Task, now, stderr_of};
use super::{DriverCommand, DriverEvent};
use crate::shutdown;
use crate::stdio::Exit;

/// How long the last messages may take to be written before the server's input is closed.
const LAST_WRITES: Duration = Duration::from_millis(200);
/// How long the end of standard error is waited for once the process is gone.
const LAST_STDERR: Duration = Duration::from_millis(300);
/// How many of its last lines are handed over.
const LAST_STDERR_LINES: usize = 100;

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Task<R, W> {
    /// Closes the session, ends the server, tells the rest. Only the telling waits for the owner.
    pub(super) async fn end(mut self) {
        let exited = self.ends.exit;
        if let Some(exit) = exited {
            drain_stderr(&mut self.stderr, &mut self.outbox).await;
            self.outbox.push(exit.into());
        }
        self.session.handle_closed(self.reason(), now());
        self.pump();
        while let Some(event) = self.session.poll_event() {
            self.tell(event);
        }
        self.intake.report(&mut self.outbox);

        let Task { mut session, mut reader, mut writer, mut queue, mut outbox, .. } = self;
        let Task { mut commands, events, mut group, mut stderr, limits, .. } = self;
        let kill = Notify::new();
        let end_server = async {
            // Also when there is no process: the other side may still read.
            let _ = timeout(LAST_WRITES, queue.write_all(&mut writer)).await;
            drop(writer);
            let group = group.as_mut().filter(|_| exited.is_none())?;
            tokio::select! {
                exit = shutdown::end(group, limits.grace, &kill) => Some(exit),
                () = discard(&mut reader) => None,
            }
        };
        let (exit, _) = tokio::select! {
            both = async { tokio::join!(end_server, outbox.deliver_all(&events)) } => both,
            () = refuse(&mut commands, &mut session, &kill) => (None, Ok(())),
        };
        if let Some(exit) = exit {
            drain_stderr(&mut stderr, &mut outbox).await;
            outbox.push(exit.into());
        }
        drop(group);
        // Fails when the owner is gone, and then nobody needs to know.
        let _ = outbox.deliver_all(&events).await;
    }

    fn reason(&self) -> CloseReason {
        let ends = &self.ends;
        if ends.stopped {
            return CloseReason::StoppedByUser;
        }
        if let Some(reason) = &ends.session {
            return reason.clone();
        }
        match (ends.exit, ends.output, &ends.write) {
            (Some(Exit { status, signal }), _, _) => CloseReason::ServerExited { status, signal },
            (None, false, Some(cause)) => CloseReason::WriteFailed(cause.clone()),
            (None, _, _) => CloseReason::ServerClosedOutput,
        }
    }
}

impl From<Exit> for DriverEvent {
    fn from(Exit { status, signal }: Exit) -> DriverEvent {
        DriverEvent::Exited { status, signal }
    }
}

/// Takes commands until everything else is done. Never ends.
async fn refuse(commands: &mut mpsc::Receiver<DriverCommand>, session: &mut Session, kill: &Notify) {
    while let Some(command) = commands.recv().await {
        match command {
            DriverCommand::Stop => kill.notify_one(),
            DriverCommand::Call { request, deadline, reply } => {
                let _ = reply.send(session.call(request, deadline, now()));
            }
            // The session is over: there is nothing to cancel, to answer or to notify.
            DriverCommand::Cancel { .. } | DriverCommand::Answer { .. } | DriverCommand::Notify(_) => {}
        }
    }
    std::future::pending().await
}

/// Reads what a server still writes, so that it does not hang on a full pipe. Never ends.
async fn discard<S: StreamExt + Unpin>(reader: &mut S) {
    while reader.next().await.is_some() {}
    std::future::pending().await
}

async fn drain_stderr(stderr: &mut Option<Stderr>, outbox: &mut Outbox) {
    let lines = async {
        for _ in 0..LAST_STDERR_LINES {
            match stderr_of(stderr).await {
                Some(output) => outbox.push(output.into()),
                None => return,
            }
        }
    };
    // What has not come by then is still in the ring.
    let _ = timeout(LAST_STDERR, lines).await;
}
