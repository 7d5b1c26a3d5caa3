//! The `sampling` command: shows or sets the limits on a server's use of models.

use api::Handler as _;
use api::data::{SamplingReport, ServerName, SetSampling};
use serde_json::Value;

use crate::arguments::SamplingArguments;
use crate::failure::CommandFailure;
use crate::output::to_json_value;
use crate::published_names::{SAMPLING_FIELD_NAMES, with_published_field_names};
use crate::sampling_text::format_dollars;
use crate::session::CommandSession;
use crate::terminal_escape::escape_line;

/// Changes the sampling limits of a server that the command line specifies, and prints all of its limits and its usage.
pub(crate) async fn run(session: &CommandSession, what: SamplingArguments) -> Result<Value, CommandFailure> {
    let server = what.server.clone();
    let mut settings = session.api.read_sampling(ServerName { server: server.clone() }).await?.settings;
    let before = settings.clone();
    settings.is_enabled = (settings.is_enabled || what.on) && !what.off;
    settings.tools = what.tools.unwrap_or(settings.tools);
    settings.max_tokens = what.max_tokens.unwrap_or(settings.max_tokens);
    let bound = |given: Option<u64>, own: Option<u64>| given.map_or(own, |given| Some(given).filter(|n| *n > 0));
    settings.per_hour.requests = bound(what.requests_per_hour, settings.per_hour.requests);
    settings.per_hour.tokens = bound(what.tokens_per_hour, settings.per_hour.tokens);
    if settings != before {
        session.api.set_sampling(SetSampling { server: server.clone(), settings }).await?;
    }
    let report = session.api.read_sampling(ServerName { server: server.clone() }).await?;
    session.output.print_text(&sampling_report_text(&server, &report));
    Ok(with_published_field_names(to_json_value(&report), SAMPLING_FIELD_NAMES))
}

fn sampling_report_text(server: &str, report: &SamplingReport) -> String {
    let server = escape_line(server);
    if !report.settings.is_enabled {
        return format!("{server} may not use your models. Enable it with --on.\n");
    }
    let tools = if report.settings.tools { "with tools" } else { "without tools" };
    let mut text = format!(
        "{server} may ask your models, {tools}, for answers of at most {} tokens.\n",
        report.settings.max_tokens
    );
    for (span, limits, spent) in [
        ("within the hour", &report.settings.per_hour, &report.last_hour),
        ("in all", &report.settings.total, &report.total),
    ] {
        text.push_str(&format!(
            "  {span}: {} requests{}, {} tokens{}, {}{}\n",
            spent.requests,
            optional_limit_suffix_text(limits.requests),
            spent.tokens,
            optional_limit_suffix_text(limits.tokens),
            format_dollars(spent.micros),
            limits.micros.map(|most| format!(" of {}", format_dollars(most))).unwrap_or_default(),
        ));
    }
    if report.reached_limit.is_some() {
        text.push_str("  It has reached a limit: its requests are refused.\n");
    }
    text
}

fn optional_limit_suffix_text(most: Option<u64>) -> String {
    most.map(|most| format!(" of {most}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::data::SamplingLimits;

    #[test]
    fn sampling_limits_are_shown_if_set() {
        assert_eq!(optional_limit_suffix_text(Some(5)), " of 5", "the limit should be shown");
        assert_eq!(
            optional_limit_suffix_text(SamplingLimits { requests: None, tokens: None, micros: None }.requests),
            "",
            "none"
        );
        assert_eq!(format_dollars(1_250_000), "1.250000 US dollars", "amounts should be in millionths");
    }
}
