// State of a form: its draft, its JSON text and its value.

import type { JsonValue } from "$lib/api/generated";
import { parseJson } from "$lib/format/json";

import { draftOf, emptyDraft, sameJson, type Draft } from "./draft";
import { formValue, type Problem } from "./form-value";
import { shapeOf } from "./schema";
import { isObject, type Shape } from "./shape";

/** Error of the JSON text: a syntax error at a position, or not an object. */
export type JsonMistake = { at: "place"; line: number; column: number } | { at: "kind" };

export class Form {
  readonly shape: Shape;
  /** The draft of the fields. */
  draft: Draft = $state({ kind: "json", presence: "absent", text: "", misfit: false });
  /** The current view. */
  view = $state<"fields" | "json">("fields");
  /** The text of the JSON view while it is shown. */
  text = $state("");
  /** Set if missing required parts are marked. */
  tried = $state(false);

  /** The result of the current draft. */
  readonly filled = $derived.by(() => formValue(this.shape, this.draft));
  /** The error of the JSON view. */
  readonly mistake = $derived.by(() => (this.view === "json" ? mistakeIn(this.text) : null));
  /** The visible problems by path. */
  readonly shown = $derived.by(() => {
    const shown = new Map<string, Problem>();
    for (const problem of this.filled.problems) {
      if ((this.tried || problem.code !== "required") && !shown.has(problem.path)) {
        shown.set(problem.path, problem);
      }
    }
    return shown;
  });

  /** Creates a form for a schema with a value or in its initial state. */
  constructor(schema: JsonValue, value?: JsonValue) {
    this.shape = shapeOf(schema);
    if (this.shape.kind === "json") this.view = "json";
    this.syncValue(value);
  }

  /** The arguments, or `null` while they are invalid. */
  get value(): JsonValue | undefined {
    return this.mistake === null ? this.filled.value : undefined;
  }

  /** Set if the arguments may be sent. The JSON view may violate the schema, because the server validates it. */
  get ready(): boolean {
    if (!isObject(this.value)) return false;
    return this.view === "json" || this.filled.problems.length === 0;
  }

  /** Replaces the value. */
  syncValue(value: JsonValue | undefined): void {
    this.draft =
      value === undefined ? emptyDraft(this.shape, true) : draftOf(this.shape, value, true);
    this.text = this.#written();
  }

  /** Replaces the value unless the form has it already. */
  follow(value: JsonValue | undefined): void {
    if (!sameJson(value, this.value)) this.syncValue(value);
  }

  /** Applies text typed into the JSON view. The fields are updated once it is an object. */
  write(text: string): void {
    this.text = text;
    const parsed = parseJson(text);
    if (parsed.ok && isObject(parsed.value as JsonValue)) {
      this.draft = draftOf(this.shape, parsed.value as JsonValue, true);
    }
  }

  /** Switches the view. The fields are not shown while the text has an error. */
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
