//! Tests of hostile archives: each is refused with its reason, and leaves nothing on disk.

use std::fs;

use bundles::{ArchiveRefusal, PathProblem};

use crate::sample::{BundleFolder, assert_refused, valid_zip};
use crate::zip_writer::{Zip, ZipEntry, crc32, end_record};

/// Returns a deflate stream of `packed` bytes that unpacks to zeros at a ratio of more than 1,000: each zero byte of it
/// encodes four matches of 258 zeros (RFC 1951, section 3.2.7).
fn deflated_zeros(packed: usize) -> Vec<u8> {
    let mut bits: Vec<bool> = Vec::new();
    let mut number = |value: u32, count: u32| bits.extend((0..count).map(|bit| value >> bit & 1 == 1));
    number(1, 1);
    number(2, 2);
    // 286 codes for literals and lengths, one for distances, 18 code lengths for the code length alphabet.
    number(29, 5);
    number(0, 5);
    number(14, 4);
    for at in 0..18 {
        number(
            match at {
                2 => 1,
                15 | 17 => 2,
                _ => 0,
            },
            3,
        );
    }
    // 18 is `0`, 1 is `10`, 2 is `11`: literal 0 has two bits, the end two, length 258 one, distance 1 one.
    let (one, two) = ((1, 2), (3, 2));
    let runs = |zeros: u32| [(0, 1), (zeros - 11, 7)];
    let codes = [vec![two], runs(138).to_vec(), runs(117).to_vec(), vec![two], runs(28).to_vec(), vec![one, one]];
    for (value, count) in codes.concat() {
        number(value, count);
    }
    // After one literal, all bits encode matches, and no end-of-block code follows.
    number(1, 2);
    let mut bytes: Vec<u8> = Vec::new();
    for byte in bits.chunks(8) {
        bytes.push(byte.iter().enumerate().map(|(at, bit)| u8::from(*bit) << at).sum());
    }
    bytes.resize(packed, 0);
    bytes
}

fn zip_bomb(name: &str, packed: usize, size: u32) -> ZipEntry {
    ZipEntry { data: deflated_zeros(packed), method: 8, size, ..ZipEntry::stored(name, b"") }
}

#[test]
fn decompression_bomb_of_ten_megabytes_is_rejected() {
    // Each of the five entries declares its real unpacked size. Four of them share the data of the first.
    let mut all = Zip::with_entries([zip_bomb("zero", 10 << 20, 0xffff_fff0)]);
    all.entries
        .extend((1..5).map(|n| ZipEntry { shares: Some(0), ..zip_bomb(&format!("zero-{n}"), 10 << 20, 0xffff_fff0) }));
    assert!(all.to_bytes().len() < 11 << 20);
    assert_refused(&all.to_bytes(), &ArchiveRefusal::FileTooLarge("zero".to_owned()));
    // An entry within the size limit of a file, but with a compression ratio above the limit.
    assert_refused(
        &Zip::with_entries([zip_bomb("zero", 256 << 10, 256 << 20)]).to_bytes(),
        &ArchiveRefusal::Ratio("zero".to_owned()),
    );
    // Each file is too small for the limit of the ratio, but the whole bundle exceeds it.
    let many = (0..300).map(|n| zip_bomb(&format!("zero-{n}"), 1 << 10, 1 << 20));
    assert_refused(&Zip::with_entries(many).to_bytes(), &ArchiveRefusal::TotalRatio);
    // Entries with an accepted compression ratio, but with a total size above the limit.
    let many = (0..3).map(|n| ZipEntry { shares: Some(0), ..zip_bomb(&format!("zero-{n}"), 1 << 20, 200 << 20) });
    assert_refused(&Zip::with_entries(many).to_bytes(), &ArchiveRefusal::UnpackedTooLarge);
    // The entry declares less than its data unpacks to, so unpacking stops at the declared size.
    assert_refused(
        &valid_zip().add_entry(zip_bomb("zero", 10 << 20, 1 << 20)).to_bytes(),
        &ArchiveRefusal::SizeDiffers("zero".to_owned()),
    );
}

