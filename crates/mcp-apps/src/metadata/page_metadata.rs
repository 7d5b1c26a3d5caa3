//! Metadata of a page: the domains and permissions that it requests, and its appearance.

use mcp_proto::types::Map;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bounded_metadata_reader::{BoundedMetadataReader, MetadataFault, MetadataProblem};

/// Maximum number of domains that are read from each list of an app page's metadata.
pub const MAX_DECLARED_DOMAINS_PER_LIST: usize = 32;
/// Maximum length of one declared domain in bytes.
pub const MAX_DECLARED_DOMAIN_BYTES: usize = 300;

/// Capability of the browser that an app page can request, and that the host may grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppPermission"))]
#[serde(rename_all = "camelCase")]
pub enum PagePermission {
    /// Access to the camera.
    Camera,
    /// Access to the microphone.
    Microphone,
    /// Access to the location of the computer.
    Geolocation,
    /// Permission to write to the clipboard.
    ClipboardWrite,
}

impl PagePermission {
    /// All permissions that the specification defines.
    pub const ALL: [Self; 4] = [Self::Camera, Self::Microphone, Self::Geolocation, Self::ClipboardWrite];

    /// Returns the name of the permission's member in the app page's metadata and in the host's capabilities.
    #[must_use]
    pub const fn metadata_name(self) -> &'static str {
        match self {
            Self::Camera => "camera",
            Self::Microphone => "microphone",
            Self::Geolocation => "geolocation",
            Self::ClipboardWrite => "clipboardWrite",
        }
    }

    /// Returns the name of the permission's feature in the Permissions Policy of browsers.
    #[must_use]
    pub const fn permissions_policy_feature(self) -> &'static str {
        match self {
            Self::Camera => "camera",
            Self::Microphone => "microphone",
            Self::Geolocation => "geolocation",
            Self::ClipboardWrite => "clipboard-write",
        }
    }
}

/// A set of permissions, in the order of [`PagePermission::ALL`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppPermissions"))]
#[serde(from = "Vec<PagePermission>")]
pub struct PagePermissions(Vec<PagePermission>);

impl PagePermissions {
    /// Returns `true` if the permission is in the set.
    #[must_use]
    pub fn contains(&self, permission: PagePermission) -> bool {
        self.0.contains(&permission)
    }

    /// Returns the permissions of the set in the order of [`PagePermission::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = PagePermission> {
        self.0.iter().copied()
    }

    /// Returns the permissions that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.iter().filter(|permission| other.contains(*permission)).collect()
    }
}

impl From<Vec<PagePermission>> for PagePermissions {
    fn from(permissions: Vec<PagePermission>) -> Self {
        permissions.into_iter().collect()
    }
}

impl FromIterator<PagePermission> for PagePermissions {
    fn from_iter<I: IntoIterator<Item = PagePermission>>(permissions: I) -> Self {
        let given: Vec<PagePermission> = permissions.into_iter().collect();
        Self(PagePermission::ALL.into_iter().filter(|permission| given.contains(permission)).collect())
    }
}

/// Domains that an app page declares, as the server wrote them. The module `sandbox_policy` parses them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeclaredDomains {
    /// Domains to which the app page sends requests and opens WebSockets.
    pub connect_domains: Vec<String>,
    /// Domains from which the app page loads scripts, styles, images, fonts and media.
    pub resource_domains: Vec<String>,
    /// Domains of pages that the app page embeds in frames.
    pub frame_domains: Vec<String>,
    /// Domains that the app page may use as base URI of its document.
    pub base_uri_domains: Vec<String>,
}

/// Metadata that a server declares for an app page (specification 2026-01-26, `UIResourceMeta`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppPageMetadata {
    /// Declared domains, or `None` if the app page declares no `csp`.
    pub domains: Option<DeclaredDomains>,
    /// Permissions that the app page requests.
    pub permissions: PagePermissions,
    /// Stable origin that the app page requests, in a format that each host defines.
    pub domain: Option<String>,
    /// Preference for a border and background drawn by the host, or `None` if the host decides.
    pub prefers_border: Option<bool>,
    /// Invalid members of the metadata, with the reasons. At most [`MAX_METADATA_FAULTS`](super::MAX_METADATA_FAULTS).
    #[serde(skip)]
    pub faults: Vec<MetadataFault>,
}

