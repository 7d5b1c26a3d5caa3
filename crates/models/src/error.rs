//! Errors of model providers, with advice for the user.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::LossyConversion;

/// Error of a request to a model or its provider. No variant contains an API key or a request. Messages of providers
/// are truncated to [`MAX_PROVIDER_MESSAGE_CHARS`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The user has not entered an API key for the provider.
    #[error("no key was entered for this provider; enter one in Models")]
    NoKey,
    /// The stored API key of the provider can't be read or decrypted.
    #[error("the key of this provider can't be read: {cause}")]
    KeyUnreadable {
        /// Text for the user: the reason why the key can't be read, with advice.
        cause: String,
    },
    /// The provider rejected the API key.
    #[error("the provider rejects the key; enter another one in Models{}", provider_message_text(.message))]
    WrongKey {
        /// Message of the provider, truncated.
        message: String,
    },
    /// The provider accepted the API key, but does not allow the request with it, for instance because of the model or
    /// the user's country.
    #[error("the provider does not allow this request; check the permissions of your account there, or choose another model{}", provider_message_text(.message))]
    Forbidden {
        /// Message of the provider, truncated.
        message: String,
    },
    /// The account at the provider has no credit.
    #[error("the account at the provider has no credit left; top it up there, or choose another model{}", provider_message_text(.message))]
    NoCredit {
        /// Message of the provider, truncated.
        message: String,
    },
    /// The provider's rate limit for requests or tokens is exceeded.
    #[error("the provider accepts no more requests for now; {}, or choose another model", retry_in_text(.retry_after))]
    RateLimited {
        /// Time until the provider allows another attempt, if it reports one.
        retry_after: Option<Duration>,
    },
    /// The provider is temporarily overloaded.
    #[error("the provider is overloaded; try again in a minute, or choose another model")]
    Overloaded,
    /// The request exceeds the model's context.
    #[error("the conversation is longer than the model supports{}; shorten it, or choose a model with more context", token_limit_text(.limit))]
    ContextTooLong {
        /// Maximum context size of the model in tokens, or `None` if the provider did not report it.
        limit: Option<u32>,
    },
    /// The provider refused to process the content of the request.
    #[error("the provider refuses this request because of its content; change it, or choose another model{}", provider_message_text(.message))]
    Refused {
        /// Message of the provider, truncated.
        message: String,
    },
    /// The provider has no model with this name.
    #[error("the provider has no model \"{model}\", or not for this key; choose another one")]
    NotFound {
        /// Identifier of the requested model.
        model: String,
    },
    /// No connection to the provider could be established.
    #[error("the provider can't be reached ({cause}); check the network and the address in Models")]
    Unreachable {
        /// Text for the user: the reason why the connection failed, without the query of the provider's URL.
        cause: String,
    },
    /// The provider sent no data before the idle timeout.
    #[error("the provider sent nothing for {} seconds; try again, or choose another model", .after.as_secs())]
    Silent {
        /// Duration of the idle timeout.
        after: Duration,
    },
    /// The stream of the model's answer ended before the answer was complete.
    #[error("the answer is incomplete; try again to get the full answer")]
    Cut,
    /// The response of the provider can't be parsed.
    #[error(
        "the response of the provider can't be parsed ({cause}); check that the address in Models is that of a provider of this kind"
    )]
    Unreadable {
        /// Description of the problem, without content of the response.
        cause: String,
    },
    /// The provider's answer exceeds the maximum size.
    #[error("the answer is larger than {} MiB and was cut; ask for less", .limit >> 20)]
    TooLarge {
        /// Maximum size of an answer in bytes.
        limit: usize,
    },
    /// The model wrote tool arguments that are not a JSON object.
    #[error("the model wrote arguments for the tool \"{tool}\" that can't be read; try again, or choose another model")]
    BadArguments {
        /// Name of the tool as in the request.
        tool: String,
    },
    /// The request was not sent, because the provider's API does not support a part of it, which either can't be
    /// converted or is set to be refused.
    #[error("{0}; remove it, choose another model, or choose its conversion in Models")]
    CannotCarry(LossyConversion),
    /// The provider's address in the settings file was changed by another program, and the user has not confirmed the
    /// new one.
    #[error("this provider is not used: its address was changed outside of Drawbridge{} to {now}; if that was you, confirm it in Models, or set the provider up again with drawbridge-cli", from_previous_address_text(.was))]
    Unconfirmed {
        /// Address that the user confirmed last, or `None` if the user never confirmed one.
        was: Option<String>,
        /// Current address of the provider.
        now: String,
    },
    /// No provider with this identifier is configured.
    #[error("no provider \"{id}\" is set up; add it in Models")]
    NoProvider {
        /// Identifier of the requested provider, which is not configured.
        id: String,
    },
    /// Any other error that a provider reported.
    #[error("{}{}", http_status_text(.status), provider_message_text(.message))]
    Provider {
        /// HTTP status, or 0 for an error inside an event stream.
        status: u16,
        /// Message of the provider, truncated.
        message: String,
    },
}

