// List rows of the tools of one or all servers.

import type { Tool } from "$lib/api/generated";
import { fuzzyFilter } from "$lib/format/fuzzy";

/** Row of the list: a tool, or the heading of a server whose tools follow. */
export type ToolRow =
  { is: "server"; server: string; count: number } | { is: "tool"; server: string; tool: Tool };

/** Maximum number of characters of a description that are searched. */
const SEARCHED = 2000;

/**
 * Returns the tools that match a query: those with a matching name, best first, then those with a matching description.
 */
export function matchingTools(query: string, tools: Tool[]): Tool[] {
  const needle = query.trim().toLowerCase();
  if (needle === "") return tools;
  const named = fuzzyFilter(query, tools, (tool) => [tool.title ?? tool.name, tool.name]);
  const known = new Set(named);
  const described = tools.filter(
    (tool) =>
      !known.has(tool) && tool.description?.slice(0, SEARCHED).toLowerCase().includes(needle),
  );
  return [...named, ...described];
}

/**
 * Returns the matching tools of several servers, grouped by server. If the name of a server matches, all of its tools
 * are included.
 */
export function groupedTools(
  query: string,
  groups: { server: string; tools: Tool[] }[],
): ToolRow[] {
  return groups.flatMap(({ server, tools }) => {
    const byName = query.trim() !== "" && server.toLowerCase().includes(query.trim().toLowerCase());
    const matching = byName ? tools : matchingTools(query, tools);
    if (matching.length === 0) return [];
    const rows = matching.map((tool): ToolRow => ({ is: "tool", server, tool }));
    return [{ is: "server", server, count: matching.length }, ...rows];
  });
}

/** Returns the key of a tool, unique among all servers. */
export function toolKey(server: string, tool: string): string {
  return `tool ${JSON.stringify([server, tool])}`;
}

/** Returns a key that identifies the row in the rendered list. */
export function rowKey(row: ToolRow): string {
  return row.is === "server" ? `server ${row.server}` : toolKey(row.server, row.tool.name);
}
