// Numbers of a conversation's tools that its model receives, and of those that wait for the user's review.

import type { ConversationTool, ConversationTools } from "$lib/api/generated";

export interface ToolCounts {
  /** Number of tools that the model receives or can search for. */
  offered: number;
  /** Number of tools that the model receives only after a review. */
  unreviewed: number;
  /** Number of tools that the servers list. */
  all: number;
}

export function isUnreviewed({ state }: ConversationTool): boolean {
  return state === "new" || state === "changed";
}

/** Counts the tools of one server, or those of all servers and apps without `server`. */
export function countTools(tools: ConversationTools | null, server?: string): ToolCounts {
  const counted = (tools?.tools ?? []).filter(
    (tool) => tool.state !== "not_ready" && (server === undefined || tool.server === server),
  );
  return {
    offered: counted.filter(({ state }) => state === "offered").length,
    unreviewed: counted.filter(isUnreviewed).length,
    all: counted.length,
  };
}
