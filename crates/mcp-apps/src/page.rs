//! Extracts the page of an app from the result of `resources/read`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_proto::types::Map;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::media_type::{MediaTypeClassification, classify_media_type};
use crate::metadata::AppPageMetadata;
use crate::resource_uri::UiUri;
use crate::sandbox_policy::DeclaredCspSources;
use crate::text::UntrustedTextExcerpt;

/// Maximum size of an app page in bytes, after decoding.
pub const MAX_APP_PAGE_BYTES: usize = 8 * 1024 * 1024;
/// Maximum number of content items that are searched for the app page.
const MAX_SEARCHED_CONTENT_ITEMS: usize = 16;
/// Prefix of the hashed bytes, which identifies the version of the hash's format.
const PAGE_HASH_PREFIX: &[u8] = b"mcp-apps page 1\0";

/// A valid page of an app, with its metadata and the hash that identifies the reviewed version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppPage {
    /// URI under which the app page was requested.
    pub uri: UiUri,
    /// TEST_PAGE_HTML document. Untrusted: only a sandboxed frame with the app page's policy may load it.
    pub html: String,
    /// Domains, permissions and appearance that the app page requests.
    pub metadata: AppPageMetadata,
    /// Hash over `uri`, `html` and the metadata as declared.
    pub hash: AppPageHash,
    /// URI of the app page in the server's result, or `None` if it is identical to `uri`.
    pub echoed_uri: Option<UntrustedTextExcerpt>,
}

/// SHA-256 over an app page's URI, document and declared metadata. The user's review of a page is valid for one hash
/// only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AppPageHash([u8; 32]);

impl AppPageHash {
    fn of(uri: &UiUri, html: &str, metadata: &AppPageMetadata) -> Result<Self, AppPageReadError> {
        let metadata = serde_json::to_vec(metadata).map_err(|error| AppPageReadError::Metadata(error.to_string()))?;
        let mut hash = Sha256::new();
        hash.update(PAGE_HASH_PREFIX);
        // The length before each part makes the boundaries between the parts unambiguous.
        for part in [uri.as_str().as_bytes(), html.as_bytes(), &metadata] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Ok(Self(hash.finalize().into()))
    }

    /// Returns the 32 bytes of the hash.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for AppPageHash {
    /// Formats the hash as 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Reason why a result of `resources/read` is not an app page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppPageReadError {
    /// The result has no list `contents` of objects.
    #[error("the result has no list of contents")]
    NoContents,
    /// No content item has the media type of pages. Contains the media type of the first item.
    #[error("the media type is {0}, not text/html;profile=mcp-app")]
    OtherType(UntrustedTextExcerpt),
    /// The content item has the media type `text/html+mcp`, which drafts of the specification used.
    #[error("the media type is text/html+mcp, which only drafts of MCP Apps used; the server has to be updated")]
    DraftType,
    /// Several content items are pages.
    #[error("the result has {0} pages instead of one")]
    SeveralPages(usize),
    /// The app page has another URI than the requested one. Contains the URI in the result.
    #[error("the result is for another URI: {0}")]
    OtherUri(UntrustedTextExcerpt),
    /// The content item has neither `text` nor `blob`, or both.
    #[error("the content has not exactly one of text and blob")]
    NoBody,
    /// The blob is not base64.
    #[error("the blob is not base64")]
    NotBase64,
    /// The decoded blob is not UTF-8.
    #[error("the blob is not UTF-8 text")]
    NotUtf8,
    /// The document has no characters other than white space.
    #[error("the page is empty")]
    Empty,
    /// The document is larger than [`MAX_APP_PAGE_BYTES`].
    #[error("the page is larger than {} MiB", MAX_APP_PAGE_BYTES / (1024 * 1024))]
    TooLarge,
    /// The metadata could not be serialized for the hash.
    #[error("the metadata can't be hashed: {0}")]
    Metadata(String),
}

