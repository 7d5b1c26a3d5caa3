//! The app's end of a server's standard input, on Linux and macOS.
//!
//! The pipe is registered with tokio's I/O driver only while it is full. A pipe that is always registered wakes the app
//! each time the server reads, which is one extra wakeup per message.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;
use tokio::net::unix::pipe::Sender;
use tokio::process::ChildStdin;

/// The app's end of a server's standard input. The server reads the bytes written to it.
#[derive(Debug)]
pub struct InputPipe(PipeState);

#[derive(Debug)]
enum PipeState {
    /// The last write did not fill the pipe, so the pipe is not registered with tokio's I/O driver.
    Open(File),
    /// The last write found the pipe full. The pipe stays registered with tokio's I/O driver until the server has read
    /// from it.
    Full(Sender),
    Closed,
}

/// Creates the input pipe of a child.
///
/// # Errors
/// Returns the system's error if the pipe can't be made non-blocking.
pub(crate) fn open_input_pipe(stdin: ChildStdin) -> io::Result<InputPipe> {
    InputPipe::new(stdin.into_owned_fd()?)
}

impl InputPipe {
    fn new(end: OwnedFd) -> io::Result<InputPipe> {
        PipeState::Full(Sender::from_owned_fd(end)?).into_unregistered().map(InputPipe)
    }
}

impl PipeState {
    fn into_unregistered(self) -> io::Result<PipeState> {
        match self {
            PipeState::Full(sender) => Ok(PipeState::Open(File::from(sender.into_nonblocking_fd()?))),
            pipe => Ok(pipe),
        }
    }

    fn into_registered(self) -> io::Result<PipeState> {
        match self {
            PipeState::Open(file) => Ok(PipeState::Full(Sender::from_owned_fd(file.into())?)),
            pipe => Ok(pipe),
        }
    }

    fn poll(&mut self, context: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        if let PipeState::Open(file) = self {
            let written = file.write_vectored(slices);
            if !written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                return Poll::Ready(written);
            }
            *self = std::mem::replace(self, PipeState::Closed).into_registered()?;
        }
        let PipeState::Full(sender) = self else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        let written = ready!(Pin::new(sender).poll_write_vectored(context, slices));
        *self = std::mem::replace(self, PipeState::Closed).into_unregistered()?;
        Poll::Ready(written)
    }
}

impl AsyncWrite for InputPipe {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().0.poll(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().0.poll(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // There is no buffer to flush.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().0 = PipeState::Closed;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::unix::pipe::Receiver;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn write_to_a_full_pipe_waits_without_data_loss() {
        let (output, input) = std::io::pipe().unwrap();
        let mut output = Receiver::from_owned_fd(output.into()).unwrap();
        let mut pipe = InputPipe::new(input.into()).unwrap();
        let sent: Vec<u8> = (0..1_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let whole = timeout(Duration::from_millis(50), pipe.write_all(&sent)).await;
        assert!(whole.is_err(), "a megabyte must not fit while the pipe is not read");
        assert!(matches!(pipe.0, PipeState::Full(_)), "a full pipe must be registered with the reactor");

        let reading = tokio::spawn(async move {
            let mut all = Vec::new();
            output.read_to_end(&mut all).await.map(|_| all)
        });
        pipe.write_all(b"the end").await.unwrap();
        assert!(matches!(pipe.0, PipeState::Open(_)), "a pipe with room must not be registered with the reactor");
        pipe.shutdown().await.unwrap();
        let all = reading.await.unwrap().unwrap();
        let (first, end) = all.split_at(all.len() - b"the end".len());
        assert_eq!(first, &sent[..first.len()], "the bytes before the pause must arrive in order and once");
        assert_eq!(end, b"the end", "the bytes after the pause must arrive, too");
        assert!(pipe.write(b"more").await.is_err(), "writing to a closed pipe must fail");
    }

    #[tokio::test]
    async fn write_to_a_pipe_with_a_closed_reader_is_an_error() {
        let (output, input) = std::io::pipe().unwrap();
        let mut pipe = InputPipe::new(input.into()).unwrap();
        drop(output);
        let error = pipe.write_all(b"hello").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "writing without a reader must fail");
    }
}
