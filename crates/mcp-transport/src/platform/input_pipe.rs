//! The app's end of a server's standard input, on Linux and macOS.
//!
//! It is watched for room only while it is full. A pipe that is always watched wakes the app each time the server has
//! read something, which is once more for every message.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncWrite, Interest};
use tokio::process::ChildStdin;

/// What is written here can be read by the server.
#[derive(Debug)]
pub(crate) enum InputPipe {
    /// It had room when it was written to last.
    Open(File),
    /// It was full.
    Full(AsyncFd<File>),
    Closed,
}

/// The pipe to a child.
///
/// # Errors
/// The system's, if it can't be written to without waiting.
pub(crate) fn input(stdin: ChildStdin) -> io::Result<InputPipe> {
    let end = stdin.into_owned_fd()?;
    let flags = OFlag::from_bits_retain(fcntl(&end, FcntlArg::F_GETFL)?);
    fcntl(&end, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(InputPipe::Open(File::from(end)))
}

impl InputPipe {
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        mut write: impl FnMut(&File) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        if let InputPipe::Open(file) = self {
            let written = write(file);
            if !written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                return Poll::Ready(written);
            }
            let InputPipe::Open(file) = std::mem::replace(self, InputPipe::Closed) else { return Poll::Pending };
            *self = InputPipe::Full(AsyncFd::with_interest(file, Interest::WRITABLE)?);
        }
        let InputPipe::Full(watched) = self else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        loop {
            let mut room = ready!(watched.poll_write_ready(context))?;
            if let Ok(written) = room.try_io(|watched| write(watched.get_ref())) {
                if let InputPipe::Full(watched) = std::mem::replace(self, InputPipe::Closed) {
                    *self = InputPipe::Open(watched.into_inner());
                }
                return Poll::Ready(written);
            }
        }
    }
}

impl AsyncWrite for InputPipe {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll(context, |mut file| file.write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll(context, |mut file| file.write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Nothing is held back.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        *self.get_mut() = InputPipe::Closed;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::Stdio;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::process::Command;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn what_does_not_fit_waits_and_nothing_is_lost() {
        let mut cat =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut pipe = input(cat.stdin.take().unwrap()).unwrap();
        let sent: Vec<u8> = (0..2_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        // Nobody reads what cat writes, so that it soon reads no more.
        let whole = timeout(Duration::from_millis(200), pipe.write_all(&sent[..1_000_000])).await;
        assert!(whole.is_err(), "a megabyte does not fit into two pipes");
        assert!(matches!(pipe, InputPipe::Full(_)), "it is watched now");

        let mut output = cat.stdout.take().unwrap();
        let mut already = vec![0; 1000];
        output.read_exact(&mut already).await.unwrap();
        assert_eq!(already, sent[..1000], "what fits has arrived, in order");
        let reading = tokio::spawn(async move {
            let mut rest = Vec::new();
            output.read_to_end(&mut rest).await.map(|_| rest)
        });
        pipe.write_all(b"the end").await.unwrap();
        assert!(matches!(pipe, InputPipe::Open(_)), "there is room again, and it is not watched any more");
        pipe.shutdown().await.unwrap();
        let rest = reading.await.unwrap().unwrap();
        assert!(rest.ends_with(b"the end"), "the rest has arrived, and the end was seen");
        assert!(pipe.write(b"more").await.is_err(), "a closed pipe takes nothing");
    }
}
