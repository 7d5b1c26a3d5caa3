//! How content of one server flows on.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::flow as own;
use domain::history::{Reading as HostReading, ReadingKind as HostKind};
use models::Part;

use crate::data::*;

pub(in crate::handler) fn flow(flow: own::DataFlow) -> DataFlow {
    let same_server = match flow.same_server {
        own::SameServer::OpenWorld => SameServer::OpenWorld,
        own::SameServer::Everything => SameServer::Everything,
        own::SameServer::Off => SameServer::Off,
    };
    let tools = flow.tools.into_iter().map(|(tool, own)| (tool, review(own))).collect();
    DataFlow { same_server, review: review(flow.review), tools }
}

const fn review(review: own::ResultReview) -> ResultReview {
    match review {
        own::ResultReview::Off => ResultReview::Off,
        own::ResultReview::Suspicious => ResultReview::Suspicious,
        own::ResultReview::Always => ResultReview::Always,
    }
}

pub(in crate::handler) fn to_flow(flow: DataFlow) -> own::DataFlow {
    let same_server = match flow.same_server {
        SameServer::OpenWorld => own::SameServer::OpenWorld,
        SameServer::Everything => own::SameServer::Everything,
        SameServer::Off => own::SameServer::Off,
    };
    let tools = flow.tools.into_iter().map(|(tool, review)| (tool, to_review(review))).collect();
    own::DataFlow { same_server, review: to_review(flow.review), tools }
}

const fn to_review(review: ResultReview) -> own::ResultReview {
    match review {
        ResultReview::Off => own::ResultReview::Off,
        ResultReview::Suspicious => own::ResultReview::Suspicious,
        ResultReview::Always => own::ResultReview::Always,
    }
}

pub(in crate::handler) fn reading(reading: HostReading) -> Reading {
    let kind = match reading.kind {
        HostKind::Tool => ReadingKind::Tool,
        HostKind::Prompt => ReadingKind::Prompt,
        HostKind::Resource => ReadingKind::Resource,
        HostKind::Unknown => ReadingKind::Unknown,
    };
    Reading { kind, name: reading.name }
}

/// A part that a model would read, as the page draws content.
pub(in crate::handler) fn to_read(part: Part) -> Option<Content> {
    Some(match part {
        Part::Text(text) => Content::Text { text },
        Part::Image { mime, data } => Content::Image { data: STANDARD.encode(&data), mime_type: mime },
        Part::Audio { mime, data } => Content::Audio { data: STANDARD.encode(&data), mime_type: mime },
        Part::File { name, mime, data } => {
            let (uri, mime_type, blob) = (name, Some(mime), Some(STANDARD.encode(&data)));
            Content::Resource { contents: ResourceContents { uri, mime_type, text: None, blob } }
        }
        // A result has none of these.
        Part::Thinking { .. } | Part::ToolUse { .. } | Part::ToolResult { .. } => return None,
    })
}
