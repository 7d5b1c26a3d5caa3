//! Questions that a server has for the user (`client/elicitation`, since 2025-06-18).

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Map;

/// What the server wants to know. A request without `mode` is a form.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitParams {
    /// Fields to fill in.
    Form {
        /// Why the server asks.
        message: String,
        /// Flat JSON Schema of the fields, kept as it came.
        requested_schema: Value,
        /// Fields that are not known here, `_meta` included.
        extra: Map,
    },
    /// A page to visit, since 2025-11-25.
    Url {
        /// Why the server asks.
        message: String,
        /// The page. Only a text here: nothing has checked or fetched it.
        url: String,
        /// Opaque name for `notifications/elicitation/complete`; 2025-11-25 only.
        elicitation_id: Option<String>,
        /// Fields that are not known here, `_meta` included.
        extra: Map,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FormFields {
    message: String,
    requested_schema: Value,
    #[serde(flatten)]
    extra: Map,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UrlFields {
    message: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation_id: Option<String>,
    #[serde(flatten)]
    extra: Map,
}

#[derive(Serialize)]
struct WithMode<T> {
    mode: &'static str,
    #[serde(flatten)]
    fields: T,
}

impl<'de> Deserialize<'de> for ElicitParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut map = Map::deserialize(deserializer)?;
        match map.shift_remove("mode") {
            None | Some(Value::Null) => form(map),
            Some(Value::String(mode)) if mode == "form" => form(map),
            Some(Value::String(mode)) if mode == "url" => {
                UrlFields::deserialize(Value::Object(map)).map(|UrlFields { message, url, elicitation_id, extra }| {
                    ElicitParams::Url { message, url, elicitation_id, extra }
                })
            }
            Some(mode) => Err(serde_json::Error::custom(format!("unknown elicitation mode {mode}"))),
        }
        .map_err(D::Error::custom)
    }
}

fn form(map: Map) -> Result<ElicitParams, serde_json::Error> {
    let FormFields { message, requested_schema, extra } = FormFields::deserialize(Value::Object(map))?;
    Ok(ElicitParams::Form { message, requested_schema, extra })
}

impl Serialize for ElicitParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.clone() {
            ElicitParams::Form { message, requested_schema, extra } => {
                WithMode { mode: "form", fields: FormFields { message, requested_schema, extra } }.serialize(serializer)
            }
            ElicitParams::Url { message, url, elicitation_id, extra } => {
                WithMode { mode: "url", fields: UrlFields { message, url, elicitation_id, extra } }
                    .serialize(serializer)
            }
        }
    }
}

/// What the user did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElicitAction {
    /// Filled it in, or agreed to open the page.
    Accept,
    /// Said no.
    Decline,
    /// Made no choice, for instance closed the question.
    Cancel,
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// The fields, only with an accepted form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Map>,
}
