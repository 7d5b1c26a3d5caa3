//! Advances over tokens of JSON bytes: white space, numbers, literals and strings. Used by `json_scanner.rs`.

/// Returns the position of the first byte at or after `at` that is not white space.
#[inline(always)]
pub(super) fn skip_whitespace(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Returns the position of the value that follows a key and its colon. `at` is the position of the key's opening quote.
#[inline(always)]
pub(super) fn key_and_colon_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let (end, _) = string_end(bytes, at + 1)?;
    let colon = skip_whitespace(bytes, end);
    (bytes.get(colon) == Some(&b':')).then(|| skip_whitespace(bytes, colon + 1))
}

pub(super) fn literal_end(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}

pub(super) fn number_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    at += usize::from(bytes.get(at) == Some(&b'-'));
    let start = at;
    at = digits_end(bytes, at)?;
    if bytes.get(start) == Some(&b'0') && at > start + 1 {
        return None;
    }
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        at = digits_end(bytes, at)?;
    }
    Some(at)
}

/// Returns the position after one or more digits, or `None` if no digit is at `start`.
fn digits_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    (at > start).then_some(at)
}

/// Returns the position after a string whose opening quote is directly before `at`, and `true` if the string has
/// escapes.
#[inline(always)]
pub(super) fn string_end(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    // Nearly all strings are short and without escapes.
    let near = find_special_byte(bytes, at);
    if bytes.get(near) == Some(&b'"') { Some((near + 1, false)) } else { long_string_end(bytes, near) }
}

fn long_string_end(bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut escapes = false;
    loop {
        at = find_quote_or_backslash(bytes, at)?;
        if bytes.get(at)? == &b'"' {
            return Some((at + 1, escapes));
        }
        at = find_special_byte(bytes, escape_end(bytes, at + 1)?);
        escapes = true;
    }
}

/// Returns the position of the first quote, backslash or control character in the next 32 bytes, or the position after
/// the examined bytes if there is none.
#[inline(always)]
fn find_special_byte(bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..4 {
        let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) else { break };
        let found = special_byte_mask(u64::from_le_bytes(*word));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at
}

/// Returns the position of the next quote or backslash, or `None` if a control character or the end of `bytes` is
/// before it.
pub(super) fn find_quote_or_backslash(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let rest = bytes.get(at..)?;
        let block = rest.get(..STRING_SCAN_BLOCK_BYTES).unwrap_or(rest);
        let found = memchr::memchr2(b'"', b'\\', block);
        let passed = block.get(..found.unwrap_or(block.len()))?;
        if passed.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < b' ' {
            return None;
        }
        at += passed.len();
        if found.is_some() {
            return Some(at);
        }
        if block.len() < STRING_SCAN_BLOCK_BYTES {
            return None;
        }
        while bytes.get(at..).and_then(<[u8]>::first_chunk).is_some_and(has_no_special_byte) {
            at += STRING_SCAN_BLOCK_BYTES;
        }
    }
}

/// Number of bytes of a long string that are examined at once.
const STRING_SCAN_BLOCK_BYTES: usize = 1024;

/// Returns `true` if the block has no quote, backslash or control character. Has no branch per byte, so that the
/// compiler can vectorize the loop.
fn has_no_special_byte(block: &[u8; STRING_SCAN_BLOCK_BYTES]) -> bool {
    let (mut quote, mut backslash, mut least) = (u8::MAX, u8::MAX, u8::MAX);
    for byte in block {
        quote = quote.min(byte ^ b'"');
        backslash = backslash.min(byte ^ b'\\');
        least = least.min(*byte);
    }
    quote != 0 && backslash != 0 && least >= b' '
}

/// Returns the position after a string's escape whose backslash is directly before `at`. Returns `None` if the escape
/// is invalid or only half of a surrogate pair.
fn escape_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => {
            let unit = parse_utf16_code_unit(bytes, at)?;
            if (0xd800..0xdc00).contains(&unit) {
                let low = literal_end(bytes, at + 5, b"\\").and_then(|at| parse_utf16_code_unit(bytes, at))?;
                return (0xdc00..0xe000).contains(&low).then_some(at + 11);
            }
            (!(0xdc00..0xe000).contains(&unit)).then_some(at + 5)
        }
        _ => None,
    }
}

/// Returns the code unit of an escape whose `u` and four hexadecimal digits begin at `at`.
fn parse_utf16_code_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let [b'u', digits @ ..] = bytes.get(at..)?.first_chunk::<5>()? else { return None };
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

/// Returns a mask whose lowest set bit marks the first quote, backslash or control character of eight bytes. Higher
/// bits may be set for other bytes.
const fn special_byte_mask(word: u64) -> u64 {
    const ONE_IN_EACH_BYTE: u64 = u64::MAX / 0xff;
    const fn bytes_below_mask(word: u64, limit: u8) -> u64 {
        word.wrapping_sub(ONE_IN_EACH_BYTE * limit as u64) & !word & (ONE_IN_EACH_BYTE << 7)
    }
    bytes_below_mask(word, b' ')
        | bytes_below_mask(word ^ (ONE_IN_EACH_BYTE * b'"' as u64), 1)
        | bytes_below_mask(word ^ (ONE_IN_EACH_BYTE * b'\\' as u64), 1)
}
