//! Tests of signed bundles. `signature.bin` is the block written by `mcpb sign --self-signed`, version 2.1.2.

use bundles::{ArchiveRefusal, Signature};

use crate::sample::{BundleFolder, refused, valid};
use crate::zip_writer::Zip;

const BLOCK: &[u8] = include_bytes!("signature.bin");

fn signature(zip: &Zip) -> Signature {
    let disk = BundleFolder::with(&zip.bytes());
    disk.install().unwrap();
    disk.open().unwrap().archive.signature().clone()
}

fn block(der: &[u8]) -> Vec<u8> {
    [b"MCPB_SIG_V1", &(der.len() as u32).to_le_bytes()[..], der, b"MCPB_SIG_END"].concat()
}

#[test]
fn both_forms_of_a_signed_bundle_are_parsed() {
    let behind = signature(&Zip { suffix: BLOCK.to_vec(), ..valid() });
    let comment = signature(&Zip { comment: BLOCK.to_vec(), ..valid() });
    assert_eq!(behind.to_string(), "signed by MCPB Self-Signed Certificate (not checked)");
    assert_eq!(comment, behind);
    assert_eq!(signature(&valid()).to_string(), "not signed");
}

#[test]
fn invalid_signature_is_unreadable() {
    for der in [&b""[..], b"no certificate", &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &BLOCK[15..1000]] {
        assert_eq!(signature(&Zip { suffix: block(der), ..valid() }), Signature::Unreadable);
    }
}

#[test]
fn malformed_signature_block_is_rejected() {
    let trailing = |suffix: Vec<u8>| refused(&Zip { suffix, ..valid() }.bytes(), &ArchiveRefusal::TrailingData);
    let mut wrong_length = BLOCK.to_vec();
    wrong_length[11] ^= 1;
    trailing(wrong_length);
    trailing([BLOCK, b"x"].concat());
    trailing([b"x", BLOCK].concat());
    trailing([BLOCK, BLOCK].concat());
    // Too long for a signature, so the end record before it is not searched for.
    refused(&Zip { suffix: block(&[0; 70_000]), ..valid() }.bytes(), &ArchiveRefusal::NotAZip);
    // A comment that is not the whole block.
    let mut bytes = Zip { suffix: BLOCK.to_vec(), ..valid() }.bytes();
    let at = bytes.len() - BLOCK.len() - 2;
    bytes[at..at + 2].copy_from_slice(&5_u16.to_le_bytes());
    refused(&bytes, &ArchiveRefusal::Comment);
}