/// Maximum length of a provider's message in an error, in characters.
pub const MAX_PROVIDER_MESSAGE_CHARS: usize = 500;

/// Stable code of a model error. The page has a text for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum ModelErrorCode {
    /// The user has not entered an API key for the provider.
    NoKey,
    /// The stored API key of the provider can't be read.
    KeyUnreadable,
    /// The provider rejected the API key.
    WrongKey,
    /// The provider does not allow the request for this API key, model or country.
    Forbidden,
    /// The account at the provider has no credit left.
    NoCredit,
    /// The provider's rate limit for requests or tokens is exceeded.
    RateLimited,
    /// The provider is temporarily overloaded.
    Overloaded,
    /// The request is longer than the context of the model.
    ContextTooLong,
    /// The provider refuses the request because of its content.
    Refused,
    /// The provider has no model of this name.
    NotFound,
    /// The provider can't be reached over the network.
    Unreachable,
    /// The provider sent no data before the idle timeout.
    Silent,
    /// The stream of the model's answer ended before the answer was complete.
    Cut,
    /// The response of the provider can't be parsed.
    Unreadable,
    /// The provider's answer exceeded the maximum size, and was not read further.
    TooLarge,
    /// The model wrote tool arguments that are not a JSON object.
    BadArguments,
    /// The provider's API does not support a part of the request.
    CannotCarry,
    /// The provider's address was changed by another program and is not confirmed.
    Unconfirmed,
    /// No provider with this identifier is configured.
    NoProvider,
    /// The answer to a server's sampling request is empty.
    Empty,
    /// The model used all tokens of a server's sampling request for reasoning.
    OutOfTokens,
    /// The model's answer can't be converted to a sampling result for the server that requested it.
    Unfit,
    /// Drawbridge failed, for instance because the history can't be written.
    Internal,
    /// The provider reported another error, or the code is from a newer version of Drawbridge.
    #[serde(other)]
    Provider,
}

impl ModelErrorCode {
    /// Returns the serialized name of the code, which the page and stored conversations use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoKey => "noKey",
            Self::KeyUnreadable => "keyUnreadable",
            Self::WrongKey => "wrongKey",
            Self::Forbidden => "forbidden",
            Self::NoCredit => "noCredit",
            Self::RateLimited => "rateLimited",
            Self::Overloaded => "overloaded",
            Self::ContextTooLong => "contextTooLong",
            Self::Refused => "refused",
            Self::NotFound => "notFound",
            Self::Unreachable => "unreachable",
            Self::Silent => "silent",
            Self::Cut => "cut",
            Self::Unreadable => "unreadable",
            Self::TooLarge => "tooLarge",
            Self::BadArguments => "badArguments",
            Self::CannotCarry => "cannotCarry",
            Self::Unconfirmed => "unconfirmed",
            Self::NoProvider => "noProvider",
            Self::Empty => "empty",
            Self::OutOfTokens => "outOfTokens",
            Self::Unfit => "unfit",
            Self::Internal => "internal",
            Self::Provider => "provider",
        }
    }
}