#[test]
fn file_that_differs_from_its_declared_size_or_checksum_is_rejected() {
    let refuse =
        |entry: ZipEntry, expected: ArchiveRefusal| assert_refused(&valid_zip().add_entry(entry).to_bytes(), &expected);
    let file = || ZipEntry::file("a", b"some text");
    refuse(ZipEntry { size: 10, ..file() }, ArchiveRefusal::SizeDiffers("a".to_owned()));
    refuse(ZipEntry { size: 8, ..file() }, ArchiveRefusal::SizeDiffers("a".to_owned()));
    refuse(ZipEntry { crc: crc32(b"other"), ..file() }, ArchiveRefusal::Checksum("a".to_owned()));
    refuse(ZipEntry { data: b"\xff\xff\xff".to_vec(), ..file() }, ArchiveRefusal::Damaged("a".to_owned()));
    refuse(ZipEntry { size: 3, ..ZipEntry::stored("a", b"four") }, ArchiveRefusal::SizeDiffers("a".to_owned()));
    let more = [file().data, b"hidden behind the data".to_vec()].concat();
    refuse(ZipEntry { data: more, ..file() }, ArchiveRefusal::SizeDiffers("a".to_owned()));
}

#[test]
fn archive_with_a_million_entries_is_rejected() {
    let mut directory = Vec::new();
    for number in 0..1_000_000 {
        directory.extend(ZipEntry::stored(&format!("{number:07}"), b"").central_header(0));
    }
    let with = |count: u16| [directory.clone(), end_record(count, directory.len() as u32, 0)].concat();
    // The 16-bit number of entries in the end record wraps around at 65,536.
    assert_refused(&with((1_000_000_usize % 65_536) as u16), &ArchiveRefusal::TooManyEntries);
    assert_refused(&with(5), &ArchiveRefusal::TooManyEntries);
    assert_refused(&with(u16::MAX), &ArchiveRefusal::Zip64);
    // More entries than the end record declares, in a directory that is small enough.
    assert_refused(
        &Zip { count: Some(2), ..valid_zip().add_entry(ZipEntry::file("a", b"")) }.to_bytes(),
        &ArchiveRefusal::Directory,
    );
    assert_refused(
        &Zip { count: Some(4), ..valid_zip().add_entry(ZipEntry::file("a", b"")) }.to_bytes(),
        &ArchiveRefusal::Directory,
    );
}

#[test]
fn paths_outside_the_bundle_are_rejected() {
    for (path, problem) in [
        ("../escape", PathProblem::Dots),
        ("server/../../escape", PathProblem::Dots),
        ("server/..", PathProblem::Dots),
        ("./a", PathProblem::Dots),
        ("..\\escape", PathProblem::Backslash),
        ("server\\..\\..\\escape", PathProblem::Backslash),
        ("/etc/escape", PathProblem::Absolute),
        ("//host/share/escape", PathProblem::Absolute),
        ("\\\\host\\share", PathProblem::Backslash),
        ("C:/escape", PathProblem::Colon),
        ("C:escape", PathProblem::Colon),
        ("server/index.js:stream", PathProblem::Colon),
        ("a\0b", PathProblem::Control),
        ("a\nb", PathProblem::Control),
        ("", PathProblem::Empty),
        ("/", PathProblem::Empty),
        ("a//b", PathProblem::Empty),
        ("a//", PathProblem::Empty),
    ] {
        let expected = ArchiveRefusal::Path { path: path.to_owned(), problem };
        assert_refused(&valid_zip().add_entry(ZipEntry::file(path, b"x")).to_bytes(), &expected);
    }
    let latin = ZipEntry { name: b"caf\xe9".to_vec(), ..ZipEntry::file("", b"x") };
    let problem = PathProblem::NotUtf8;
    assert_refused(
        &valid_zip().add_entry(latin.clone()).to_bytes(),
        &ArchiveRefusal::Path { path: "caf\u{fffd}".to_owned(), problem },
    );
    let unmarked = ZipEntry { flags: 0, ..ZipEntry::file("café", b"x") };
    assert_refused(
        &valid_zip().add_entry(unmarked).to_bytes(),
        &ArchiveRefusal::Path { path: "café".to_owned(), problem },
    );
}

