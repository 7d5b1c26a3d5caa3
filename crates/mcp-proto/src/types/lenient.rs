//! Deserializers for optional fields that existing servers write in more than one way.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Deserializes a value of type `T`, or `null` as the default value of `T`.
pub(super) fn deserialize_null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Deserializes a capability, which should be an object. Also accepts `[]`, from servers in languages without a literal
/// for empty objects, and `true`.
pub(super) fn deserialize_lenient_capability<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Default + DeserializeOwned,
{
    match Value::deserialize(deserializer)? {
        Value::Null | Value::Bool(false) => Ok(None),
        Value::Bool(true) => Ok(Some(T::default())),
        Value::Array(none) if none.is_empty() => Ok(Some(T::default())),
        other => serde_json::from_value(other).map(Some).map_err(serde::de::Error::custom),
    }
}

/// Deserializes any present value as `Some`, even `null`, so that a `null` member differs from an absent one.
pub(super) fn deserialize_present_or_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Deserializes a whole number, including one written as `12.0`. Any other value, such as a negative number, becomes
/// `None`.
pub(super) fn deserialize_whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(to_whole_number(&Value::deserialize(deserializer)?))
}

/// Deserializes a required whole number as [`deserialize_whole_number`] does.
pub(super) fn deserialize_required_whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    to_whole_number(&value).ok_or_else(|| serde::de::Error::custom("expected a whole number that is not negative"))
}

fn to_whole_number(value: &Value) -> Option<u64> {
    // 2^53, above which a float does not represent every whole number.
    const MAX_INTEGER_EXACT_IN_FLOAT: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let float = value.as_f64()?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        (float.fract() == 0.0 && (0.0..=MAX_INTEGER_EXACT_IN_FLOAT).contains(&float)).then_some(float as u64)
    })
}

/// Deserializes an array of strings, or a single string as a list with one element.
pub(super) fn deserialize_one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Option::<OneOrMany>::deserialize(deserializer)? {
        None => Vec::new(),
        Some(OneOrMany::One(one)) => vec![one],
        Some(OneOrMany::Many(many)) => many,
    })
}
