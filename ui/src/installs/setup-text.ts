// A command or an address whose blanks are not all filled in, as text.
import type {
  PlannedPart,
  PlannedTarget,
  PreviewedPart,
  PreviewedServer,
} from "$lib/api/generated";
import { joinCommand } from "$lib/format/command-line";

/** A value with its blanks as names in angle brackets, which no shell word of a plan is mistaken for. */
function blanks(parts: readonly PlannedPart[]): string {
  return parts.map((part) => ("text" in part ? part.text : `⟨${part.input}⟩`)).join("");
}

/** The command line or the address of a plan. */
export function plannedText(target: PlannedTarget): string {
  if (target.type === "http") return blanks(target.url);
  // What has a blank is not quoted: the brackets alone would have it so.
  const words = target.args.map((arg) =>
    arg.some((part) => "input" in part) ? blanks(arg) : joinCommand([blanks(arg)]),
  );
  return [joinCommand([target.command]), ...words].join(" ");
}

/** The command line or the address that is set up. */
export function previewedText(server: PreviewedServer): string {
  return server.type === "http" ? server.url : joinCommand([server.command, ...server.args]);
}

/** A variable or a header by its name. Of a secret, and of a header that stays as it is, there is no value. */
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
