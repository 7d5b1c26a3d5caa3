// The tools of one or of all servers as the rows of a list.

import type { Tool } from "$lib/api/generated";
import { fuzzyFilter } from "$lib/format/fuzzy";

/** A tool, or the server whose tools follow. */
export type ToolRow =
  { is: "server"; server: string; count: number } | { is: "tool"; server: string; tool: Tool };

/** How much of a description is searched. */
const SEARCHED = 2000;

/** The tools that match: by name, best first, then those whose description has the words. */
export function matchingTools(query: string, tools: Tool[]): Tool[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return tools;
  const named = fuzzyFilter(query, tools, (tool) => [tool.title ?? tool.name, tool.name]);
  const known = new Set(named);
  const described = tools.filter(
    (tool) =>
      !known.has(tool) && tool.description?.slice(0, SEARCHED).toLowerCase().includes(wanted),
  );
  return [...named, ...described];
}

/** The matching tools of several servers, each under its server; a server whose name matches keeps all its tools. */
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

/** The key of a tool in a list of several servers. */
export function toolKey(server: string, tool: string): string {
  return `tool ${JSON.stringify([server, tool])}`;
}

/** The row's key in its list. */
export function rowKey(row: ToolRow): string {
  return row.is === "server" ? `server ${row.server}` : toolKey(row.server, row.tool.name);
}
