//! `plan_trip`: a tool whose arguments use every feature of a schema form.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ToolCall, ToolOutcome, into_json_schema, new_tool, structured_result};
use crate::harbour;
use crate::input_requests::EarlyExit;

const MAX_CREW_MEMBERS: usize = 6;

pub(super) fn plan_trip_definition() -> Tool {
    let places: Vec<_> = harbour::harbour_names().collect();
    let titled: Vec<_> =
        harbour::harbour_names().map(|name| json!({ "const": name, "title": format!("{name} harbour") })).collect();
    let input = json!({
        "type": "object",
        "properties": {
            "ship": { "type": "string", "title": "Ship", "minLength": 2, "maxLength": 40, "default": "Aurora" },
            "from": { "type": "string", "title": "From", "enum": places },
            "to": { "title": "To", "type": "string", "oneOf": titled },
            "departure": { "type": "string", "title": "Day of departure", "format": "date" },
            "cast_off": { "type": "string", "title": "Cast off at", "format": "date-time" },
            "contact": { "type": "string", "title": "Contact", "format": "email" },
            "website": { "type": "string", "title": "Website", "format": "uri" },
            "speed": { "type": "number", "title": "Speed in knots", "exclusiveMinimum": 0, "maximum": 30, "default": 8.5 },
            "max_wave_height": { "type": "integer", "title": "Highest waves in metres", "minimum": 0, "maximum": 6, "default": 2 },
            "night_sailing": { "type": "boolean", "title": "Sail at night", "default": false },
            "stops": { "type": "array", "title": "Stops", "description": "Harbours on the way.", "items": { "type": "string", "enum": places }, "uniqueItems": true, "maxItems": 4, "default": [] },
            "crew": {
                "type": "array", "title": "Crew", "minItems": 1, "maxItems": MAX_CREW_MEMBERS,
                "items": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string", "title": "Name", "minLength": 1 },
                        "age": { "type": "integer", "title": "Age", "minimum": 16, "maximum": 99 },
                        "role": { "type": "string", "title": "Role", "enum": ["skipper", "mate", "cook"], "default": "mate" }
                    },
                    "required": ["name", "role"],
                    "additionalProperties": false
                }
            },
            "cargo": {
                "type": "object", "title": "Cargo",
                "properties": {
                    "kind": { "type": "string", "title": "Kind", "oneOf": [
                        { "const": "fish", "title": "Fish" },
                        { "const": "tea", "title": "Tea" },
                        { "const": "post", "title": "Letters and parcels" }
                    ] },
                    "tonnes": { "type": "number", "title": "Tonnes", "minimum": 0, "maximum": 500, "multipleOf": 0.5 },
                    "fragile": { "type": "boolean", "title": "Handle with care", "default": false }
                },
                "required": ["kind"]
            },
            "budget": { "title": "Budget", "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string", "const": "unlimited" }] },
            "remarks": { "type": ["string", "null"], "title": "Remarks", "maxLength": 500 }
        },
        "required": ["ship", "from", "to", "departure", "crew"],
        "additionalProperties": false
    });
    let output = json!({
        "type": "object",
        "properties": {
            "route": { "type": "array", "items": { "type": "string" } },
            "miles": { "type": "integer" },
            "hours": { "type": "number" }
        },
        "required": ["route", "miles", "hours"]
    });
    let description =
        "Plans a trip between two harbours. Its form has nested objects, lists, choices, defaults and bounds.";
    new_tool("plan_trip", "Plan a trip", description, input)
        .with_raw_output_schema(Arc::new(into_json_schema(output)))
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trip {
    ship: String,
    from: String,
    to: String,
    departure: String,
    crew: Vec<Sailor>,
    speed: Option<f64>,
    #[serde(default)]
    stops: Vec<String>,
    cargo: Option<Cargo>,
    // Present to show another kind of form field. The tool ignores the values.
    #[serde(rename = "cast_off")]
    _cast_off: Option<String>,
    #[serde(rename = "contact")]
    _contact: Option<String>,
    #[serde(rename = "website")]
    _website: Option<String>,
    #[serde(rename = "max_wave_height")]
    _max_wave_height: Option<u8>,
    #[serde(rename = "night_sailing")]
    _night_sailing: Option<bool>,
    #[serde(rename = "budget")]
    _budget: Option<Value>,
    #[serde(rename = "remarks")]
    _remarks: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sailor {
    name: String,
    role: String,
    #[serde(rename = "age")]
    _age: Option<u8>,
}

#[derive(Deserialize)]
struct Cargo {
    kind: String,
    tonnes: Option<f64>,
}

pub(super) fn plan_trip(call: &ToolCall<'_>) -> ToolOutcome {
    let trip: Trip = call.arguments()?;
    let speed = trip.speed.unwrap_or(8.5);
    if !(speed > 0.0 && speed <= 30.0) {
        return Err(EarlyExit::Failed("Speed is more than 0 and at most 30 knots.".to_owned()));
    }
    if trip.crew.is_empty() || trip.crew.len() > MAX_CREW_MEMBERS {
        return Err(EarlyExit::Failed("A crew has one to six members.".to_owned()));
    }
    let mut route = vec![trip.from];
    route.extend(trip.stops);
    route.push(trip.to);
    let mut miles = 0;
    for leg in route.windows(2) {
        miles += harbour::distance_in_miles(&leg[0], &leg[1])
            .ok_or_else(|| EarlyExit::Failed(format!("No way from {} to {}.", leg[0], leg[1])))?;
    }
    let hours = (f64::from(miles) / speed * 10.0).round() / 10.0;
    let crew: Vec<_> = trip.crew.iter().map(|sailor| format!("{} ({})", sailor.name, sailor.role)).collect();
    let cargo = trip.cargo.map_or_else(
        || "no cargo".to_owned(),
        |cargo| format!("{} t of {}", cargo.tonnes.unwrap_or_default(), cargo.kind),
    );
    let summary = format!(
        "{} leaves on {}: {}, {miles} miles, {hours} hours at {speed} knots, with {} and {cargo}.",
        trip.ship,
        trip.departure,
        route.join(" - "),
        crew.join(", "),
    );
    Ok(structured_result(summary, json!({ "route": route, "miles": miles, "hours": hours })))
}
