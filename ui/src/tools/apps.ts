// Detection of MCP Apps (extension `io.modelcontextprotocol/ui`), which Drawbridge does not render.
import type { JsonValue, Tool } from "$lib/api/generated";

const SCHEME = "ui://";

/** Returns `true` if the URI is that of an app. */
export function isApp(uri: string): boolean {
  return uri.toLowerCase().startsWith(SCHEME);
}

/**
 * Returns `true` if the tool's definition names an app, as `_meta.ui.resourceUri` or by the older
 * `_meta["ui/resourceUri"]`.
 */
export function hasApp({ others }: Pick<Tool, "others">): boolean {
  const meta = member(others, "_meta");
  const named = [member(member(meta, "ui"), "resourceUri"), member(meta, "ui/resourceUri")];
  return named.some((uri) => typeof uri === "string" && isApp(uri));
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
