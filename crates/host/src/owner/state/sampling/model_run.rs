//! A model at work on a server's request, and what it took so far. Callers: `owner/sampling`.

use std::sync::{Arc, Mutex, PoisonError};

use models::{ModelError, Reply, TokenUse};
use server_requests::sampling::Spent;

use super::UsageReservation;

/// A model at work. Dropped, it stops.
pub(in crate::owner) struct ModelRun {
    number: u64,
    pub(in crate::owner) reservation: UsageReservation,
    progress: RunProgress,
    task: tokio::task::AbortHandle,
}

impl ModelRun {
    pub(in crate::owner) const fn new(
        number: u64,
        reservation: UsageReservation,
        progress: RunProgress,
        task: tokio::task::AbortHandle,
    ) -> Self {
        Self { number, reservation, progress, task }
    }

    /// Returns true if it is the run of this number.
    pub(in crate::owner) const fn is(&self, number: u64) -> bool {
        self.number == number
    }

    /// The usage to count in place of the reservation, `None` where that stands; with the cost, in millionths of a US dollar, if
    /// the model came to its end and its price is known.
    pub(in crate::owner) fn settlement(&self, outcome: &ModelOutcome) -> (Option<Spent>, Option<u64>) {
        let ModelOutput { began, bytes, usage } = self.progress.read();
        match outcome {
            Ok(reply) => {
                let (spent, cost) = self.reservation.settled(reply.usage, bytes);
                (Some(spent), cost)
            }
            Err(_) if !began => (Some(self.reservation.unanswered()), None),
            Err(ModelError::Silent { .. } | ModelError::Cut) => (self.reservation.cut(usage, bytes), None),
            // What it refuses in words it did not think about for long.
            Err(_) => {
                let output = Some(usage.output.unwrap_or(0));
                (self.reservation.cut(TokenUse { output, ..usage }, bytes), None)
            }
        }
    }

    /// The usage to count if the model is stopped now; `None` where the reservation stands.
    pub(in crate::owner) fn settlement_if_stopped(&self) -> Option<Spent> {
        let ModelOutput { bytes, usage, .. } = self.progress.read();
        self.reservation.cut(usage, bytes)
    }
}

impl Drop for ModelRun {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How a model ended.
pub(in crate::owner) type ModelOutcome = Result<Reply, ModelError>;

/// The progress of a model, for whoever has to count it before its end.
#[derive(Clone, Default)]
pub(in crate::owner) struct RunProgress(Arc<Mutex<ModelOutput>>);

/// The output of a model so far.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::owner) struct ModelOutput {
    /// Set once the provider took the request.
    pub(in crate::owner) began: bool,
    /// Bytes of the answer: words, thoughts, arguments.
    pub(in crate::owner) bytes: u64,
    /// The tokens that it took, as far as the provider said it.
    pub(in crate::owner) usage: TokenUse,
}

impl RunProgress {
    fn read(&self) -> ModelOutput {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::owner) fn change(&self, change: impl FnOnce(&mut ModelOutput)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(output: ModelOutput) -> ModelRun {
        let (progress, task) = (RunProgress::default(), tokio::spawn(async {}));
        progress.change(|now| *now = output);
        ModelRun::new(1, UsageReservation::for_tests(100, 1_000), progress, task.abort_handle())
    }

    #[tokio::test]
    async fn a_model_that_was_never_asked_costs_nothing() {
        let spent = run(ModelOutput::default()).settlement(&Err(ModelError::Cut)).0.map(|spent| spent.tokens);
        assert_eq!(spent, Some(0), "the provider did not take the request");
    }

    #[tokio::test]
    async fn a_cut_answer_counts_by_what_came_and_a_silent_model_at_its_most() {
        let began = ModelOutput { began: true, ..ModelOutput::default() };
        let tokens = |output, error| run(output).settlement(&Err(error)).0.map(|spent| spent.tokens);
        assert_eq!(tokens(began, ModelError::Cut), None, "of which nothing came may have thought all the time");
        assert_eq!(tokens(ModelOutput { bytes: 30, ..began }, ModelError::Cut), Some(110), "three bytes are a token");
        let refused = ModelError::Refused { said: String::new() };
        assert_eq!(tokens(began, refused), Some(100), "what refuses in words took only the request");
    }
}