#[test]
fn links_and_paths_through_links_are_rejected() {
    for mode in [0o120_777, 0o020_666, 0o060_666, 0o010_644, 0o140_755] {
        let special = ZipEntry::stored("server/link", b"/tmp").mode(mode);
        let through = ZipEntry::file("server/link/escape", b"x");
        assert_refused(
            &valid_zip().add_entry(special).add_entry(through).to_bytes(),
            &ArchiveRefusal::SpecialFile("server/link".to_owned()),
        );
    }
    for mode in [0o104_755, 0o102_755] {
        assert_refused(
            &valid_zip().add_entry(ZipEntry::file("a", b"x").mode(mode)).to_bytes(),
            &ArchiveRefusal::SetUserId("a".to_owned()),
        );
    }
    let kind = |entry: ZipEntry, path: &str| {
        assert_refused(&valid_zip().add_entry(entry).to_bytes(), &ArchiveRefusal::KindDiffers(path.to_owned()))
    };
    kind(ZipEntry::file("a", b"x").mode(0o040_755), "a");
    kind(ZipEntry::file("a/", b"").mode(0o100_644), "a");
    kind(ZipEntry { attributes: 0x10, ..ZipEntry::file("a", b"x") }, "a");
    kind(ZipEntry::stored("a/", b"x").mode(0o040_755), "a");
}

#[test]
fn differing_local_and_central_headers_are_rejected() {
    let mut other_manifest = valid_zip();
    other_manifest.entries[0].local_name = Some(b"manifest.jsom".to_vec());
    assert_refused(&other_manifest.to_bytes(), &ArchiveRefusal::HeadersDiffer("manifest.json".to_owned()));
    let second_name = b"up\x0b\0\x01\0\0\0\0server".to_vec();
    let with_second_name = ZipEntry { extra: second_name, ..ZipEntry::file("a", b"x") };
    assert_refused(&valid_zip().add_entry(with_second_name).to_bytes(), &ArchiveRefusal::SecondName("a".to_owned()));
    let mut other_size = valid_zip();
    other_size.entries[1].local_size = Some(1);
    assert_refused(&other_size.to_bytes(), &ArchiveRefusal::HeadersDiffer("server/index.js".to_owned()));
    for at in [6, 8, 14, 18, 22] {
        let mut bytes = valid_zip().to_bytes();
        bytes[at] ^= 2;
        assert_refused(&bytes, &ArchiveRefusal::HeadersDiffer("manifest.json".to_owned()));
    }
    let mut descriptor = valid_zip().add_entry(ZipEntry { descriptor: Some(true), ..ZipEntry::file("a", b"x") });
    let entry = descriptor.entries[2].clone();
    let length = descriptor.entries[..2].iter().map(|entry| entry.local_header().len()).sum::<usize>()
        + entry.local_header().len();
    let mut bytes = descriptor.to_bytes();
    bytes[length - 1] ^= 1;
    assert_refused(&bytes, &ArchiveRefusal::HeadersDiffer("a".to_owned()));
    descriptor.entries[2].local_size = Some(7);
    assert_refused(&descriptor.to_bytes(), &ArchiveRefusal::HeadersDiffer("a".to_owned()));
}

