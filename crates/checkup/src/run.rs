//! Runs checks concurrently, each with a time limit. A check that fails or hangs doesn't stop the others.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::timeout;

use crate::finding::{CheckId, CheckOutcome, Finding};
use crate::text::FindingText;

/// Time limit of one check. It is long enough for the user to answer a password prompt of the keychain.
pub(crate) const CHECK_TIMEOUT: Duration = Duration::from_secs(20);

/// A check that has not run yet, with its identifier.
pub(crate) struct Check {
    id: CheckId,
    run: BoxFuture<'static, CheckOutcome>,
}

impl Check {
    pub(crate) fn new(id: CheckId, run: impl Future<Output = CheckOutcome> + Send + 'static) -> Self {
        Self { id, run: Box::pin(run) }
    }

    /// Creates a check that runs on a blocking thread, because it waits for the disk or another program.
    pub(crate) fn blocking(id: CheckId, run: impl FnOnce() -> CheckOutcome + Send + 'static) -> Self {
        Self::new(id, async {
            match tokio::task::spawn_blocking(run).await {
                Ok(outcome) => outcome,
                Err(error) => crashed_check_outcome(error),
            }
        })
    }
}

/// Runs the checks concurrently, and returns their findings in the order of `checks`.
pub(crate) async fn run_checks(checks: Vec<Check>) -> Vec<Finding> {
    let running: Vec<_> =
        checks.into_iter().map(|check| (check.id, tokio::spawn(timeout(CHECK_TIMEOUT, check.run)))).collect();
    let mut findings = Vec::new();
    for (id, task) in running {
        let outcome = match task.await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => CheckOutcome::unknown(
                FindingText::new("This did not end within ").number(CHECK_TIMEOUT.as_secs()).and(" s."),
                FindingText::new("Check again when this computer is less busy."),
            ),
            Err(error) => crashed_check_outcome(error),
        };
        findings.push(outcome.into_finding(id));
    }
    findings
}

fn crashed_check_outcome(error: tokio::task::JoinError) -> CheckOutcome {
    tracing::error!(%error, "a check of this computer failed");
    CheckOutcome::unknown(
        FindingText::new("The check itself failed."),
        FindingText::new("Report this as a bug of Drawbridge, with the report of this check."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::FindingState;

    #[tokio::test(start_paused = true)]
    async fn failing_or_hanging_check_does_not_stop_the_others() {
        let findings = run_checks(vec![
            Check::new(CheckId::Proxy, async { panic!("this check panics") }),
            Check::new(CheckId::Node, std::future::pending()),
            Check::blocking(CheckId::Clock, || panic!("this check panics on a blocking thread")),
            Check::new(CheckId::Uv, async { CheckOutcome::ok(FindingText::new("fine")) }),
        ])
        .await;
        let states: Vec<_> = findings.iter().map(|finding| (finding.id, finding.state)).collect();
        let unknown = FindingState::Unknown;
        assert_eq!(
            states,
            [
                (CheckId::Proxy, unknown),
                (CheckId::Node, unknown),
                (CheckId::Clock, unknown),
                (CheckId::Uv, FindingState::Ok)
            ],
            "each check has a finding, in the order of the checks"
        );
        assert!(
            findings[1].observation.to_string().contains("20 s"),
            "the finding of a hanging check contains the time limit: {}",
            findings[1].observation
        );
        assert!(
            findings.iter().all(|finding| finding.id == CheckId::Uv || finding.remedy.is_some()),
            "each failed check has a remedy"
        );
    }
}
