//! Serialization of times: as RFC 3339 dates in files, and as milliseconds since 1970 in memory.

use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Deserializer, Serializer, de, ser};

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
pub(crate) fn serialize<S: Serializer>(at: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(at) = at else { return serializer.serialize_none() };
    let date = i64::try_from(*at).ok().and_then(DateTime::from_timestamp_millis);
    let date = date.ok_or_else(|| ser::Error::custom("the time is out of range"))?;
    serializer.serialize_str(&date.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let bad = || de::Error::custom(format!("\"{text}\" is not a date such as 2030-01-31T12:00:00Z"));
    let date = DateTime::parse_from_rfc3339(&text).map_err(|_| bad())?;
    u64::try_from(date.timestamp_millis()).map(Some).map_err(|_| bad())
}
