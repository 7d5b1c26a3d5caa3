//! What a server can show, and since which revision.

use mcp_proto::Revision;

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    Pages,
    Call,
    Structured,
    ToolError,
    Content,
    NewerContent,
    Progress,
    Log,
    Prompts,
    Completion,
    Context,
    Resources,
    ListChanged,
    Subscription,
    Form,
    Url,
    Sampling,
    Roots,
    Cancel,
    Resumption,
    /// Tasks as this revision has them.
    Tasks(Revision),
}

use Feature::{
    Call, Cancel, Completion, Content, Context, Form, ListChanged, Log, NewerContent, Pages, Progress, Prompts,
    Resources, Resumption, Roots, Sampling, Structured, Subscription, Tasks, ToolError, Url,
};

/// The columns, in their order. Tasks are one column, in the form that the row's revision has.
pub(crate) fn columns(revision: Revision) -> [Feature; 21] {
    [
        Pages,
        Call,
        Structured,
        ToolError,
        Content,
        NewerContent,
        Progress,
        Log,
        Prompts,
        Completion,
        Context,
        Resources,
        ListChanged,
        Subscription,
        Form,
        Url,
        Sampling,
        Roots,
        Cancel,
        Resumption,
        Tasks(revision),
    ]
}

impl Feature {
    /// The column's head.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Pages => "lists in pages",
            Call => "calls",
            Structured => "structured content",
            ToolError => "tool errors",
            Content => "text, image, resource",
            NewerContent => "audio, link",
            Progress => "progress",
            Log => "log messages",
            Prompts => "prompts",
            Completion => "completion",
            Context => "completion with context",
            Resources => "resources, templates",
            ListChanged => "list changes",
            Subscription => "subscriptions",
            Form => "forms",
            Url => "URLs",
            Sampling => "sampling",
            Roots => "roots",
            Cancel => "cancellation",
            Resumption => "stream taken up again",
            Tasks(_) => "tasks",
        }
    }

    /// Whether a revision has it, over this transport.
    pub(crate) fn is_in(self, revision: Revision, over_streamable_http: bool) -> bool {
        match self {
            NewerContent | Structured | Form | Context => revision >= Revision::V2025_06_18,
            Url => revision >= Revision::V2025_11_25,
            Tasks(_) => revision >= Revision::V2025_11_25,
            Resumption => revision == Revision::V2025_11_25 && over_streamable_http,
            _ => true,
        }
    }
}
