//! Arguments of the commands for model providers, conversations, and servers' use of models.

use clap::{Args, Subcommand, ValueEnum};

/// Subcommands of the `models` command.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Lists the providers of models, or requests the current models of one provider.
    List {
        /// Identifier of the provider, such as openai.
        provider: Option<String>,
    },
    /// Adds a provider, or changes its settings. The key is read from DRAWBRIDGE_MODEL_KEY, or from standard input.
    Add(NewProvider),
    /// Stores the key of a provider, read from DRAWBRIDGE_MODEL_KEY, or from standard input.
    Key {
        /// Identifier of the provider, such as openai.
        provider: String,
    },
    /// Tests a provider by listing its models, and optionally by a request to one of them.
    Test {
        /// Identifier of the provider, such as openai.
        provider: String,
        /// Model to send a request to, which may cost a small amount.
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
    },
    /// Sets the model that new conversations start with.
    Default {
        /// Provider and model, separated by a slash.
        #[arg(value_name = "PROVIDER/MODEL")]
        model: String,
    },
    /// Removes a provider and its key.
    Remove {
        /// Identifier of the provider, such as openai.
        provider: String,
    },
}

/// Arguments of `models add`.
#[derive(Debug, Args)]
pub(crate) struct NewProvider {
    /// Provider: openai, openai-responses, anthropic, gemini, openrouter, ollama, lm-studio, llama-cpp, vllm, or a name
    /// of your choice with --url.
    pub(crate) provider: String,
    /// Base URL of the API.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// API of the provider. Defaults to that of the known provider, or else to OpenAI's.
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) kind: Option<ProviderKindName>,
    /// Display name of the provider.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Read an API key, even if the provider usually requires none.
    #[arg(long)]
    pub(crate) key: bool,
}

/// API that a model provider implements, as named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProviderKindName {
    /// OpenAI's chat completions, which most other providers support as well.
    Openai,
    /// The Responses API of OpenAI.
    Responses,
    /// The Messages API of Anthropic.
    Anthropic,
    /// The Gemini API of Google.
    Gemini,
    /// The native API of Ollama.
    Ollama,
}

/// Arguments of the `chat` command.
#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    /// Model, as PROVIDER/MODEL, or by its own name if only one provider has it.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The only message to send. By default, each line of standard input is a message.
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Server whose reviewed tools the model may use. May be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Vec<String>,
    /// System prompt of the conversation.
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Give the model the instructions that these servers provide, as data with the name of the server.
    #[arg(long)]
    pub(crate) instructions: bool,
}

/// Arguments of the `sampling` command.
#[derive(Debug, Args)]
pub(crate) struct SamplingArguments {
    /// Name of the server in the settings.
    pub(crate) server: String,
    /// Permit the server's requests to models. Each one requires approval, unless a rule with a budget allows it.
    #[arg(long, conflicts_with = "off")]
    pub(crate) on: bool,
    /// Refuse all of the server's requests to models.
    #[arg(long)]
    pub(crate) off: bool,
    /// Permit requests that offer tools to the model. The server runs these tools itself.
    #[arg(long, value_name = "true|false")]
    pub(crate) tools: Option<bool>,
    /// Maximum number of tokens of each response.
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Maximum number of requests per hour, or 0 for no limit.
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_hour: Option<u64>,
    /// Maximum number of tokens of requests and responses together per hour, or 0 for no limit.
    #[arg(long, value_name = "N")]
    pub(crate) tokens_per_hour: Option<u64>,
}
