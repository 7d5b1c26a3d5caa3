//! Code generated from the command table: the list of names, the trait [`Handler`], and the dispatch by name.

use std::pin::Pin;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::data::*;
use crate::{ApiError, ErrorCode};

include!("command_list.rs");

macro_rules! expand {
    ($($(#[$doc:meta])* $name:ident: $request:ty => $response:ty,)*) => {
        /// Names of all commands, in the order of the table.
        pub const COMMANDS: &[&str] = &[$(stringify!($name)),*];

        /// Commands of the API, with one method for each.
        #[async_trait::async_trait]
        pub trait Handler: Send + Sync {
            $($(#[$doc])* async fn $name(&self, request: $request) -> Result<$response, ApiError>;)*
        }

        /// Executes the command `name` with a JSON request and returns the response as JSON text.
        ///
        /// # Errors
        /// Returns [`ErrorCode::BadRequest`] for an unknown name or a request that does not match its type,
        /// [`ErrorCode::Internal`] if the response can't be serialized, or the error of the command.
        pub async fn respond(handler: &dyn Handler, name: &str, request: &Value) -> Result<String, ApiError> {
            let response = match name {
                $(stringify!($name) => run_command_with_json(name, request, |request| handler.$name(request)),)*
                _ => return Err(ApiError::new(ErrorCode::BadRequest, format!("there is no command {name}"))),
            };
            response.await
        }

        pub(crate) fn command_interface(config: &ts_rs::Config, all: &mut crate::typescript::TsDeclarations) -> String {
            let mut lines = String::from("export interface Commands {\n");
            $(
                all.add::<$request>();
                all.add::<$response>();
                lines.push_str(&format!(
                    "  {}: {{ request: {}; response: {} }};\n",
                    stringify!($name),
                    <$request as ts_rs::TS>::name(config),
                    <$response as ts_rs::TS>::name(config),
                ));
            )*
            lines.push_str("}\n");
            lines
        }
    };
}
commands!(expand);

/// Boxed future of a command, as the methods of an `async_trait` return it.
type ResponseFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send + 'a>>;

/// Executes one command with a JSON request. The future returns the response as JSON text.
///
/// The future is boxed: one future with the state of every command would take most of this crate's compile time.
fn run_command_with_json<'a, Request: DeserializeOwned, T: Serialize + Send + 'a>(
    name: &'a str,
    request: &Value,
    run: impl FnOnce(Request) -> ResponseFuture<'a, T>,
) -> ResponseFuture<'a, String> {
    let response = match Request::deserialize(request) {
        Ok(request) => run(request),
        Err(error) => {
            let error = ApiError::new(ErrorCode::BadRequest, format!("{name}: {error}"));
            return Box::pin(std::future::ready(Err(error)));
        }
    };
    Box::pin(async move {
        serde_json::to_string(&response.await?).map_err(|error| response_serialization_error(name, &error))
    })
}

/// Executes a command like [`respond`], but returns the response as a [`Value`].
///
/// # Errors
/// Returns the errors of [`respond`].
pub async fn dispatch(handler: &dyn Handler, name: &str, request: Value) -> Result<Value, ApiError> {
    let text = respond(handler, name, &request).await?;
    serde_json::from_str(&text).map_err(|error| response_serialization_error(name, &error))
}

fn response_serialization_error(name: &str, error: &serde_json::Error) -> ApiError {
    ApiError::new(ErrorCode::Internal, format!("{name}: {error}"))
}
