// Views of a part of a resource, the most suitable first.

import type { JsonValue, ResourceContents } from "$lib/api/generated";

/** A view of a part. */
export type PartKind = "text" | "markdown" | "json" | "image" | "audio" | "bytes";

interface PartShown {
  kind: PartKind;
  /** The parsed JSON value. */
  value?: JsonValue;
}

/** Longer text is not parsed as JSON. */
const LONGEST_JSON = 1_000_000;

/** Returns the MIME type without parameters in lower case. */
function typeOf(part: ResourceContents): string {
  return part.mimeType?.split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Returns the views of a part. The declared type is untrusted, so the contents count as well. */
export function viewsOf(part: ResourceContents): PartShown[] {
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

/** Parses the text if it is a JSON object or array. */
function jsonIn(text: string): { value: JsonValue } | null {
  if (text.length > LONGEST_JSON || !/^\s*[[{]/.test(text)) return null;
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return null;
  }
}

/** Returns the language for syntax highlighting: from the type, else from the extension of the URI. */
export function languageOf(part: ResourceContents): string | undefined {
  const type = typeOf(part);
  if (/[/+]json$/.test(type)) return "json";
  if (/[/+](xml|html)$/.test(type)) return "xml";
  return /\.(\w{1,12})$/.exec(part.uri)?.[1]?.toLowerCase();
}
