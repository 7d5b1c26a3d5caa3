//! Trace context in `_meta` (`basic`, section on `_meta`, 2026-07-28; W3C Trace Context and W3C Baggage).

use crate::jsonrpc::JsonObjectWriter;

/// Maximum length of `tracestate` and of `baggage` in bytes. The W3C specifications do not require implementations to
/// propagate longer values.
const MAX_TRACE_HEADER_BYTES: usize = 8192;

/// Trace context that calls send in `_meta`, in the format of W3C Trace Context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    traceparent: String,
    tracestate: Option<String>,
    baggage: Option<String>,
}

/// Error for a trace context that does not conform to W3C Trace Context or W3C Baggage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not have the form of W3C Trace Context or W3C Baggage")]
pub struct InvalidTraceContext(&'static str);

impl TraceContext {
    /// Creates a trace context from the values of its three headers, and validates them.
    ///
    /// # Errors
    /// Returns [`InvalidTraceContext`] with the name of the header that does not conform to its W3C specification.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_proto::{SessionConfig, TraceContext};
    ///
    /// let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned();
    /// let trace = TraceContext::new(parent.clone(), None, Some("tenant=blue".to_owned()))?;
    /// let config = SessionConfig { trace: Some(trace), ..SessionConfig::default() };
    /// assert!(config.trace.is_some());
    ///
    /// let refused = TraceContext::new(parent.to_uppercase(), None, None).unwrap_err();
    /// assert!(refused.to_string().contains("traceparent"), "the error names the part");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        traceparent: String,
        tracestate: Option<String>,
        baggage: Option<String>,
    ) -> Result<TraceContext, InvalidTraceContext> {
        if !is_valid_traceparent(&traceparent) {
            return Err(InvalidTraceContext("traceparent"));
        }
        for (name, list) in [("tracestate", &tracestate), ("baggage", &baggage)] {
            if list.as_ref().is_some_and(|list| !is_key_value_list(list)) {
                return Err(InvalidTraceContext(name));
            }
        }
        Ok(TraceContext { traceparent, tracestate, baggage })
    }

    pub(super) fn write(&self, meta: &mut JsonObjectWriter<'_>) {
        meta.put("traceparent", &self.traceparent);
        for (name, list) in [("tracestate", &self.tracestate), ("baggage", &self.baggage)] {
            if let Some(list) = list {
                meta.put(name, list);
            }
        }
    }
}

/// Returns `true` for `00-<32 hex>-<16 hex>-<2 hex>` in lower case whose ids are not all zeros.
fn is_valid_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [version, trace, span, flags] = parts[..] else { return false };
    let hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let zeros = |part: &str| part.bytes().all(|byte| byte == b'0');
    version == "00" && hex(trace, 32) && hex(span, 16) && hex(flags, 2) && !zeros(trace) && !zeros(span)
}

/// Returns `true` for comma-separated `key=value` members in printable ASCII.
fn is_key_value_list(text: &str) -> bool {
    text.len() <= MAX_TRACE_HEADER_BYTES
        && text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'))
        && text.split(',').all(|member| member.split_once('=').is_some_and(|(key, _)| !key.trim().is_empty()))
}
