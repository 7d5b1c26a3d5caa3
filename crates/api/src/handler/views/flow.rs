//! How content of one server flows on.

use host::flow as own;
use host::history::{Reading as HostReading, ReadingKind as HostKind};

use crate::data::*;

pub(in crate::handler) const fn flow(flow: own::DataFlow) -> DataFlow {
    let same_server = match flow.same_server {
        own::SameServer::OpenWorld => SameServer::OpenWorld,
        own::SameServer::Everything => SameServer::Everything,
        own::SameServer::Off => SameServer::Off,
    };
    DataFlow { same_server }
}

pub(in crate::handler) const fn to_flow(flow: DataFlow) -> own::DataFlow {
    let same_server = match flow.same_server {
        SameServer::OpenWorld => own::SameServer::OpenWorld,
        SameServer::Everything => own::SameServer::Everything,
        SameServer::Off => own::SameServer::Off,
    };
    own::DataFlow { same_server }
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