impl ModelError {
    /// Returns the name of the error's [`kind`](Self::kind).
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind().name()
    }

    /// Returns the technical cause without the advice of the message, or `None` if the error has none.
    #[must_use]
    pub fn technical_cause(&self) -> Option<&str> {
        match self {
            Self::KeyUnreadable { cause } | Self::Unreachable { cause } | Self::Unreadable { cause } => Some(cause),
            _ => None,
        }
    }

    /// Returns the stable identifier of the error.
    #[must_use]
    pub const fn kind(&self) -> ModelErrorCode {
        match self {
            Self::NoKey => ModelErrorCode::NoKey,
            Self::KeyUnreadable { .. } => ModelErrorCode::KeyUnreadable,
            Self::WrongKey { .. } => ModelErrorCode::WrongKey,
            Self::Forbidden { .. } => ModelErrorCode::Forbidden,
            Self::NoCredit { .. } => ModelErrorCode::NoCredit,
            Self::RateLimited { .. } => ModelErrorCode::RateLimited,
            Self::Overloaded => ModelErrorCode::Overloaded,
            Self::ContextTooLong { .. } => ModelErrorCode::ContextTooLong,
            Self::Refused { .. } => ModelErrorCode::Refused,
            Self::NotFound { .. } => ModelErrorCode::NotFound,
            Self::Unreachable { .. } => ModelErrorCode::Unreachable,
            Self::Silent { .. } => ModelErrorCode::Silent,
            Self::Cut => ModelErrorCode::Cut,
            Self::Unreadable { .. } => ModelErrorCode::Unreadable,
            Self::TooLarge { .. } => ModelErrorCode::TooLarge,
            Self::BadArguments { .. } => ModelErrorCode::BadArguments,
            Self::CannotCarry(_) => ModelErrorCode::CannotCarry,
            Self::Unconfirmed { .. } => ModelErrorCode::Unconfirmed,
            Self::NoProvider { .. } => ModelErrorCode::NoProvider,
            Self::Provider { .. } => ModelErrorCode::Provider,
        }
    }
}

fn provider_message_text(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(". It says: {message}") }
}

fn from_previous_address_text(was: &Option<String>) -> String {
    was.as_ref().map(|was| format!(" from {was}")).unwrap_or_default()
}

fn http_status_text(status: &u16) -> String {
    match status {
        0 => "the provider ended its answer with an error; try again, or choose another model".to_owned(),
        400..=499 => format!("the provider rejects this request (error {status}); choose another model"),
        _ => format!("the provider reports an internal error ({status}); try again, or choose another model"),
    }
}

fn retry_in_text(retry_after: &Option<Duration>) -> String {
    match retry_after {
        Some(time) => format!("try again in {} s", time.as_secs().max(1)),
        None => "try again in a minute".into(),
    }
}

fn token_limit_text(limit: &Option<u32>) -> String {
    limit.map_or_else(String::new, |tokens| format!(" ({tokens} tokens)"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::ModelError;
    use super::ModelErrorCode::{self, *};

    #[test]
    fn technical_cause_is_part_of_the_error_message() {
        let error = ModelError::Unreachable { cause: "Connection refused".to_owned() };
        assert_eq!(error.technical_cause(), Some("Connection refused"));
        assert!(error.to_string().contains("(Connection refused)"), "the message contains it: {error}");
        assert_eq!(ModelError::NoKey.technical_cause(), None, "the code says everything");
    }

    #[test]
    fn model_error_code_is_serialized_as_its_stable_name() {
        let all = [
            NoKey,
            KeyUnreadable,
            WrongKey,
            Forbidden,
            NoCredit,
            RateLimited,
            Overloaded,
            ContextTooLong,
            Refused,
            NotFound,
            Unreachable,
            Silent,
            Cut,
            Unreadable,
            TooLarge,
            BadArguments,
            CannotCarry,
            Unconfirmed,
            NoProvider,
            Empty,
            OutOfTokens,
            Unfit,
            Internal,
            Provider,
        ];
        for code in all {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        }
        let newer: ModelErrorCode = serde_json::from_str("\"ofANewerVersion\"").unwrap();
        assert_eq!(newer, Provider, "a conversation with an unknown code can still be read");
    }
}