impl AppPageMetadata {
    /// Reads the metadata of an app page from `item`, its content item in the result of `resources/read`, or from
    /// `listed`, its entry in `resources/list`, if the item has no member `ui`.
    #[must_use]
    pub fn read(item: &Map, listed: Option<&Map>) -> Self {
        let mut reader = BoundedMetadataReader::new();
        let own = find_ui_metadata(&mut reader, item);
        let Some(ui) = own.or_else(|| listed.and_then(|listed| find_ui_metadata(&mut reader, listed))) else {
            return Self { faults: reader.into_faults(), ..Self::default() };
        };
        let domains =
            reader.read_object("_meta.ui.csp", ui.get("csp")).map(|csp| read_declared_domains(&mut reader, csp));
        let permissions = reader.read_object("_meta.ui.permissions", ui.get("permissions"));
        let permissions =
            permissions.map(|requested| read_requested_permissions(&mut reader, requested)).unwrap_or_default();
        let domain =
            reader.read_text("_meta.ui.domain", ui.get("domain"), MAX_DECLARED_DOMAIN_BYTES).map(str::to_owned);
        let prefers_border = reader.read_boolean("_meta.ui.prefersBorder", ui.get("prefersBorder"));
        Self { domains, permissions, domain, prefers_border, faults: reader.into_faults() }
    }
}

/// Returns the member `ui` of `_meta`, or of `meta`, which some Python servers write instead.
fn find_ui_metadata<'a>(reader: &mut BoundedMetadataReader, holder: &'a Map) -> Option<&'a Map> {
    let meta = reader.read_object("_meta", holder.get("_meta"));
    if let Some(ui) = meta.and_then(|meta| reader.read_object("_meta.ui", meta.get("ui"))) {
        return Some(ui);
    }
    let ui =
        holder.get("meta").and_then(Value::as_object).and_then(|meta| meta.get("ui")).and_then(Value::as_object)?;
    reader.report("meta", MetadataProblem::MisnamedMember);
    Some(ui)
}

fn read_declared_domains(reader: &mut BoundedMetadataReader, csp: &Map) -> DeclaredDomains {
    const MEMBERS: [&str; 4] = ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"];
    reader.report_unknown_members("_meta.ui.csp", csp, &MEMBERS);
    let [connect_domains, resource_domains, frame_domains, base_uri_domains] = MEMBERS.map(|member| {
        let path = format!("_meta.ui.csp.{member}");
        reader
            .read_text_list(&path, csp.get(member), MAX_DECLARED_DOMAINS_PER_LIST, MAX_DECLARED_DOMAIN_BYTES)
            .unwrap_or_default()
    });
    DeclaredDomains { connect_domains, resource_domains, frame_domains, base_uri_domains }
}

