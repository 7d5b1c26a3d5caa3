//! Turns off connection hints of pages: `<link rel="preconnect">` and `<link rel="dns-prefetch">`. WebKit follows them
//! without asking the content security policy, so that an app could reach any host by its name or address.
//!
//! WebKitGTK has the two switches as features, whose functions the crate `webkit2gtk` doesn't bind. They exist since
//! WebKitGTK 2.42.

use std::ffi::{CStr, c_char, c_int, c_void};

use gtk::glib::translate::ToGlibPtr as _;
use webkit2gtk::Settings;

/// WebKit's names of the features that are turned off.
const CONNECTION_HINT_FEATURES: [&CStr; 2] = [c"LinkPreconnect", c"LinkDNSPrefetch"];

#[allow(unsafe_code, reason = "the crate webkit2gtk doesn't bind these functions")]
unsafe extern "C" {
    fn webkit_settings_get_all_features() -> *mut c_void;
    fn webkit_feature_list_get_length(list: *mut c_void) -> usize;
    fn webkit_feature_list_get(list: *mut c_void, index: usize) -> *mut c_void;
    fn webkit_feature_list_unref(list: *mut c_void);
    fn webkit_feature_get_identifier(feature: *mut c_void) -> *const c_char;
    fn webkit_settings_set_feature_enabled(settings: *mut c_void, feature: *mut c_void, enabled: c_int);
}

/// Turns off connection hints in a web view with these settings. Returns `false` if this version of WebKitGTK can't
/// turn off one of them.
#[allow(unsafe_code)]
pub(crate) fn disable_connection_hints(settings: &Settings) -> bool {
    let raw: *mut webkit2gtk::ffi::WebKitSettings = settings.to_glib_none().0;
    let mut found = 0;
    // SAFETY: the functions are called on the main thread as documented: the list is owned and released once, features
    // and identifiers belong to the list and are used only before that, and `raw` is valid while `settings` is borrowed.
    unsafe {
        let list = webkit_settings_get_all_features();
        if list.is_null() {
            return false;
        }
        for index in 0..webkit_feature_list_get_length(list) {
            let feature = webkit_feature_list_get(list, index);
            let identifier = webkit_feature_get_identifier(feature);
            if !identifier.is_null() && CONNECTION_HINT_FEATURES.contains(&CStr::from_ptr(identifier)) {
                webkit_settings_set_feature_enabled(raw.cast(), feature, 0);
                found += 1;
            }
        }
        webkit_feature_list_unref(list);
    }
    found == CONNECTION_HINT_FEATURES.len()
}
