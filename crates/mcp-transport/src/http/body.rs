//! Bounded reading of response bodies.

use bytes::{Bytes, BytesMut};
use mcp_proto::DeliveryFault;
use reqwest::Response;

use super::delivery_faults;

/// Reads the whole body of a response into memory. A body that arrives in a single chunk is not copied.
///
/// # Errors
/// Returns [`DeliveryFault::Lost`] if the connection fails before the end of the body, and [`DeliveryFault::Unusable`]
/// if the body is larger than `limit` bytes.
pub(super) async fn read_bounded_body(response: &mut Response, limit: usize) -> Result<Bytes, DeliveryFault> {
    let too_large = || DeliveryFault::Unusable { cause: format!("the answer is larger than {limit} bytes") };
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut chunk = async || response.chunk().await.map_err(|error| delivery_faults::fault_of_body_error(&error));
    let Some(first) = chunk().await? else { return Ok(Bytes::new()) };
    let Some(second) = chunk().await? else {
        return if first.len() > limit { Err(too_large()) } else { Ok(first) };
    };
    let mut body = BytesMut::with_capacity(announced.unwrap_or(first.len() + second.len()));
    let mut next = Some(second);
    body.extend_from_slice(&first);
    while let Some(more) = next {
        if body.len() + more.len() > limit {
            return Err(too_large());
        }
        body.extend_from_slice(&more);
        next = chunk().await?;
    }
    Ok(body.freeze())
}
