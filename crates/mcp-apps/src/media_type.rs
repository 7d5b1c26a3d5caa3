//! Media types of the pages that servers provide as apps.

/// Media type of pages of apps, which the host announces to servers.
pub const APP_PAGE_MEDIA_TYPE: &str = "text/html;profile=mcp-app";

/// Media type of pages of apps in drafts of the specification.
const DRAFT_APP_PAGE_MEDIA_TYPE: &str = "text/html+mcp";

/// Classification of a media type by whether it marks a page of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediaTypeClassification {
    /// The media type of pages of apps.
    Page,
    /// The media type of pages of apps in drafts of the specification.
    Draft,
    /// Any other media type, such as that of a plain HTML document.
    Other,
}

/// Classifies a media type. Letter case, spaces, quotation marks and further parameters do not matter.
pub(crate) fn classify_media_type(media_type: &str) -> MediaTypeClassification {
    let mut parts = media_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    if essence.eq_ignore_ascii_case(DRAFT_APP_PAGE_MEDIA_TYPE) {
        return MediaTypeClassification::Draft;
    }
    let is_profile = |parameter: &str| {
        let Some((name, value)) = parameter.split_once('=') else { return false };
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        name.trim().eq_ignore_ascii_case("profile") && value.eq_ignore_ascii_case("mcp-app")
    };
    if essence.eq_ignore_ascii_case("text/html") && parts.any(is_profile) {
        MediaTypeClassification::Page
    } else {
        MediaTypeClassification::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_of_media_type_parameters_does_not_matter() {
        let pages = [
            APP_PAGE_MEDIA_TYPE,
            "text/html; profile=mcp-app",
            "Text/HTML ;PROFILE = \"MCP-App\"",
            "text/html;charset=utf-8;profile=mcp-app",
            "text/html;profile=mcp-app;charset=utf-8",
        ];
        for page in pages {
            assert_eq!(classify_media_type(page), MediaTypeClassification::Page, "{page}");
        }
    }

    #[test]
    fn other_media_types_are_not_app_pages() {
        assert_eq!(classify_media_type("text/html+mcp"), MediaTypeClassification::Draft);
        assert_eq!(classify_media_type(" text/HTML+mcp; charset=utf-8"), MediaTypeClassification::Draft);
        let others = [
            "",
            "text/html",
            "text/plain;profile=mcp-app",
            "text/html;profile=mcp-apps",
            "text/html;profile=\"mcp-app",
            "text/html,profile=mcp-app",
            "profile=mcp-app",
        ];
        for other in others {
            assert_eq!(classify_media_type(other), MediaTypeClassification::Other, "{other}");
        }
    }
}
