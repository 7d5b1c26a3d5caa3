// Formats a planned command or address whose placeholders may not be filled in yet.
import type {
  PlannedPart,
  PlannedTarget,
  PreviewedPart,
  PreviewedServer,
} from "$lib/api/generated";
import { joinCommand } from "$lib/format/command-line";

/**
 * Joins the parts of a value. Each placeholder is replaced by the key of its input in `⟨⟩`, which the literal parts
 * never contain.
 */
function textWithBlanks(parts: readonly PlannedPart[]): string {
  return parts.map((part) => ("text" in part ? part.text : `⟨${part.input}⟩`)).join("");
}

/** Returns the command line or address of a plan. */
export function plannedSetupText(target: PlannedTarget): string {
  if (target.type === "http") return textWithBlanks(target.url);
  // Words with placeholders are not quoted, because the brackets alone would require quotes.
  const words = target.args.map((arg) =>
    arg.some((part) => "input" in part) ? textWithBlanks(arg) : joinCommand([textWithBlanks(arg)]),
  );
  return [joinCommand([target.command]), ...words].join(" ");
}

/** Returns the command line or address of a previewed setup. */
export function previewedSetupText(server: PreviewedServer): string {
  return server.type === "http" ? server.url : joinCommand([server.command, ...server.args]);
}

/** Variable or header of a setup. Secrets and unchanged headers have no value. */
export interface NamedValue {
  name: string;
  parts: { text: string; is: "text" | "blank" | "secret" | "kept" }[];
}

export function plannedValues(target: PlannedTarget): NamedValue[] {
  const all = target.type === "http" ? target.headers : target.env;
  return Object.entries(all).map(([name, parts]) => ({
    name,
    parts: parts.map((part) =>
      "text" in part
        ? { text: part.text, is: "text" as const }
        : { text: `⟨${part.input}⟩`, is: "blank" as const },
    ),
  }));
}

export function previewedValues(server: PreviewedServer): NamedValue[] {
  const all: Record<string, PreviewedPart[]> = server.type === "http" ? server.headers : server.env;
  return Object.entries(all).map(([name, parts]) => ({
    name,
    parts: parts.map((part) =>
      typeof part === "string" ? { text: "", is: part } : { text: part.text, is: "text" as const },
    ),
  }));
}
