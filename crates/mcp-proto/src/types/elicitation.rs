//! Requests of a server for input from the user (`client/elicitation`, since 2025-06-18).

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Map;

/// Parameters of `elicitation/create`. A request without `mode` is a form.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitParams {
    /// A form with fields for the user to fill in.
    Form {
        /// Message of the server to the user that explains the request.
        message: String,
        /// JSON Schema of the form's fields, exactly as the server sent it: an object without nested objects.
        requested_schema: Value,
        /// JSON members without a field in this variant, including `_meta`, retained unchanged.
        extra: Map,
    },
    /// A URL for the user to visit, since 2025-11-25.
    Url {
        /// Message of the server to the user that explains the request.
        message: String,
        /// URL as text. Neither validated nor fetched by this crate.
        url: String,
        /// Opaque identifier that the server repeats in `notifications/elicitation/complete`, 2025-11-25 only.
        elicitation_id: Option<String>,
        /// JSON members without a field in this variant, including `_meta`, retained unchanged.
        extra: Map,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FormElicitationFields {
    message: String,
    requested_schema: Value,
    #[serde(flatten)]
    extra: Map,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UrlElicitationFields {
    message: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation_id: Option<String>,
    #[serde(flatten)]
    extra: Map,
}

#[derive(Serialize)]
struct ElicitParamsWithMode<T> {
    mode: &'static str,
    #[serde(flatten)]
    fields: T,
}

impl<'de> Deserialize<'de> for ElicitParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut map = Map::deserialize(deserializer)?;
        match map.shift_remove("mode") {
            None | Some(Value::Null) => parse_form_elicitation(map),
            Some(Value::String(mode)) if mode == "form" => parse_form_elicitation(map),
            Some(Value::String(mode)) if mode == "url" => UrlElicitationFields::deserialize(Value::Object(map)).map(
                |UrlElicitationFields { message, url, elicitation_id, extra }| ElicitParams::Url {
                    message,
                    url,
                    elicitation_id,
                    extra,
                },
            ),
            Some(mode) => Err(serde_json::Error::custom(format!("unknown elicitation mode {mode}"))),
        }
        .map_err(D::Error::custom)
    }
}

fn parse_form_elicitation(map: Map) -> Result<ElicitParams, serde_json::Error> {
    let FormElicitationFields { message, requested_schema, extra } =
        FormElicitationFields::deserialize(Value::Object(map))?;
    Ok(ElicitParams::Form { message, requested_schema, extra })
}

impl Serialize for ElicitParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.clone() {
            ElicitParams::Form { message, requested_schema, extra } => ElicitParamsWithMode {
                mode: "form",
                fields: FormElicitationFields { message, requested_schema, extra },
            }
            .serialize(serializer),
            ElicitParams::Url { message, url, elicitation_id, extra } => ElicitParamsWithMode {
                mode: "url",
                fields: UrlElicitationFields { message, url, elicitation_id, extra },
            }
            .serialize(serializer),
        }
    }
}

/// Decision of the user on an elicitation request (`action` of [`ElicitResult`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElicitAction {
    /// The user submitted the form, or agreed to open the URL.
    Accept,
    /// The user explicitly refused the request.
    Decline,
    /// The user dismissed the request without a decision.
    Cancel,
}

/// Result of `elicitation/create`: the decision of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElicitResult {
    /// Decision of the user: accept, decline or cancel.
    pub action: ElicitAction,
    /// Submitted form fields. Present only if the user accepted a form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Map>,
}
