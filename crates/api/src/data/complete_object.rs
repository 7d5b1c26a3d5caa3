//! Deserialization of settings whose JSON object must be complete.
//!
//! The types have default values because files may omit members. In a request from the page, an omitted or misspelled
//! member would silently reset a setting, so a request must contain exactly the members of the type.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Deserializes an object that must contain exactly the members of its type.
pub(super) fn deserialize_object_with_all_members<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: DeserializeOwned + Serialize,
    D: Deserializer<'de>,
{
    parse_object_with_all_members(Value::deserialize(deserializer)?)
}

/// Deserializes like [`deserialize_object_with_all_members`], but returns `None` for JSON `null`, which stands for the
/// default settings.
pub(super) fn deserialize_object_with_all_members_or_null<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: DeserializeOwned + Serialize,
    D: Deserializer<'de>,
{
    Option::<Value>::deserialize(deserializer)?.map(parse_object_with_all_members).transpose()
}

fn parse_object_with_all_members<T: DeserializeOwned + Serialize, E: Error>(given: Value) -> Result<T, E> {
    let value = T::deserialize(&given).map_err(E::custom)?;
    let all = serde_json::to_value(&value).map_err(E::custom)?;
    let (Value::Object(given), Value::Object(all)) = (&given, &all) else { return Ok(value) };
    if let Some(missing) = all.keys().find(|name| !given.contains_key(*name)) {
        return Err(E::custom(format_args!("{missing} is missing")));
    }
    match given.keys().find(|name| !all.contains_key(*name)) {
        Some(unknown) => Err(E::custom(format_args!("{unknown} is not known"))),
        None => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::data::{SetDataFlow, Settings};

    #[test]
    fn request_with_an_omitted_data_flow_setting_is_rejected() {
        let flow = |flow| serde_json::from_value::<SetDataFlow>(json!({"server": "s", "flow": flow}));
        let whole = json!({"sameServer": "everything", "review": "always", "tools": {}});
        assert!(flow(whole).is_ok(), "complete settings should be accepted");
        for (part, what) in [
            (json!({}), "sameServer is missing"),
            (json!({"sameServer": "everything", "tools": {}}), "review is missing"),
            (json!({"sameServer": "everything", "review": "off", "tools": {}, "tool": {}}), "tool is not known"),
        ] {
            let error = flow(part).unwrap_err().to_string();
            assert_eq!(error, what, "the error should name the member");
        }
    }

    #[test]
    fn request_with_partial_limits_is_rejected() {
        let settings = |more: serde_json::Value| {
            let mut settings = json!({"theme": "dark", "language": "system", "welcomeDone": true, "announce": true,
                "auditDays": 0, "auditMegabytes": 0, "auditContents": true, "onClose": "ask", "checkUpdates": false, "zoom": 100,
                "menuBar": false});
            settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value::<Settings>(settings)
        };
        assert!(settings(json!({"limits": null, "chat": null})).is_ok(), "null should select the defaults");
        let error = settings(json!({"limits": {"calls": 3}})).unwrap_err().to_string();
        assert_eq!(error, "questions is missing", "incomplete settings should be rejected");
        let error = settings(json!({"chat": {"rounds": 3}})).unwrap_err().to_string();
        assert_eq!(error, "resultBytes is missing", "incomplete settings should be rejected");
    }
}
