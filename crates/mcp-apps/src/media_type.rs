//! Media types of pages.

/// Media type of pages, which the host announces to servers.
pub const PAGE_MEDIA_TYPE: &str = "text/html;profile=mcp-app";

/// Media type that drafts of the specification used.
const DRAFT_MEDIA_TYPE: &str = "text/html+mcp";

/// Relation of a media type to pages of apps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageType {
    /// A page of an app.
    Page,
    /// A page of an app as drafts of the specification named it.
    Draft,
    /// Anything else, such as a plain HTML document.
    Other,
}

/// Classifies a media type. Letter case, spaces, quotation marks and further parameters do not matter.
pub(crate) fn page_type(media_type: &str) -> PageType {
    let mut parts = media_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    if essence.eq_ignore_ascii_case(DRAFT_MEDIA_TYPE) {
        return PageType::Draft;
    }
    let is_profile = |parameter: &str| {
        let Some((name, value)) = parameter.split_once('=') else { return false };
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        name.trim().eq_ignore_ascii_case("profile") && value.eq_ignore_ascii_case("mcp-app")
    };
    if essence.eq_ignore_ascii_case("text/html") && parts.any(is_profile) { PageType::Page } else { PageType::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_of_parameters_does_not_matter() {
        let pages = [
            PAGE_MEDIA_TYPE,
            "text/html; profile=mcp-app",
            "Text/HTML ;PROFILE = \"MCP-App\"",
            "text/html;charset=utf-8;profile=mcp-app",
            "text/html;profile=mcp-app;charset=utf-8",
        ];
        for page in pages {
            assert_eq!(page_type(page), PageType::Page, "{page}");
        }
    }

    #[test]
    fn other_types_are_not_pages() {
        assert_eq!(page_type("text/html+mcp"), PageType::Draft);
        assert_eq!(page_type(" text/HTML+mcp; charset=utf-8"), PageType::Draft);
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
            assert_eq!(page_type(other), PageType::Other, "{other}");
        }
    }
}
