//! Names in the JSON output that differ from those in the API. Scripts depend on the output, so its names stay the same
//! when a type of the API changes.

use std::mem;

use serde_json::Value;

/// Members of a JSON value that have another name in the output than in the API. Each entry has the path of a member,
/// with names separated by `/` and `*` for each item of an array, and the name in the output.
pub(crate) type PublishedFieldNames = [(&'static str, &'static str)];

/// Output names of members of a server, where they differ from the names in the API.
pub(crate) const SERVER_FIELD_NAMES: &PublishedFieldNames = &[
    ("detection", "foundBy"),
    ("sandboxMechanism", "heldBy"),
    ("refusedConsentRequests", "refusedQuestions"),
    ("roots/sentFolders", "told"),
    ("state/searchedFolders", "lookedIn"),
    ("state/blocked/*/proposal/reason", "because"),
    ("state/blocked/*/proposal", "offer"),
    ("marks/lookAlikes/*/isIdentical", "same"),
];

/// Output names of members of a sandbox report, where they differ from the names in the API.
pub(crate) const SANDBOX_FIELD_NAMES: &PublishedFieldNames = &[("plan/mechanism", "heldBy")];

/// Output names of members of a listed tool or prompt, where they differ from the names in the API.
pub(crate) const DEFINITION_FIELD_NAMES: &PublishedFieldNames =
    &[("marks/diff/isTruncated", "cut"), ("marks/lookAlikes/*/isIdentical", "same")];

/// Output names of members of a consent request, where they differ from the names in the API.
pub(crate) const CONSENT_REQUEST_FIELD_NAMES: &PublishedFieldNames = &[
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

/// Output names of members of the result of `policy check`, where they differ from the names in the API.
pub(crate) const DRY_RUN_FIELD_NAMES: &PublishedFieldNames =
    &[("reviewState", "standing"), ("isToolTurnedOff", "turnedOff")];

/// Output names of members of the result of `doctor`, where they differ from the names in the API.
pub(crate) const DOCTOR_FIELD_NAMES: &PublishedFieldNames =
    &[("findings/*/observation", "seen"), ("findings/*/remedy", "next")];

/// Output names of members of a model provider, where they differ from the names in the API.
pub(crate) const PROVIDER_FIELD_NAMES: &PublishedFieldNames =
    &[("isUnencrypted", "readable"), ("losses/*/feature", "what"), ("losses/*/conversion", "then")];

/// Output names of members of the list of model providers, where they differ from the names in the API.
pub(crate) const MODELS_FIELD_NAMES: &PublishedFieldNames = &[
    ("providers/*/isUnencrypted", "readable"),
    ("providers/*/losses/*/feature", "what"),
    ("providers/*/losses/*/conversion", "then"),
    ("presets/*/requiresKey", "wantsKey"),
    ("presets/*/keyPageUrl", "keysAt"),
];

/// Output names of members of the result of `models test`, where they differ from the names in the API.
pub(crate) const PROVIDER_TEST_FIELD_NAMES: &PublishedFieldNames =
    &[("reply", "said"), ("firstTokenMilliseconds", "firstMilliseconds")];

/// Output names of members of a server's authorization and of the steps of a sign-in, where they differ from the names
/// in the API.
pub(crate) const AUTHORIZATION_FIELD_NAMES: &PublishedFieldNames = &[
    ("unsupportedReason", "notOffered"),
    ("failureMessage", "failed"),
    ("tokenStorage", "kept"),
    ("account/reauthenticationReason", "ended"),
    ("account/isDpopBound", "bound"),
    ("steps/*/durationMilliseconds", "took"),
    ("steps/*/purpose", "what"),
    ("steps/*/response", "answer"),
];

/// Output names of members of a server's sampling settings and usage, where they differ from the names in the API.
pub(crate) const SAMPLING_FIELD_NAMES: &PublishedFieldNames = &[
    ("settings/isEnabled", "on"),
    ("settings/total", "inAll"),
    ("lastHour", "withinHour"),
    ("total", "inAll"),
    ("reachedLimit", "stopped"),
    ("stopped/quantity", "of"),
    ("stopped/isPerHour", "hour"),
    ("stopped/limit", "most"),
];

/// Output names of members of an event, where they differ from the names in the API.
pub(crate) const EVENT_FIELD_NAMES: &PublishedFieldNames = &[("item/omitted", "leftOut")];

/// Names of events in the API, each with its different name in the output.
const EVENT_TYPE_NAMES: [(&str, &str); 1] = [("consent_request_closed", "question_closed")];

/// Returns the JSON value with the names of the API replaced by those of the output. Skips members that the value
/// doesn't have.
pub(crate) fn with_published_field_names(mut value: Value, names: &PublishedFieldNames) -> Value {
    for (path, published) in names {
        rename_member(&mut value, path, published);
    }
    value
}

/// Returns the name that an event of the API has in the output.
pub(crate) fn published_event_name(name: &str) -> &str {
    EVENT_TYPE_NAMES.iter().find(|(of_api, _)| *of_api == name).map_or(name, |(_, published)| *published)
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
