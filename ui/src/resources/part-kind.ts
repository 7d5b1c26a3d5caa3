// In which ways a part of a resource can be looked at; the way that suits it best comes first.

import type { JsonValue, ResourceContents } from "$lib/api/generated";

/** A way to look at it. */
export type PartKind = "text" | "markdown" | "json" | "image" | "audio" | "bytes";

interface PartShown {
  kind: PartKind;
  /** What the text says, for JSON. */
  value?: JsonValue;
}

/** Longer text isn't read as JSON. */
const LONGEST_JSON = 1_000_000;

/** The type without its parameters, in lower case. */
function typeOf(part: ResourceContents): string {
  return part.mimeType?.split(";")[0]?.trim().toLowerCase() ?? "";
}

/** The ways for this part. The type is only a claim, so what is in it counts too. */
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

/** An object or a list, if the text is one. */
function jsonIn(text: string): { value: JsonValue } | null {
  if (text.length > LONGEST_JSON || !/^\s*[[{]/.test(text)) return null;
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return null;
  }
}

/** The language to colour a text by: from its type, else from the end of its URI. */
export function languageOf(part: ResourceContents): string | undefined {
  const type = typeOf(part);
  if (/[/+]json$/.test(type)) return "json";
  if (/[/+](xml|html)$/.test(type)) return "xml";
  return /\.(\w{1,12})$/.exec(part.uri)?.[1]?.toLowerCase();
}