#[test]
fn data_outside_entries_is_rejected() {
    let hidden = |zip: Zip, at: usize, bytes: usize| {
        assert_refused(&zip.to_bytes(), &ArchiveRefusal::HiddenData { at: at as u64, bytes: bytes as u64 });
    };
    let entries = || valid_zip().entries.iter().map(|entry| entry.local_header().len()).sum::<usize>();
    let directory = || valid_zip().to_bytes().len() - 22;
    hidden(Zip { prefix: b"#!/bin/sh\n".to_vec(), ..valid_zip() }, 0, 10);
    hidden(Zip { gap: b"gap".to_vec(), ..valid_zip() }, entries(), 3);
    // Two directories: another program may use the other one.
    let other = ZipEntry::file("manifest.json", b"{}").central_header(0);
    hidden(Zip { gap: other.clone(), ..valid_zip() }, entries(), other.len());
    hidden(Zip { before_end: other.clone(), ..valid_zip() }, directory(), other.len());
    // A whole archive before another one.
    let first = valid_zip().to_bytes();
    hidden(Zip { prefix: first.clone(), ..valid_zip() }, 0, first.len());
    // A prefix that the offsets don't account for.
    assert_refused(
        &[b"MZ".to_vec(), valid_zip().to_bytes()].concat(),
        &ArchiveRefusal::HiddenData { at: directory() as u64, bytes: 2 },
    );
    assert_refused(&Zip { suffix: b"x".to_vec(), ..valid_zip() }.to_bytes(), &ArchiveRefusal::TrailingData);
    assert_refused(&Zip { comment: b"x".to_vec(), ..valid_zip() }.to_bytes(), &ArchiveRefusal::Comment);
    let mut promised = valid_zip().to_bytes();
    let length_at = promised.len() - 2;
    promised[length_at] = 5;
    assert_refused(&promised, &ArchiveRefusal::Comment);
    // A second end record in the comment of the first.
    assert_refused(
        &Zip { comment: end_record(0, 0, 0), ..valid_zip() }.to_bytes(),
        &ArchiveRefusal::HiddenData { at: 0, bytes: (directory() + 22) as u64 },
    );
    let overlap = ZipEntry { shares: Some(0), ..valid_zip().entries[0].clone() };
    let overlap = ZipEntry { name: b"manifest.copy".to_vec(), ..overlap };
    assert_refused(&valid_zip().add_entry(overlap).to_bytes(), &ArchiveRefusal::Overlap("manifest.copy".to_owned()));
}

#[test]
fn unsupported_archive_features_are_rejected() {
    let refuse =
        |entry: ZipEntry, expected: ArchiveRefusal| assert_refused(&valid_zip().add_entry(entry).to_bytes(), &expected);
    let file = || ZipEntry::file("a", b"x");
    for flag in [1, 1 << 6, 1 << 13] {
        refuse(ZipEntry { flags: flag, ..file() }, ArchiveRefusal::Encrypted("a".to_owned()));
    }
    for method in [1, 9, 12, 14, 93, 95, 99] {
        refuse(ZipEntry { method, ..file() }, ArchiveRefusal::Method { path: "a".to_owned(), method });
    }
    refuse(ZipEntry { extra: b"\x01\0\x08\0\0\0\0\0\0\0\0\0".to_vec(), ..file() }, ArchiveRefusal::Zip64);
    refuse(ZipEntry { size: u32::MAX, ..file() }, ArchiveRefusal::Zip64);
    assert_refused(
        &Zip { before_end: b"PK\x06\x07................".to_vec(), ..valid_zip() }.to_bytes(),
        &ArchiveRefusal::Zip64,
    );
    let mut split = valid_zip().to_bytes();
    let end_at = split.len() - 22;
    split[end_at + 4] = 1;
    assert_refused(&split, &ArchiveRefusal::SeveralDisks);
}

#[test]
fn invalid_archives_are_rejected() {
    assert_refused(b"", &ArchiveRefusal::NotAZip);
    assert_refused(&[7; 1000], &ArchiveRefusal::NotAZip);
    let whole = valid_zip().to_bytes();
    assert_refused(&whole[..whole.len() - 1], &ArchiveRefusal::NotAZip);
    assert_refused(&whole[..whole.len() / 2], &ArchiveRefusal::NotAZip);
    assert_refused(&end_record(0, 0, 0), &ArchiveRefusal::MissingFile("manifest.json".to_owned()));
    let without_entry_point = Zip::with_entries([valid_zip().entries[0].clone()]);
    assert_refused(&without_entry_point.to_bytes(), &ArchiveRefusal::MissingFile("server/index.js".to_owned()));
}

#[test]
fn archive_beyond_the_size_limit_is_rejected() {
    let disk = BundleFolder::with_file(b"");
    fs::File::create(disk.bundle_file()).unwrap().set_len(bundles::limits::MAX_ARCHIVE_BYTES + 1).unwrap();
    assert!(disk.install().unwrap_err().to_string().contains("larger than 512 MB"));
    disk.assert_contains_only(&[]);
}
