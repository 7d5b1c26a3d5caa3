//! Serves on standard input and output, with one thread and as few system calls as possible.

use std::io::{self, Read, Write};

use memchr::memchr;

use super::answers::ServerState;

/// Size of the read buffer, in bytes.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// Responds to every line of standard input until it ends.
pub(super) fn serve(server: &mut ServerState) -> io::Result<()> {
    respond_to_each_line(|line, out| server.append_response_to_message(line, out))
}

/// Responds to the first line like [`serve`], and to every later line with the bytes of that response.
pub(super) fn serve_repeated_response(server: &mut ServerState) -> io::Result<()> {
    let mut answer = Vec::new();
    respond_to_each_line(|line, out| {
        if answer.is_empty() {
            server.append_response_to_message(line, &mut answer);
        }
        out.extend_from_slice(&answer);
    })
}

/// Calls `answer` with every line of standard input and a buffer for the response. Writes the buffer after all lines of
/// one read have been processed.
fn respond_to_each_line(mut answer: impl FnMut(&[u8], &mut Vec<u8>)) -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), unbuffered_output()?);
    let mut read = vec![0; READ_BUFFER_BYTES];
    let (mut begun, mut out) = (Vec::new(), Vec::new());
    loop {
        let length = input.read(&mut read)?;
        if length == 0 {
            return Ok(());
        }
        let mut rest = &read[..length];
        while let Some(end) = memchr(b'\n', rest) {
            if begun.is_empty() {
                answer(&rest[..end], &mut out);
            } else {
                begun.extend_from_slice(&rest[..end]);
                answer(&begun, &mut out);
                begun.clear();
            }
            rest = &rest[end + 1..];
        }
        begun.extend_from_slice(rest);
        output.write_all(&out)?;
        out.clear();
    }
}

/// Returns standard output without the standard library's buffer, which would split writes at line ends.
#[cfg(unix)]
fn unbuffered_output() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd as _;
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
fn unbuffered_output() -> io::Result<std::fs::File> {
    use std::os::windows::io::AsHandle as _;
    Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
}
