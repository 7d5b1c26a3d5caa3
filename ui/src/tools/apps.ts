// Detection of MCP Apps (extension `io.modelcontextprotocol/ui`) in definitions of tools.
import type { JsonValue, Tool } from "$lib/api/generated";

const SCHEME = "ui://";

/** Returns `true` if the URI has the scheme of MCP Apps. */
export function isAppUri(uri: string): boolean {
  return uri.toLowerCase().startsWith(SCHEME);
}

/**
 * Returns `true` if the tool's definition refers to an app, by `_meta.ui.resourceUri` or the older
 * `_meta["ui/resourceUri"]`.
 */
export function refersToApp({ others }: Pick<Tool, "others">): boolean {
  const meta = memberOf(others, "_meta");
  const named = [memberOf(memberOf(meta, "ui"), "resourceUri"), memberOf(meta, "ui/resourceUri")];
  return named.some((uri) => typeof uri === "string" && isAppUri(uri));
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
