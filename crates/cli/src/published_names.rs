//! Names in the JSON output that differ from those in the API. Scripts depend on the output, so its names stay the same
//! when a type of the API changes.

use std::mem;

use serde_json::Value;

/// Renamed members of a JSON value. Each entry has the path of a member, with names separated by `/` and `*` for each
/// item of an array, and the published name that the output has at this path.
pub(crate) type PublishedNames = [(&'static str, &'static str)];

/// Published names of a server.
pub(crate) const SERVER_NAMES: &PublishedNames = &[
    ("detection", "foundBy"),
    ("sandboxMechanism", "heldBy"),
    ("refusedConsentRequests", "refusedQuestions"),
    ("roots/sentFolders", "told"),
    ("state/searchedFolders", "lookedIn"),
    ("state/blocked/*/proposal/reason", "because"),
    ("state/blocked/*/proposal", "offer"),
    ("marks/lookAlikes/*/isIdentical", "same"),
];

/// Published names of a sandbox report.
pub(crate) const SANDBOX_NAMES: &PublishedNames = &[("plan/mechanism", "heldBy")];

/// Published names of a tool or prompt that a server lists.
pub(crate) const DEFINITION_NAMES: &PublishedNames =
    &[("marks/diff/isTruncated", "cut"), ("marks/lookAlikes/*/isIdentical", "same")];

/// Published names of a consent request.
pub(crate) const CONSENT_REQUEST_NAMES: &PublishedNames = &[
    ("origin/untrustedServers", "after"),
    ("origin/sameServerReadings", "read"),
    ("origin", "why"),
    ("reason", "rule"),
    ("body/package/requestedVersion", "wanted"),
    ("body/callKind", "what"),
    ("body/requestedTokens", "wantedTokens"),
    ("body/canRerun", "again"),
    ("body/losses/*/feature", "what"),
    ("body/losses/*/conversion", "then"),
    ("body/model/reason", "by"),
    ("body/model/maxMicros", "mostMicros"),
    ("body/sandbox/mechanism", "heldBy"),
    ("body/earlierApproval/approved", "before"),
    ("body/earlierApproval/requested", "now"),
    ("body/earlierApproval", "approvedBefore"),
    ("body/auth/*/isOnOtherDomain", "elsewhere"),
    ("body/endpoints/*/isOnOtherDomain", "elsewhere"),
    ("body/isPageOnOtherDomain", "pageElsewhere"),
    ("marks/diff/isTruncated", "cut"),
    ("marks/lookAlikes/*/isIdentical", "same"),
];

/// Published names of the result of a dry run.
pub(crate) const DRY_RUN_NAMES: &PublishedNames = &[("reviewState", "standing"), ("isToolTurnedOff", "turnedOff")];

/// Published names of the result of `doctor`.
pub(crate) const DOCTOR_NAMES: &PublishedNames = &[("findings/*/observation", "seen"), ("findings/*/remedy", "next")];

/// Published names of a model provider.
pub(crate) const PROVIDER_NAMES: &PublishedNames =
    &[("isUnencrypted", "readable"), ("losses/*/feature", "what"), ("losses/*/conversion", "then")];

/// Published names of the list of model providers.
pub(crate) const MODELS_NAMES: &PublishedNames = &[
    ("providers/*/isUnencrypted", "readable"),
    ("providers/*/losses/*/feature", "what"),
    ("providers/*/losses/*/conversion", "then"),
    ("presets/*/requiresKey", "wantsKey"),
    ("presets/*/keyPageUrl", "keysAt"),
];

/// Published names of the result of a provider's test.
pub(crate) const PROVIDER_TEST_NAMES: &PublishedNames =
    &[("reply", "said"), ("firstTokenMilliseconds", "firstMilliseconds")];

/// Published names of the authorization of a server, and of the steps of a sign-in.
pub(crate) const AUTHORIZATION_NAMES: &PublishedNames = &[
    ("unsupportedReason", "notOffered"),
    ("failureMessage", "failed"),
    ("tokenStorage", "kept"),
    ("account/reauthenticationReason", "ended"),
    ("account/isDpopBound", "bound"),
    ("steps/*/durationMilliseconds", "took"),
    ("steps/*/purpose", "what"),
    ("steps/*/response", "answer"),
];

/// Published names of the sampling settings and the usage of a server.
pub(crate) const SAMPLING_NAMES: &PublishedNames = &[
    ("settings/isEnabled", "on"),
    ("settings/total", "inAll"),
    ("lastHour", "withinHour"),
    ("total", "inAll"),
    ("reachedLimit", "stopped"),
    ("stopped/quantity", "of"),
    ("stopped/isPerHour", "hour"),
    ("stopped/limit", "most"),
];

/// Published names of an event's members.
pub(crate) const EVENT_NAMES: &PublishedNames = &[("item/omitted", "leftOut")];

/// Events whose own name in the API differs from the published name.
const EVENTS: [(&str, &str); 1] = [("consent_request_closed", "question_closed")];

/// Replaces the names of the API by the published ones. Members that the value doesn't have are skipped.
pub(crate) fn with_published_names(mut value: Value, names: &PublishedNames) -> Value {
    for (path, published) in names {
        rename_member(&mut value, path, published);
    }
    value
}

/// Returns the published name of an event.
pub(crate) fn published_event_name(name: &str) -> &str {
    EVENTS.iter().find(|(of_api, _)| *of_api == name).map_or(name, |(_, published)| *published)
}

fn rename_member(value: &mut Value, path: &str, published: &str) {
    match (path.split_once('/'), value) {
        (Some(("*", rest)), Value::Array(items)) => {
            items.iter_mut().for_each(|item| rename_member(item, rest, published));
        }
        (Some((name, rest)), Value::Object(members)) => {
            if let Some(member) = members.get_mut(name) {
                rename_member(member, rest, published);
            }
        }
        (None, Value::Object(members)) if members.contains_key(path) => {
            // The order of the members is preserved.
            let renamed =
                |(name, value): (String, Value)| (if name == path { published.to_owned() } else { name }, value);
            *members = mem::take(members).into_iter().map(renamed).collect();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
