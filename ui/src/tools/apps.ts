// Detection of MCP Apps (extension `io.modelcontextprotocol/ui`) in definitions of tools.
import type { JsonValue, Tool } from "$lib/api/generated";

const SCHEME = "ui://";

/** Returns `true` if the URI has the scheme of MCP Apps. */
export function isAppUri(uri: string): boolean {
  return uri.toLowerCase().startsWith(SCHEME);
}

/**
 * Returns the URI of the app to which the tool's definition refers, by `_meta.ui.resourceUri` or the older
 * `_meta["ui/resourceUri"]`, or `null` if there is none.
 */
export function appUri({ others }: Pick<Tool, "others">): string | null {
  const meta = memberOf(others, "_meta");
  const named = [memberOf(memberOf(meta, "ui"), "resourceUri"), memberOf(meta, "ui/resourceUri")];
  const isUri = (uri: JsonValue | undefined): uri is string =>
    typeof uri === "string" && isAppUri(uri);
  return named.find(isUri) ?? null;
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
