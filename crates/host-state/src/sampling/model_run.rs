//! A model that replies to a server's sampling request, and its usage so far. Used by `host/src/owner/sampling`.

use std::sync::{Arc, Mutex, PoisonError};

use models::{ModelError, ModelReply, TokenUsage};
use server_requests::sampling::ModelUsage;

use super::UsageReservation;

/// A model's reply to a sampling request in progress. Dropping this value stops the model.
pub struct ModelRun {
    number: u64,
    /// Usage that is reserved for the run until the actual usage is known.
    pub reservation: UsageReservation,
    progress: SharedModelOutput,
    task: tokio::task::AbortHandle,
}

impl ModelRun {
    /// Creates the record of a model run. `task` is the async task that runs the model, which is aborted when the
    /// record is dropped.
    pub const fn new(
        number: u64,
        reservation: UsageReservation,
        progress: SharedModelOutput,
        task: tokio::task::AbortHandle,
    ) -> Self {
        Self { number, reservation, progress, task }
    }

    /// Returns `true` if this run has the given number.
    pub const fn has_number(&self, number: u64) -> bool {
        self.number == number
    }

    /// Returns the actual usage of a run that ended with `outcome`, or `None` if the reserved maximum has to remain
    /// recorded. Also returns the cost in millionths of a US dollar if the reply is complete and the price is known.
    pub fn final_usage(&self, outcome: &ModelOutcome) -> (Option<ModelUsage>, Option<u64>) {
        let ModelOutput { began, bytes, usage } = self.progress.read();
        match outcome {
            Ok(reply) => {
                let (spent, cost) = self.reservation.fill_in_missing_usage(reply.usage, bytes);
                (Some(spent), cost)
            }
            Err(_) if !began => (Some(self.reservation.unanswered_usage()), None),
            Err(ModelError::Silent { .. } | ModelError::Cut) => (self.reservation.partial_usage(usage, bytes), None),
            // A reply that was refused with a message is assumed to contain little reasoning.
            Err(_) => {
                let output = Some(usage.output.unwrap_or(0));
                (self.reservation.partial_usage(TokenUsage { output, ..usage }, bytes), None)
            }
        }
    }

    /// Returns the actual usage if the model is stopped now, or `None` if the reserved maximum has to remain recorded.
    pub fn usage_if_stopped_now(&self) -> Option<ModelUsage> {
        let ModelOutput { bytes, usage, .. } = self.progress.read();
        self.reservation.partial_usage(usage, bytes)
    }
}

impl Drop for ModelRun {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Result of a model run: the complete reply, or the error that ended the run.
pub type ModelOutcome = Result<ModelReply, ModelError>;

/// Output of a model run so far, shared with the async task that runs the model, so that usage can be counted before
/// the run ends.
#[derive(Clone, Default)]
pub struct SharedModelOutput(Arc<Mutex<ModelOutput>>);

/// Output of a model run so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelOutput {
    /// Set once the model's provider has accepted the request.
    pub began: bool,
    /// Number of received bytes of the reply: text, reasoning and arguments of tool uses.
    pub bytes: u64,
    /// Number of tokens, as far as the provider has reported it.
    pub usage: TokenUsage,
}

impl SharedModelOutput {
    fn read(&self) -> ModelOutput {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a change to the recorded output.
    pub fn change(&self, change: impl FnOnce(&mut ModelOutput)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(output: ModelOutput) -> ModelRun {
        let (progress, task) = (SharedModelOutput::default(), tokio::spawn(async {}));
        progress.change(|now| *now = output);
        ModelRun::new(1, UsageReservation::for_tests(100, 1_000), progress, task.abort_handle())
    }

    #[tokio::test]
    async fn request_not_accepted_by_the_provider_uses_no_tokens() {
        let spent = run(ModelOutput::default()).final_usage(&Err(ModelError::Cut)).0.map(|spent| spent.tokens);
        assert_eq!(spent, Some(0), "a request that the provider didn't accept uses no tokens");
    }

    #[tokio::test]
    async fn usage_of_an_interrupted_reply_is_estimated_or_the_maximum() {
        let began = ModelOutput { began: true, ..ModelOutput::default() };
        let tokens = |output, error| run(output).final_usage(&Err(error)).0.map(|spent| spent.tokens);
        assert_eq!(tokens(began, ModelError::Cut), None, "a reply without output may have been reasoning all the time");
        assert_eq!(
            tokens(ModelOutput { bytes: 30, ..began }, ModelError::Cut),
            Some(110),
            "three bytes count as one token"
        );
        let refused = ModelError::Refused { message: String::new() };
        assert_eq!(tokens(began, refused), Some(100), "a refusal only uses the tokens of the request");
    }
}
