//! The signature after a bundle. It has no effect on security.
//!
//! The format is that of `mcpb sign`: `MCPB_SIG_V1`, four bytes of length, a detached PKCS#7 SignedData in DER,
//! `MCPB_SIG_END`. The official tools verify none (issues 21, 260 and 277 of the format's repository), publishers'
//! certificates have no common root, and depending on the version of the signer the signed bytes differ from the
//! stored ones. Therefore only the signer's name is read, and shown as a claim.

use cms::cert::CertificateChoices;
use cms::cert::x509::Certificate;
use cms::cert::x509::attr::AttributeTypeAndValue;
use cms::cert::x509::der::asn1::{ObjectIdentifier, PrintableStringRef, TeletexStringRef, Utf8StringRef};
use cms::cert::x509::der::{Decode as _, Tagged as _};
use cms::content_info::ContentInfo;
use cms::signed_data::{SignedData, SignerIdentifier};
use foreign::escape_invisible;
use installs::BundleSignature;

const BLOCK_START_MARKER: &[u8] = b"MCPB_SIG_V1";
const BLOCK_END_MARKER: &[u8] = b"MCPB_SIG_END";
const LENGTH_FIELD_BYTES: usize = 4;
/// Maximum size, in bytes, of the signature block after an archive: the maximum length of a ZIP archive's comment.
pub(crate) const MAX_SIGNATURE_BLOCK_BYTES: usize = u16::MAX as usize;
/// Maximum length of the displayed name of the signer, in characters.
const MAX_SIGNER_NAME_CHARS: usize = 200;
const COMMON_NAME_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

/// Parses the signature block of a bundle, as returned by [`split_signature_block`].
pub(crate) fn parse_signature(block: Option<&[u8]>) -> BundleSignature {
    let Some(block) = block else { return BundleSignature::Absent };
    let der = &block[BLOCK_START_MARKER.len() + LENGTH_FIELD_BYTES..block.len() - BLOCK_END_MARKER.len()];
    signer_common_name(der).map_or(BundleSignature::Unreadable, |name| BundleSignature::Claimed { name })
}

/// Splits the last bytes of a bundle file into the end of the archive and the signature block after it. Returns `None`
/// as the block if there is no well-formed one.
pub(crate) fn split_signature_block(tail: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(before_end) = tail.strip_suffix(BLOCK_END_MARKER) else { return (tail, None) };
    let begins = (0..before_end.len()).rev().filter(|at| before_end[*at..].starts_with(BLOCK_START_MARKER));
    for at in begins {
        let rest = &before_end[at + BLOCK_START_MARKER.len()..];
        let Some((length, der)) = rest.split_first_chunk::<LENGTH_FIELD_BYTES>() else { continue };
        if u32::from_le_bytes(*length) as usize == der.len() && tail.len() - at <= MAX_SIGNATURE_BLOCK_BYTES {
            return (&tail[..at], Some(&tail[at..]));
        }
    }
    (tail, None)
}

/// Returns the common name of the first signer in a PKCS#7 structure, encoded in DER.
fn signer_common_name(der: &[u8]) -> Option<String> {
    let signed: SignedData = ContentInfo::from_der(der).ok()?.content.decode_as().ok()?;
    let SignerIdentifier::IssuerAndSerialNumber(id) = &signed.signer_infos.0.as_slice().first()?.sid else {
        return None;
    };
    let certificates = signed.certificates.as_ref()?.0.iter().filter_map(|certificate| match certificate {
        CertificateChoices::Certificate(certificate) => Some(certificate),
        CertificateChoices::Other(_) => None,
    });
    let is_the_signers = |certificate: &&Certificate| {
        let certificate = &certificate.tbs_certificate;
        certificate.issuer == id.issuer && certificate.serial_number == id.serial_number
    };
    let certificate = certificates.into_iter().find(is_the_signers)?;
    let mut attributes = certificate.tbs_certificate.subject.0.iter().flat_map(|part| part.0.iter());
    let name = attribute_text(attributes.find(|attribute| attribute.oid == COMMON_NAME_OID)?)?;
    let name: String = escape_invisible(name.trim()).chars().take(MAX_SIGNER_NAME_CHARS).collect();
    (!name.is_empty()).then_some(name)
}

fn attribute_text(attribute: &AttributeTypeAndValue) -> Option<String> {
    use cms::cert::x509::der::Tag;
    let value = &attribute.value;
    Some(match value.tag() {
        Tag::Utf8String => Utf8StringRef::try_from(value).ok()?.as_str().to_owned(),
        Tag::PrintableString => PrintableStringRef::try_from(value).ok()?.as_str().to_owned(),
        Tag::TeletexString => TeletexStringRef::try_from(value).ok()?.as_str().to_owned(),
        _ => return None,
    })
}
