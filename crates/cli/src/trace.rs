//! Trace context of this process: `TRACEPARENT`, `TRACESTATE` and `BAGGAGE` in the environment, as OpenTelemetry passes
//! them to child processes.

use host::TraceContext;

/// Returns the trace context of this process from its environment variables, or `None` without a valid `TRACEPARENT`.
/// Logs and ignores values that do not conform to the W3C format.
pub(crate) fn from_environment() -> Option<TraceContext> {
    trace_context_from_variables(|name| std::env::var(name).ok())
}

fn trace_context_from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<TraceContext> {
    let value = |name| variable(name).filter(|value| !value.is_empty());
    let parent = value("TRACEPARENT")?;
    let mut trace = warn_if_trace_variable_is_invalid("TRACEPARENT", TraceContext::new(parent.clone(), None, None))?;
    let mut state = value("TRACESTATE");
    if state.is_some() {
        match warn_if_trace_variable_is_invalid("TRACESTATE", TraceContext::new(parent.clone(), state.clone(), None)) {
            Some(whole) => trace = whole,
            None => state = None,
        }
    }
    if let Some(baggage) = value("BAGGAGE")
        && let Some(whole) =
            warn_if_trace_variable_is_invalid("BAGGAGE", TraceContext::new(parent, state, Some(baggage)))
    {
        trace = whole;
    }
    Some(trace)
}

fn warn_if_trace_variable_is_invalid<T>(name: &str, read: Result<T, impl std::fmt::Display>) -> Option<T> {
    read.inspect_err(|error| tracing::error!("ignored the invalid environment variable {name}: {error}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_trace_variables_are_ignored() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let read = |parent: &str, state: &str, baggage: &str| {
            trace_context_from_variables(|name| {
                let value = match name {
                    "TRACEPARENT" => parent,
                    "TRACESTATE" => state,
                    _ => baggage,
                };
                Some(value.to_owned())
            })
        };
        let trace = |state: Option<&str>, baggage: Option<&str>| {
            let owned = |text: &str| text.to_owned();
            TraceContext::new(parent.to_owned(), state.map(owned), baggage.map(owned)).ok()
        };
        assert!(trace(None, None).is_some(), "the parent is valid");
        assert_eq!(read(parent, "a=1", "b=2"), trace(Some("a=1"), Some("b=2")), "all three values are used");
        assert_eq!(read(parent, "", ""), trace(None, None), "empty variables count as missing");
        assert_eq!(read(parent, "none", "b=2"), trace(None, Some("b=2")), "only the invalid state is ignored");
        assert_eq!(read(parent, "a=1", "none"), trace(Some("a=1"), None), "only the invalid baggage is ignored");
        assert_eq!(read("00-1-2-3", "a=1", "b=2"), None, "without a parent there is no trace");
        assert_eq!(trace_context_from_variables(|_| None), None, "an empty environment has no trace");
    }
}
