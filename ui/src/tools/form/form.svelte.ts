// A form while it is filled in: its draft, the same as JSON text, and what it comes to.

import type { JsonValue } from "$lib/api/generated";
import { parseJson } from "$lib/format/json";

import { draftOf, emptyDraft, sameJson, type Draft } from "./draft";
import { filledIn, type Problem } from "./form-value";
import { shapeOf } from "./schema";
import { isObject, type Shape } from "./shape";

/** Where the form's JSON text is wrong: no JSON at this place, or no object. */
export type JsonMistake = { at: "place"; line: number; column: number } | { at: "kind" };

export class Form {
  readonly shape: Shape;
  /** What is filled in. */
  draft: Draft = $state({ kind: "json", presence: "absent", text: "", misfit: false });
  /** Which view is shown. */
  view = $state<"fields" | "json">("fields");
  /** The text of the JSON view, while that is shown. */
  text = $state("");
  /** Whether parts that must be given are marked already. */
  tried = $state(false);

  /** What it comes to as it is filled in. */
  readonly filled = $derived.by(() => filledIn(this.shape, this.draft));
  /** What is wrong with the JSON view's text. */
  readonly mistake = $derived.by(() => (this.view === "json" ? mistakeIn(this.text) : null));
  /** The problems to be shown, by path. */
  readonly shown = $derived.by(() => {
    const shown = new Map<string, Problem>();
    for (const problem of this.filled.problems) {
      if ((this.tried || problem.code !== "required") && !shown.has(problem.path)) {
        shown.set(problem.path, problem);
      }
    }
    return shown;
  });

  /** A form for a schema, with a value or as it is at the start. */
  constructor(schema: JsonValue, value?: JsonValue) {
    this.shape = shapeOf(schema);
    if (this.shape.kind === "json") this.view = "json";
    this.take(value);
  }

  /** The arguments, or nothing while they can't be made. */
  get value(): JsonValue | undefined {
    return this.mistake === null ? this.filled.value : undefined;
  }

  /** Whether it may be sent. What the JSON view holds may be sent against the schema: the server will say what it thinks. */
  get ready(): boolean {
    if (!isObject(this.value)) return false;
    return this.view === "json" || this.filled.problems.length === 0;
  }

  /** Fills in a value from elsewhere. */
  take(value: JsonValue | undefined): void {
    this.draft =
      value === undefined ? emptyDraft(this.shape, true) : draftOf(this.shape, value, true);
    this.text = this.#written();
  }

  /** Takes a value from elsewhere unless it is what the form says already. */
  follow(value: JsonValue | undefined): void {
    if (!sameJson(value, this.value)) this.take(value);
  }

  /** Takes what was typed into the JSON view; the fields follow as soon as it is an object. */
  write(text: string): void {
    this.text = text;
    const parsed = parseJson(text);
    if (parsed.ok && isObject(parsed.value as JsonValue)) {
      this.draft = draftOf(this.shape, parsed.value as JsonValue, true);
    }
  }

  /** Changes the view. The fields are not shown while the text has a mistake. */
  show(view: "fields" | "json"): void {
    if (view === "json" && this.view !== "json") this.text = this.#written();
    if (view === "fields" && this.mistake !== null) return;
    this.view = view;
  }

  #written(): string {
    return JSON.stringify(this.filled.value ?? {}, null, 2);
  }
}

function mistakeIn(text: string): JsonMistake | null {
  const parsed = parseJson(text);
  if (!parsed.ok) return { at: "place", line: parsed.line, column: parsed.column };
  return isObject(parsed.value as JsonValue) ? null : { at: "kind" };
}