impl AppPage {
    /// Extracts the app page from `result`, the result of `resources/read` for `uri`. `listed` is the entry of the same
    /// URI in `resources/list`, whose metadata is used if the content item has none.
    ///
    /// # Errors
    ///
    /// Returns [`AppPageReadError`] with the reason why the result is not exactly one page of acceptable size.
    pub fn from_read_result(uri: &UiUri, result: &Map, listed: Option<&Map>) -> Result<Self, AppPageReadError> {
        let item = find_app_page_content_item(result)?;
        let echoed = item.get("uri").and_then(Value::as_str).unwrap_or(uri.as_str());
        if !uri.matches_echoed_uri(echoed) {
            return Err(AppPageReadError::OtherUri(UntrustedTextExcerpt::of(echoed)));
        }
        let html = decode_app_page_html(item)?;
        if html.trim().is_empty() {
            return Err(AppPageReadError::Empty);
        }
        let metadata = AppPageMetadata::read(item, listed);
        let hash = AppPageHash::of(uri, &html, &metadata)?;
        let echoed_uri = (echoed != uri.as_str()).then(|| UntrustedTextExcerpt::of(echoed));
        Ok(Self { uri: uri.clone(), html, metadata, hash, echoed_uri })
    }
}

impl AppPage {
    /// Describes the access that the app page requests, one text for each origin and permission, such as
    /// `connectDomains https://example.com` or `camera`.
    #[must_use]
    pub fn requested_access_texts(&self) -> Vec<String> {
        let declared = self.metadata.domains.as_ref().map(DeclaredCspSources::parse).unwrap_or_default();
        let sources = declared.iter().map(|(used_as, source)| format!("{} {source}", used_as.metadata_name()));
        let permissions = self.metadata.permissions.iter().map(|permission| permission.metadata_name().to_owned());
        sources.chain(permissions).collect()
    }
}

/// Returns the content item with the media type of pages, if there is exactly one.
fn find_app_page_content_item(result: &Map) -> Result<&Map, AppPageReadError> {
    let contents = result.get("contents").and_then(Value::as_array).ok_or(AppPageReadError::NoContents)?;
    let items: Vec<&Map> = contents.iter().take(MAX_SEARCHED_CONTENT_ITEMS).filter_map(Value::as_object).collect();
    let type_of = |item: &Map| item.get("mimeType").and_then(Value::as_str).unwrap_or_default().to_owned();
    let pages: Vec<&Map> = items
        .iter()
        .copied()
        .filter(|item| classify_media_type(&type_of(item)) == MediaTypeClassification::Page)
        .collect();
    match (pages[..].first(), pages.len()) {
        (Some(page), 1) => Ok(page),
        (Some(_), count) => Err(AppPageReadError::SeveralPages(count)),
        (None, _) => {
            let first = items.first().ok_or(AppPageReadError::NoContents)?;
            match classify_media_type(&type_of(first)) {
                MediaTypeClassification::Draft => Err(AppPageReadError::DraftType),
                MediaTypeClassification::Page | MediaTypeClassification::Other => {
                    Err(AppPageReadError::OtherType(UntrustedTextExcerpt::of(&type_of(first))))
                }
            }
        }
    }
}