fn read_requested_permissions(reader: &mut BoundedMetadataReader, requested: &Map) -> PagePermissions {
    reader.report_unknown_members(
        "_meta.ui.permissions",
        requested,
        &PagePermission::ALL.map(PagePermission::metadata_name),
    );
    let is_requested = |permission: &PagePermission| {
        let path = format!("_meta.ui.permissions.{}", permission.metadata_name());
        reader.read_object(&path, requested.get(permission.metadata_name())).is_some()
    };
    PagePermission::ALL.into_iter().filter(is_requested).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_page_metadata(item: &Value, listed: &Value) -> AppPageMetadata {
        AppPageMetadata::read(item.as_object().unwrap(), listed.as_object())
    }

    #[test]
    fn all_page_metadata_members_are_read() {
        let ui = json!({
            "csp": {
                "connectDomains": ["https://api.example.com"],
                "resourceDomains": ["https://*.example.com"],
                "frameDomains": ["https://video.example.com"],
                "baseUriDomains": ["https://cdn.example.com"],
            },
            "permissions": { "clipboardWrite": {}, "camera": {} },
            "domain": "a.example.com",
            "prefersBorder": false,
        });
        let metadata = read_page_metadata(&json!({ "_meta": { "ui": ui } }), &Value::Null);
        let domains = metadata.domains.unwrap();
        assert_eq!(domains.connect_domains, ["https://api.example.com"]);
        assert_eq!(domains.resource_domains, ["https://*.example.com"]);
        assert_eq!(domains.frame_domains, ["https://video.example.com"]);
        assert_eq!(domains.base_uri_domains, ["https://cdn.example.com"]);
        let permissions: Vec<_> = metadata.permissions.iter().collect();
        assert_eq!(permissions, [PagePermission::Camera, PagePermission::ClipboardWrite]);
        assert_eq!((metadata.domain.as_deref(), metadata.prefers_border), (Some("a.example.com"), Some(false)));
        assert_eq!(metadata.faults, []);
    }

    // [apps-draft-meta-location]
    #[test]
    fn metadata_of_the_content_item_replaces_that_of_the_list_entry() {
        let listed = json!({ "_meta": { "ui": { "prefersBorder": true, "domain": "listed" } } });
        let item = json!({ "_meta": { "ui": { "prefersBorder": false } } });
        let metadata = read_page_metadata(&item, &listed);
        assert_eq!((metadata.prefers_border, metadata.domain), (Some(false), None));
        let metadata = read_page_metadata(&json!({ "_meta": {} }), &listed);
        assert_eq!((metadata.prefers_border, metadata.domain.as_deref()), (Some(true), Some("listed")));
    }

    #[test]
    fn metadata_in_a_misnamed_member_is_used_and_reported() {
        let metadata = read_page_metadata(&json!({ "meta": { "ui": { "prefersBorder": true } } }), &Value::Null);
        assert_eq!(metadata.prefers_border, Some(true));
        assert_eq!(metadata.faults[0].problem, MetadataProblem::MisnamedMember);
        let both = json!({ "_meta": { "ui": {} }, "meta": { "ui": { "prefersBorder": true } } });
        assert_eq!(read_page_metadata(&both, &Value::Null).prefers_border, None, "the right name wins");
    }

    #[test]
    fn metadata_members_of_wrong_type_are_faults_and_grant_nothing() {
        let ui = json!({
            "csp": { "connectDomains": [1, "https://a.example", null], "frameDomains": {}, "wasmUnsafeEval": true },
            "permissions": { "camera": true, "microphone": false, "usb": {}, "geolocation": {} },
            "domain": 5,
            "prefersBorder": "yes",
        });
        let metadata = read_page_metadata(&json!({ "_meta": { "ui": ui } }), &Value::Null);
        assert_eq!(metadata.domains.unwrap().connect_domains, ["https://a.example"]);
        assert_eq!(metadata.permissions.iter().collect::<Vec<_>>(), [PagePermission::Geolocation]);
        let faults: Vec<String> = metadata.faults.iter().map(ToString::to_string).collect();
        let expected = [
            r#"_meta.ui.csp is unknown: "wasmUnsafeEval""#,
            "_meta.ui.csp.connectDomains[0] is not a string",
            "_meta.ui.csp.connectDomains[2] is not a string",
            "_meta.ui.csp.frameDomains is not a list",
            r#"_meta.ui.permissions is unknown: "usb""#,
            "_meta.ui.permissions.camera is not an object",
            "_meta.ui.permissions.microphone is not an object",
            "_meta.ui.domain is not a string",
            "_meta.ui.prefersBorder is not a Boolean",
        ];
        assert_eq!(faults, expected);
    }

    #[test]
    fn metadata_lists_and_texts_are_bounded() {
        let many: Vec<String> = (0..1000).map(|number| format!("https://h{number}.example")).collect();
        let long = "x".repeat(10_000);
        let ui = json!({ "csp": { "connectDomains": many, "resourceDomains": [long] }, "domain": long });
        let metadata = read_page_metadata(&json!({ "_meta": { "ui": ui } }), &Value::Null);
        let domains = metadata.domains.unwrap();
        assert_eq!((domains.connect_domains.len(), domains.resource_domains.len()), (MAX_DECLARED_DOMAINS_PER_LIST, 0));
        assert_eq!((metadata.domain, metadata.faults.len()), (None, 3));
    }
}
