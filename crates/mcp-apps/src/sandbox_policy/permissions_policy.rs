//! Permissions of a frame (attribute `allow`) and of its document (header `Permissions-Policy`).

use crate::metadata::{PagePermission, PagePermissions};

/// Browser features that are denied to every app page, because the specification defines no permission for them.
const ALWAYS_DENIED_BROWSER_FEATURES: [&str; 24] = [
    "accelerometer",
    "ambient-light-sensor",
    "bluetooth",
    "browsing-topics",
    "clipboard-read",
    "compute-pressure",
    "display-capture",
    "encrypted-media",
    "gyroscope",
    "hid",
    "identity-credentials-get",
    "idle-detection",
    "local-fonts",
    "magnetometer",
    "midi",
    "payment",
    "publickey-credentials-create",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "storage-access",
    "usb",
    "window-management",
    "xr-spatial-tracking",
];

/// Returns the value of a frame's attribute `allow`, which allows each granted feature for the origin that the frame
/// loads.
pub(super) fn frame_allow_attribute(granted: &PagePermissions) -> String {
    granted.iter().map(PagePermission::permissions_policy_feature).collect::<Vec<_>>().join("; ")
}

/// Returns the value of the header `Permissions-Policy`. Frames that the app page embeds get no permission.
pub(super) fn permissions_policy_value(granted: &PagePermissions) -> String {
    let defined = PagePermission::ALL.into_iter().map(|permission| {
        let origins = if granted.contains(permission) { "(self)" } else { "()" };
        format!("{}={origins}", permission.permissions_policy_feature())
    });
    defined
        .chain(ALWAYS_DENIED_BROWSER_FEATURES.iter().map(|feature| format!("{feature}=()")))
        .collect::<Vec<_>>()
        .join(", ")
}
