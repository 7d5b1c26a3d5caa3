//! Results of the page's sampling requests: the form that a request asks for, and the check that a result has it.

use std::collections::BTreeSet;
use std::fmt;

use mcp_proto::types::{ContentBlock, CreateMessageParams, CreateMessageResult, SamplingContent};

/// JSON-RPC error code for sampling requests that the user or the policy refuses, as in MCP.
pub(super) const SAMPLING_REFUSED_CODE: i64 = -1;

/// Reason why a result is not valid for the sampling request of an app page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SamplingResultProblem {
    /// The result has no content.
    Empty,
    /// The result has content that sampling results can't have, such as links to resources.
    Content,
    /// The result uses a tool that the request does not contain.
    Tool,
    /// The result has several blocks that are not all text, but the request asks for a single one.
    SeveralBlocks,
}

impl SamplingResultProblem {
    /// Returns the reason in English.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Empty => "the answer is empty",
            Self::Content => "the answer has content that an app can't receive",
            Self::Tool => "the answer uses a tool that the app did not offer",
            Self::SeveralBlocks => "the app reads one block of content; send one text",
        }
    }
}

impl fmt::Display for SamplingResultProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The form that the result of one sampling request of an app page must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingResultRequirements {
    /// Names of the request's tools. `None` if the request has no list of tools; its result then has a single block.
    tools: Option<BTreeSet<String>>,
}

impl SamplingResultRequirements {
    /// Returns the form of the result that this request asks for.
    #[must_use]
    pub fn for_request(params: &CreateMessageParams) -> Self {
        Self { tools: params.tools.as_ref().map(|tools| tools.iter().map(|tool| tool.name.clone()).collect()) }
    }

    /// Checks that a result can be sent to the app page.
    ///
    /// # Errors
    ///
    /// Returns the [`SamplingResultProblem`] of a result that can't be sent.
    pub fn check_result(&self, result: &CreateMessageResult) -> Result<(), SamplingResultProblem> {
        if result.content.blocks().is_empty() {
            return Err(SamplingResultProblem::Empty);
        }
        for block in result.content.blocks() {
            match block {
                ContentBlock::Text(_) | ContentBlock::Image(_) | ContentBlock::Audio(_) => {}
                ContentBlock::ToolUse(used) => {
                    if !self.tools.as_ref().is_some_and(|tools| tools.contains(&used.name)) {
                        return Err(SamplingResultProblem::Tool);
                    }
                }
                ContentBlock::ToolResult(_)
                | ContentBlock::Resource(_)
                | ContentBlock::ResourceLink(_)
                | ContentBlock::Unknown(_) => return Err(SamplingResultProblem::Content),
            }
        }
        if self.tools.is_none() && result.content.to_single_block().is_none() {
            return Err(SamplingResultProblem::SeveralBlocks);
        }
        Ok(())
    }

    /// Checks a result, and returns it in this form. If the request has no tools, several blocks of text become one.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`check_result`](Self::check_result).
    pub fn adapt_result(&self, mut result: CreateMessageResult) -> Result<CreateMessageResult, SamplingResultProblem> {
        self.check_result(&result)?;
        if self.tools.is_none()
            && let Some(block) = result.content.to_single_block()
        {
            result.content = SamplingContent::One(block);
        }
        Ok(result)
    }
}
