//! Reads the lines of a file from the last to the first, in blocks.

use std::io::{self, Read, Seek, SeekFrom};

const BLOCK_BYTES: usize = 64 << 10;

/// Maximum length of a line, in bytes. Longer lines are skipped.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Iterator over the lines of a file from its end. Empty lines and those over 1 MiB are skipped.
pub(crate) struct LinesFromEnd<R> {
    file: R,
    /// Offset in the file at which the bytes in `pending` begin.
    start: u64,
    /// Bytes that were read from the file and do not belong to a returned line.
    pending: Vec<u8>,
    /// Set if the end of the line in `pending` was dropped, because the line is too long.
    is_truncated: bool,
}

impl<R: Read + Seek> LinesFromEnd<R> {
    pub(crate) fn new(mut file: R) -> io::Result<Self> {
        let start = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, start, pending: Vec::new(), is_truncated: false })
    }

    fn read_block(&mut self) -> io::Result<()> {
        let length = self.start.min(BLOCK_BYTES as u64);
        self.start -= length;
        self.file.seek(SeekFrom::Start(self.start))?;
        let mut piece = Vec::with_capacity(BLOCK_BYTES + self.pending.len());
        self.file.by_ref().take(length).read_to_end(&mut piece)?;
        piece.append(&mut self.pending);
        self.pending = piece;
        Ok(())
    }
}

impl<R: Read + Seek> Iterator for LinesFromEnd<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = if let Some(newline) = self.pending.iter().rposition(|byte| *byte == b'\n') {
                let line = self.pending.split_off(newline + 1);
                self.pending.pop();
                line
            } else if self.start == 0 {
                if self.pending.is_empty() {
                    return None;
                }
                std::mem::take(&mut self.pending)
            } else {
                if self.pending.len() > MAX_LINE_BYTES {
                    self.pending.clear();
                    self.is_truncated = true;
                }
                if let Err(error) = self.read_block() {
                    (self.start, self.pending) = (0, Vec::new());
                    return Some(Err(error));
                }
                continue;
            };
            let is_truncated = std::mem::take(&mut self.is_truncated);
            if !is_truncated && !line.is_empty() {
                return Some(Ok(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn lines_are_read_from_the_end_and_long_ones_skipped() {
        // Lines of usual length cross block boundaries at every offset. Two lines are over the limit, one of them the
        // last.
        let mut text = vec![b'x'; 3 << 20];
        text.push(b'\n');
        let lines: Vec<Vec<u8>> =
            (1..5_000_usize).map(|number| format!("{number:0>width$}", width = number % 700).into()).collect();
        for line in &lines {
            text.extend(line);
            text.extend(b"\n\n");
        }
        text.extend(vec![b'z'; 3 << 20]);
        let read: Vec<Vec<u8>> = LinesFromEnd::new(io::Cursor::new(text)).unwrap().map(Result::unwrap).collect();
        let expected: Vec<Vec<u8>> = lines.into_iter().rev().collect();
        assert!(
            read == expected,
            "every line must be read once, the last one first, except empty lines and those over the limit"
        );
        let last = LinesFromEnd::new(io::Cursor::new(b"a\nb".to_vec())).unwrap().next().unwrap().unwrap();
        assert_eq!(last, b"b", "a last line without a terminator must be read");
    }
}