fn decode_app_page_html(item: &Map) -> Result<String, AppPageReadError> {
    let member = |name: &str| item.get(name).filter(|value| !value.is_null());
    match (member("text"), member("blob")) {
        (Some(Value::String(text)), None) if text.len() <= MAX_APP_PAGE_BYTES => Ok(text.clone()),
        (None, Some(Value::String(blob))) if blob.len() / 4 * 3 <= MAX_APP_PAGE_BYTES + 3 => {
            let bytes = STANDARD.decode(blob.trim()).map_err(|_| AppPageReadError::NotBase64)?;
            if bytes.len() > MAX_APP_PAGE_BYTES {
                return Err(AppPageReadError::TooLarge);
            }
            String::from_utf8(bytes).map_err(|_| AppPageReadError::NotUtf8)
        }
        (Some(Value::String(_)), None) | (None, Some(Value::String(_))) => Err(AppPageReadError::TooLarge),
        _ => Err(AppPageReadError::NoBody),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEST_PAGE_MIME_TYPE: &str = "text/html;profile=mcp-app";
    const TEST_PAGE_HTML: &str = "<!doctype html><title>Clock</title>";

    fn read_app_page(result: &Value) -> Result<AppPage, AppPageReadError> {
        let uri = UiUri::parse("ui://clock/app.html").unwrap();
        AppPage::from_read_result(&uri, result.as_object().unwrap(), None)
    }

    fn page_content_item(member: &str, body: &str) -> Value {
        json!({ "uri": "ui://clock/app.html", "mimeType": TEST_PAGE_MIME_TYPE, member: body })
    }

    #[test]
    fn text_and_blob_contents_give_the_same_page() {
        let text = read_app_page(&json!({ "contents": [page_content_item("text", TEST_PAGE_HTML)] })).unwrap();
        let blob = read_app_page(&json!({ "contents": [page_content_item("blob", &STANDARD.encode(TEST_PAGE_HTML))] }))
            .unwrap();
        assert_eq!((text.html.as_str(), text.echoed_uri.clone()), (TEST_PAGE_HTML, None));
        assert_eq!(text, blob);
        assert_eq!(text.hash.to_string().len(), 64);
    }

    #[test]
    fn read_result_must_contain_exactly_one_page() {
        assert_eq!(read_app_page(&json!({})), Err(AppPageReadError::NoContents));
        assert_eq!(read_app_page(&json!({ "contents": [] })), Err(AppPageReadError::NoContents));
        assert_eq!(read_app_page(&json!({ "contents": ["text"] })), Err(AppPageReadError::NoContents));
        let page = page_content_item("text", TEST_PAGE_HTML);
        assert_eq!(read_app_page(&json!({ "contents": [page, page] })), Err(AppPageReadError::SeveralPages(2)));
        let other = json!({ "uri": "ui://clock/app.css", "mimeType": "text/css", "text": "" });
        assert!(read_app_page(&json!({ "contents": [other, page] })).is_ok(), "items of other types are ignored");
    }

    // [apps-html-only]
    #[test]
    fn error_for_another_media_type_names_it() {
        let with_type = |mime: Value| json!({ "contents": [{ "uri": "ui://clock/app.html", "mimeType": mime, "text": TEST_PAGE_HTML }] });
        assert_eq!(read_app_page(&with_type(json!("text/html+mcp"))), Err(AppPageReadError::DraftType));
        assert_eq!(
            read_app_page(&with_type(json!("text/html"))),
            Err(AppPageReadError::OtherType(UntrustedTextExcerpt::of("text/html")))
        );
        assert_eq!(read_app_page(&with_type(json!(5))), Err(AppPageReadError::OtherType(UntrustedTextExcerpt::of(""))));
        assert!(read_app_page(&with_type(json!("Text/HTML; Profile=\"MCP-App\""))).is_ok());
    }

    #[test]
    fn echoed_uri_may_differ_slightly_but_not_name_another_page() {
        let with_uri = |uri: &str| json!({ "contents": [{ "uri": uri, "mimeType": TEST_PAGE_MIME_TYPE, "text": TEST_PAGE_HTML }] });
        let page = read_app_page(&with_uri("ui://Clock/app.html/")).unwrap();
        assert_eq!(page.echoed_uri, Some(UntrustedTextExcerpt::of("ui://Clock/app.html/")));
        assert_eq!(page.hash, read_app_page(&with_uri("ui://clock/app.html")).unwrap().hash);
        assert!(matches!(read_app_page(&with_uri("ui://clock/other.html")), Err(AppPageReadError::OtherUri(_))));
        assert!(
            read_app_page(&json!({ "contents": [{ "mimeType": TEST_PAGE_MIME_TYPE, "text": TEST_PAGE_HTML }] }))
                .is_ok()
        );
    }

    #[test]
    fn page_body_is_validated() {
        let body = |members: Value| {
            let mut item = members;
            item["mimeType"] = json!(TEST_PAGE_MIME_TYPE);
            read_app_page(&json!({ "contents": [item] })).map(|page| page.html)
        };
        assert_eq!(body(json!({})), Err(AppPageReadError::NoBody));
        assert_eq!(body(json!({ "text": TEST_PAGE_HTML, "blob": "" })), Err(AppPageReadError::NoBody));
        assert_eq!(body(json!({ "text": TEST_PAGE_HTML, "blob": null })), Ok(TEST_PAGE_HTML.to_owned()));
        assert_eq!(body(json!({ "text": 5 })), Err(AppPageReadError::NoBody));
        assert_eq!(body(json!({ "text": " \n" })), Err(AppPageReadError::Empty));
        assert_eq!(body(json!({ "blob": "%%%" })), Err(AppPageReadError::NotBase64));
        assert_eq!(body(json!({ "blob": STANDARD.encode([0xff, 0xfe]) })), Err(AppPageReadError::NotUtf8));
    }

    #[test]
    fn page_size_is_limited_after_decoding() {
        let largest = "a".repeat(MAX_APP_PAGE_BYTES);
        let larger = "a".repeat(MAX_APP_PAGE_BYTES + 1);
        for (member, encode) in [("text", str::to_owned as fn(&str) -> String), ("blob", |text| STANDARD.encode(text))]
        {
            assert!(
                read_app_page(&json!({ "contents": [page_content_item(member, &encode(&largest))] })).is_ok(),
                "{member}"
            );
            let refused = read_app_page(&json!({ "contents": [page_content_item(member, &encode(&larger))] }));
            assert_eq!(refused, Err(AppPageReadError::TooLarge), "{member}");
        }
    }

    #[test]
    fn page_hash_covers_document_uri_and_declared_metadata() {
        let page = |html: &str, ui: Value| {
            let item = json!({ "mimeType": TEST_PAGE_MIME_TYPE, "text": html, "_meta": { "ui": ui } });
            read_app_page(&json!({ "contents": [item] })).unwrap().hash
        };
        let plain = page(TEST_PAGE_HTML, json!({}));
        assert_eq!(plain, page(TEST_PAGE_HTML, json!({ "unknown": 1 })), "ignored members change nothing");
        let others = [
            page("<!doctype html>", json!({})),
            page(TEST_PAGE_HTML, json!({ "csp": {} })),
            page(TEST_PAGE_HTML, json!({ "csp": { "connectDomains": ["https://a.example"] } })),
            page(TEST_PAGE_HTML, json!({ "csp": { "resourceDomains": ["https://a.example"] } })),
            page(TEST_PAGE_HTML, json!({ "permissions": { "camera": {} } })),
            page(TEST_PAGE_HTML, json!({ "domain": "a" })),
            page(TEST_PAGE_HTML, json!({ "prefersBorder": true })),
        ];
        let distinct: std::collections::BTreeSet<AppPageHash> = others.into_iter().chain([plain]).collect();
        assert_eq!(distinct.len(), 8, "each change should change the hash");
        let result = json!({ "contents": [{ "mimeType": TEST_PAGE_MIME_TYPE, "text": TEST_PAGE_HTML }] });
        let elsewhere = UiUri::parse("ui://other").unwrap();
        let elsewhere = AppPage::from_read_result(&elsewhere, result.as_object().unwrap(), None).unwrap();
        assert_ne!(elsewhere.hash, plain);
    }

    #[test]
    fn hash_changes_if_text_moves_from_page_body_to_uri() {
        let hash = |uri: &str, html: &str| {
            let result = json!({ "contents": [{ "mimeType": TEST_PAGE_MIME_TYPE, "text": html }] });
            AppPage::from_read_result(&UiUri::parse(uri).unwrap(), result.as_object().unwrap(), None).unwrap().hash
        };
        assert_ne!(hash("ui://a", "bc"), hash("ui://ab", "c"));
    }

    #[test]
    fn metadata_of_the_list_entry_is_part_of_the_hash() {
        let uri = UiUri::parse("ui://clock/app.html").unwrap();
        let result = json!({ "contents": [{ "mimeType": TEST_PAGE_MIME_TYPE, "text": TEST_PAGE_HTML }] });
        let listed = json!({ "_meta": { "ui": { "permissions": { "camera": {} } } } });
        let alone = AppPage::from_read_result(&uri, result.as_object().unwrap(), None).unwrap();
        let with_entry = AppPage::from_read_result(&uri, result.as_object().unwrap(), listed.as_object()).unwrap();
        assert_ne!(alone.hash, with_entry.hash);
    }
}
