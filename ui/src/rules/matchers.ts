// Kinds of conditions. Detects plain globs that may miss another spelling of the same path or URL.
import type { ArgumentRule, ArgumentTest, JsonValue } from "$lib/api/generated";

/** Kind of condition that is safer than a string condition for some values. */
export type SuggestedMatcher = "path" | "url";

const PATH_NAMES = /(^|[^a-z])(path|file|filename|filepath|dir|directory|folder|cwd)s?$/;
const URL_NAMES = /(^|[^a-z])(url|uri|href|link|endpoint|origin|website|webhook)s?$/;
const PATH_PATTERN = /^(\/|~|\.{1,2}[/\\]|[a-z]:|\\)|\/\*?$/i;
const URL_PATTERN = /:\/\/|^www\.|^\*?\.?[a-z0-9-]+(\.[a-z0-9-]+)+\/\*?$/i;
const BY_LETTERS: readonly ArgumentTest[] = ["glob", "regex"];

/**
 * Returns the kind of value that a string condition matches, determined by the schema, the name of the argument, or the
 * pattern.
 */
export function suggestedMatcher(
  { at, test, pattern }: ArgumentRule,
  schema: JsonValue | null,
): SuggestedMatcher | null {
  if (!BY_LETTERS.includes(test)) return null;
  const format = formatAt(schema, at);
  const name = (at.split("/").at(-1) ?? "").replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
  if (/^(uri|iri|url)(-reference|-template)?$/.test(format) || URL_NAMES.test(name)) return "url";
  if (URL_PATTERN.test(pattern)) return "url";
  if (/^(path|file|file-path|directory|directory-path)$/.test(format)) return "path";
  if (PATH_NAMES.test(name) || PATH_PATTERN.test(pattern)) return "path";
  return null;
}

/** Returns the format that a tool's schema declares for an argument or its list items. Empty if it declares none. */
function formatAt(schema: JsonValue | null, at: string): string {
  let here = schema;
  for (const part of at.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    here = memberOf(memberOf(here, "properties"), name) ?? memberOf(here, "items");
  }
  const format = memberOf(here, "format") ?? memberOf(memberOf(here, "items"), "format");
  return typeof format === "string" ? format.toLowerCase() : "";
}

function memberOf(value: JsonValue | null, name: string): JsonValue | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return Object.hasOwn(value, name) ? (value[name] ?? null) : null;
}
