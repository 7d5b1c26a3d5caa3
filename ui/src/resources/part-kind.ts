// Determines the views in which a part of a resource can be shown, the most suitable first.

import type { JsonValue, ResourceContents } from "$lib/api/generated";

/** View in which a part of a resource can be shown. */
export type PartKind = "text" | "markdown" | "json" | "image" | "audio" | "bytes";

interface PartShown {
  kind: PartKind;
  /** Parsed value. Set only for the kind `json`. */
  value?: JsonValue;
}

/** Maximum length in characters of a text that is parsed as JSON. */
const LONGEST_JSON = 1_000_000;

/** Returns the MIME type in lower case, without parameters. */
function typeOf(part: ResourceContents): string {
  return part.mimeType?.split(";")[0]?.trim().toLowerCase() ?? "";
}

/**
 * Returns the views of a part, the most suitable first. They depend on the contents as well, because the declared type
 * is untrusted.
 */
export function partViews(part: ResourceContents): PartShown[] {
  const type = typeOf(part);
  if (part.text !== null) {
    const json = jsonIn(part.text);
    if (json !== null) return [{ kind: "json", value: json.value }, { kind: "text" }];
    const isMarkdown = type === "text/markdown" || /\.(md|markdown)$/i.test(part.uri);
    if (isMarkdown) return [{ kind: "markdown" }, { kind: "text" }];
    return [{ kind: "text" }, { kind: "markdown" }];
  }
  if (type.startsWith("image/")) return [{ kind: "image" }, { kind: "bytes" }];
  if (type.startsWith("audio/")) return [{ kind: "audio" }, { kind: "bytes" }];
  return [{ kind: "bytes" }];
}

/** Parses the text. Returns `null` unless it is a JSON object or array. */
function jsonIn(text: string): { value: JsonValue } | null {
  if (text.length > LONGEST_JSON || !/^\s*[[{]/.test(text)) return null;
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return null;
  }
}

/** Returns the language for syntax highlighting, derived from the MIME type or else from the extension of the URI. */
export function partLanguage(part: ResourceContents): string | undefined {
  const type = typeOf(part);
  if (/[/+]json$/.test(type)) return "json";
  if (/[/+](xml|html)$/.test(type)) return "xml";
  return /\.(\w{1,12})$/.exec(part.uri)?.[1]?.toLowerCase();
}
