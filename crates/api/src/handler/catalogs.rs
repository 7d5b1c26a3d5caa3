//! What servers offer, and tool calls.

use std::collections::HashSet;

use policy::{Hash, Scope, Subject};

use super::{Api, object, views};
use crate::data::*;
use crate::{ApiError, ErrorCode};

/// How long a structured result is checked against the tool's schema.
const CHECKING: std::time::Duration = std::time::Duration::from_secs(2);

impl Api {
    pub(super) async fn catalog(&self, server: String) -> Result<Catalog, ApiError> {
        let catalog = self.host.catalog(server.clone()).await?;
        let servers = self.host.snapshot().await?.servers;
        let config = servers.into_iter().find(|s| s.name == server).map(|s| s.config).unwrap_or_default();
        let grants = self.host.grants().await?;
        let allowed: HashSet<(&str, &Hash)> = grants
            .iter()
            .filter(|g| g.server == server && g.scope != Scope::Once)
            .filter_map(|g| match &g.subject {
                Subject::Tool(tool) => Some((tool.as_str(), &g.rests_on)),
                Subject::Command => None,
            })
            .collect();
        let tools = catalog
            .tools
            .iter()
            .map(|tool| {
                let is_allowed = !allowed.is_empty()
                    && allowed.contains(&(tool.name.as_str(), &host::definition_hash(&config, tool)));
                views::tool(tool.clone(), is_allowed)
            })
            .collect();
        Ok(Catalog {
            server,
            tools,
            prompts: catalog.prompts.iter().cloned().map(views::prompt).collect(),
            resources: catalog.resources.iter().cloned().map(views::resource).collect(),
            templates: catalog.templates.iter().cloned().map(views::template).collect(),
            notes: catalog.notes.concat(),
        })
    }

    pub(super) async fn call_tool(&self, r: CallTool) -> Result<ToolResult, ApiError> {
        let arguments = object(r.arguments, "arguments")?;
        let schema = self.host.catalog(r.server.clone()).await?.tool(&r.tool).and_then(|t| t.output_schema.clone());
        let (result, arguments) = self.host.call_tool(r.call, r.server, r.tool, arguments, r.conversation).await?;
        let checked = result.structured_content.clone().zip(schema).map(|(value, schema)| {
            // A hostile schema may take long; nothing else must wait for it.
            tokio::task::spawn_blocking(move || host::output::problem(&schema, &value))
        });
        let structured_problem = match checked {
            Some(check) => match tokio::time::timeout(CHECKING, check).await {
                Ok(problem) => problem.map_err(|e| ApiError::new(ErrorCode::Internal, e.to_string()))?,
                Err(_) => Some("it takes too long to check it".to_owned()),
            },
            None => None,
        };
        Ok(ToolResult {
            content: result.content.into_iter().map(views::content).collect(),
            structured: result.structured_content,
            structured_problem,
            is_error: result.is_error,
            arguments: arguments.into(),
        })
    }
}
