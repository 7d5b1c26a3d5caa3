//! Command that saves images, audio and other binary content from a server to a file that the user selects.
//!
//! The suggested file name consists of letters and digits of the title, and of the extension for a known media type.
//! The file's permissions let only the user read it, and Drawbridge neither executes nor opens it.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::arguments::saved_file_view;
use crate::data::{SaveMedia, SavedFile};
use crate::{Api, ApiError, ErrorCode};

/// Base64 decoder that accepts data with and without padding.
const BASE64_DECODER: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// File extension for unknown media types, which no program opens by default.
const UNKNOWN_MEDIA_TYPE_EXTENSION: &str = "bin";

/// File extensions of known media types. None of them belongs to an executable format.
const FILE_EXTENSION_BY_MEDIA_TYPE: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/avif", "avif"),
    ("image/bmp", "bmp"),
    ("image/tiff", "tiff"),
    ("audio/mpeg", "mp3"),
    ("audio/mp3", "mp3"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/wave", "wav"),
    ("audio/ogg", "ogg"),
    ("audio/flac", "flac"),
    ("audio/aac", "aac"),
    ("audio/mp4", "m4a"),
    ("audio/webm", "weba"),
    ("video/mp4", "mp4"),
    ("video/webm", "webm"),
    ("application/pdf", "pdf"),
    ("application/zip", "zip"),
    ("application/gzip", "gz"),
    ("application/json", "json"),
    ("text/plain", "txt"),
    ("text/csv", "csv"),
    ("text/markdown", "md"),
];

/// Returns the file extension for a media type, ignoring its parameters.
fn file_extension_for_media_type(mime_type: &str) -> &'static str {
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    FILE_EXTENSION_BY_MEDIA_TYPE
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(essence))
        .map_or(UNKNOWN_MEDIA_TYPE_EXTENSION, |(_, extension)| extension)
}

pub(super) async fn save_media(api: &Api, r: SaveMedia) -> Result<SavedFile, ApiError> {
    let bytes = BASE64_DECODER.decode(r.data).map_err(|error| {
        ApiError::new(ErrorCode::Invalid, format!("the server's data is not valid Base64: {error}"))
    })?;
    let name = foreign::safe_file_name(&r.title, "media", file_extension_for_media_type(&r.mime_type));
    Ok(saved_file_view(api.host.save_file(&name, move |file| file.write_all(&bytes)).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e21_file_extension_is_derived_from_known_media_types_only() {
        for (mime_type, expected) in [
            ("image/png", "png"),
            ("Image/JPEG; charset=x", "jpg"),
            ("audio/wav", "wav"),
            ("", "bin"),
            ("application/x-msdownload", "bin"),
            ("application/x-sh", "bin"),
            ("image/../../png", "bin"),
        ] {
            assert_eq!(file_extension_for_media_type(mime_type), expected, "of {mime_type:?}");
        }
    }
}
