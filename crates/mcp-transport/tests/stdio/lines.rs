//! Tests of the line decoder with every split of its input.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mcp_transport::line_decoder::{DecodedLine, LineDecoder, MAX_LINE_EXCERPT_BYTES};
use proptest::prelude::*;
use testkit::processes::thread_processor_time;
use tokio_util::codec::Decoder;

fn decode_lines_of_chunks(limit: usize, chunks: &[&[u8]]) -> Vec<DecodedLine> {
    let mut decoder = LineDecoder::new(limit);
    let mut buffer = BytesMut::new();
    let mut lines = Vec::new();
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        while let Some(line) = decoder.decode(&mut buffer).unwrap() {
            lines.push(line);
        }
    }
    while let Some(line) = decoder.decode_eof(&mut buffer).unwrap() {
        lines.push(line);
    }
    lines
}

/// Returns the lines that the decoder must return for `input`, computed by a simpler implementation.
fn expected_lines(limit: usize, input: &[u8]) -> Vec<DecodedLine> {
    let mut lines = Vec::new();
    for line in input.split(|byte| *byte == b'\n') {
        let stripped = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > limit {
            let head = Bytes::copy_from_slice(&line[..limit.min(MAX_LINE_EXCERPT_BYTES)]);
            let tail = &line[line.len().saturating_sub(MAX_LINE_EXCERPT_BYTES)..];
            let tail = tail.strip_suffix(b"\r").unwrap_or(tail);
            lines.push(DecodedLine::Oversized { head: head.clone() });
            lines.push(DecodedLine::OversizedEnd {
                length: line.len() as u64,
                head,
                tail: Bytes::copy_from_slice(tail),
            });
        } else if !stripped.is_empty() {
            lines.push(DecodedLine::Whole(Bytes::copy_from_slice(stripped)));
        }
    }
    lines
}

#[test]
fn input_split_at_any_point_yields_the_same_lines() {
    let input = b"{\"a\":1}\n\r\n\n{\"b\":\"\xff\"}\r\nfar too long for this\nexactly 16 bytes\nlast without end";
    for at in 0..=input.len() {
        let (left, right) = input.split_at(at);
        assert_eq!(
            decode_lines_of_chunks(16, &[left, right]),
            expected_lines(16, input),
            "[stdio-newline-delimited]: split after byte {at}"
        );
    }
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(
        decode_lines_of_chunks(16, &bytes),
        expected_lines(16, input),
        "[stdio-newline-delimited]: byte by byte"
    );
}

proptest! {
    #[test]
    fn arbitrary_chunks_yield_the_same_lines(
        input in prop::collection::vec(prop_oneof![3 => Just(b'x'), 2 => Just(b'\n'), 1 => Just(b'\r'), 1 => any::<u8>()], 0..200),
        sizes in prop::collection::vec(1_usize..40, 1..50),
        limit in 1_usize..30,
    ) {
        let mut pieces = Vec::new();
        let mut rest = input.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        prop_assert_eq!(decode_lines_of_chunks(limit, &pieces), expected_lines(limit, &input), "the pieces must not matter");
    }
}

#[test]
fn overlong_stdio_line_is_skipped_without_being_stored() {
    let limit = 64 * 1024;
    let mut decoder = LineDecoder::new(limit);
    let mut buffer = BytesMut::new();
    let chunk = [b'x'; 8192];
    let mut lines = Vec::new();
    for _ in 0..8192 {
        buffer.extend_from_slice(&chunk);
        while let Some(line) = decoder.decode(&mut buffer).unwrap() {
            lines.push(line);
        }
        assert!(buffer.capacity() <= 4 * limit, "X37: 64 MiB without newline took {} bytes", buffer.capacity());
    }
    assert_eq!(lines.len(), 1, "the line must be reported once, as soon as it exceeds the limit");
    buffer.extend_from_slice(b"\n{}\n");
    let Some(DecodedLine::OversizedEnd { length, tail, .. }) = decoder.decode(&mut buffer).unwrap() else {
        panic!("X37: the end of the long line must be reported");
    };
    assert_eq!(
        (length, tail.len()),
        (64 * 1024 * 1024, MAX_LINE_EXCERPT_BYTES),
        "its length and its last bytes must be reported"
    );
    assert_eq!(
        decoder.decode(&mut buffer).unwrap(),
        Some(DecodedLine::Whole(Bytes::from_static(b"{}"))),
        "X37: the next line must be read normally"
    );
}

#[test]
fn large_stdio_line_releases_its_memory_in_linear_time() {
    let mut decoder = LineDecoder::new(16 * 1024 * 1024);
    let mut buffer = BytesMut::new();
    let before = thread_processor_time();
    for _ in 0..16 * 1024 {
        buffer.extend_from_slice(&[b'x'; 1024 - 1]);
        assert_eq!(decoder.decode(&mut buffer).unwrap(), None, "no line must be returned before the newline");
    }
    buffer.extend_from_slice(b"\n{}");
    let line = decoder.decode(&mut buffer).unwrap();
    assert!(
        matches!(&line, Some(DecodedLine::Whole(bytes)) if bytes.len() == 16 * 1024 * 1023),
        "the line must be complete"
    );
    assert!(
        buffer.capacity() < 256 * 1024,
        "the 16 MiB buffer must be released, but {} bytes are retained",
        buffer.capacity()
    );
    let took = thread_processor_time() - before;
    assert!(took < Duration::from_secs(4), "a line in 16,384 pieces must be scanned once, not in {took:?}");
}
