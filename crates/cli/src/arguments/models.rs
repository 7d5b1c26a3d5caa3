//! Arguments of the commands for providers of models, conversations, and what servers may use of models.

use clap::{Args, Subcommand, ValueEnum};

/// What to do with providers of models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// The providers, or the models of one as it lists them now.
    List {
        /// The provider.
        provider: Option<String>,
    },
    /// Adds a provider, or changes it. A key is taken from DRAWBRIDGE_MODEL_KEY, or from standard input.
    Add(NewProvider),
    /// Enters the key of a provider: from DRAWBRIDGE_MODEL_KEY, or from standard input.
    Key {
        /// The provider.
        provider: String,
    },
    /// Tries a provider: whether it lists its models, and what one of them says.
    Test {
        /// The provider.
        provider: String,
        /// The model to ask. What it says may cost a little.
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
    },
    /// Sets the model that new conversations begin with.
    Default {
        /// The model.
        #[arg(value_name = "PROVIDER/MODEL")]
        model: String,
    },
    /// Takes a provider out, and its key.
    Remove {
        /// The provider.
        provider: String,
    },
}

/// A provider of models.
#[derive(Debug, Args)]
pub(crate) struct NewProvider {
    /// openai, openai-responses, anthropic, gemini, openrouter, ollama, lm-studio, llama-cpp, vllm, or a name of your own with --url.
    pub(crate) provider: String,
    /// Where its API begins.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The wire it speaks. Unless given, that of the known provider, or OpenAI's.
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) kind: Option<WireName>,
    /// Its name, to show.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Read a key, also where none is usual.
    #[arg(long)]
    pub(crate) key: bool,
}

/// The wires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WireName {
    /// OpenAI's chat completions, which most others speak too.
    Openai,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own.
    Ollama,
}

/// A conversation.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// The model, as PROVIDER/MODEL, or by its own name where only one provider has it.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// What to say. Unless given, each line of standard input is a message.
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// A server whose tools the model may use, as far as you have reviewed them. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Vec<String>,
    /// How the model should behave.
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Whether the model gets the instructions of these servers, as data with their source named.
    #[arg(long)]
    pub(crate) instructions: bool,
}

/// How much of your models a server may use.
#[derive(Debug, Args)]
pub(crate) struct Sampling {
    /// The server.
    pub(crate) server: String,
    /// Let it ask. Each request is asked about, unless a rule with a budget allows it.
    #[arg(long, conflicts_with = "off")]
    pub(crate) on: bool,
    /// Refuse all that it asks of models.
    #[arg(long)]
    pub(crate) off: bool,
    /// Whether its requests may bring tools for the model, which it runs itself.
    #[arg(long, value_name = "true|false")]
    pub(crate) tools: Option<bool>,
    /// The most tokens of one answer.
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// The most requests in an hour; 0 for no bound.
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_hour: Option<u64>,
    /// The most tokens in an hour, of requests and answers together; 0 for no bound.
    #[arg(long, value_name = "N")]
    pub(crate) tokens_per_hour: Option<u64>,
}
