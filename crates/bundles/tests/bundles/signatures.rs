//! Tests of signed bundles. `signature.bin` is the block written by `mcpb sign --self-signed`, version 2.1.2.

use bundles::ArchiveRefusal;
use installs::BundleSignature;

use crate::sample::{BundleFolder, assert_refused, valid_zip};
use crate::zip_writer::Zip;

const SIGNATURE_BLOCK: &[u8] = include_bytes!("signature.bin");

fn read_signature(zip: &Zip) -> BundleSignature {
    let disk = BundleFolder::with_file(&zip.to_bytes());
    disk.install().unwrap();
    disk.open().unwrap().archive.signature().clone()
}

fn signature_block(der: &[u8]) -> Vec<u8> {
    [b"MCPB_SIG_V1", &(der.len() as u32).to_le_bytes()[..], der, b"MCPB_SIG_END"].concat()
}

#[test]
fn both_forms_of_a_signed_bundle_are_parsed() {
    let behind = read_signature(&Zip { suffix: SIGNATURE_BLOCK.to_vec(), ..valid_zip() });
    let comment = read_signature(&Zip { comment: SIGNATURE_BLOCK.to_vec(), ..valid_zip() });
    assert_eq!(behind.to_string(), "signed by MCPB Self-Signed Certificate (not checked)");
    assert_eq!(comment, behind);
    assert_eq!(read_signature(&valid_zip()).to_string(), "not signed");
}

#[test]
fn invalid_signature_is_unreadable() {
    for der in [&b""[..], b"no certificate", &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &SIGNATURE_BLOCK[15..1000]] {
        assert_eq!(read_signature(&Zip { suffix: signature_block(der), ..valid_zip() }), BundleSignature::Unreadable);
    }
}

#[test]
fn malformed_signature_block_is_rejected() {
    let trailing =
        |suffix: Vec<u8>| assert_refused(&Zip { suffix, ..valid_zip() }.to_bytes(), &ArchiveRefusal::TrailingData);
    let mut wrong_length = SIGNATURE_BLOCK.to_vec();
    wrong_length[11] ^= 1;
    trailing(wrong_length);
    trailing([SIGNATURE_BLOCK, b"x"].concat());
    trailing([b"x", SIGNATURE_BLOCK].concat());
    trailing([SIGNATURE_BLOCK, SIGNATURE_BLOCK].concat());
    // The trailing data is longer than any signature block, so no end record is searched for before it.
    assert_refused(&Zip { suffix: signature_block(&[0; 70_000]), ..valid_zip() }.to_bytes(), &ArchiveRefusal::NotAZip);
    // The length of the ZIP comment is not that of the whole signature block.
    let mut bytes = Zip { suffix: SIGNATURE_BLOCK.to_vec(), ..valid_zip() }.to_bytes();
    let at = bytes.len() - SIGNATURE_BLOCK.len() - 2;
    bytes[at..at + 2].copy_from_slice(&5_u16.to_le_bytes());
    assert_refused(&bytes, &ArchiveRefusal::Comment);
}
