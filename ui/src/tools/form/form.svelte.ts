// State of a form: its draft, its JSON text and its value.

import type { JsonValue } from "$lib/api/generated";
import { parseJson } from "$lib/format/json";

import { draftOf, emptyDraft, sameJson, type PartDraft } from "./draft";
import { convertDraft, type PartProblem } from "./form-value";
import { shapeOf } from "./schema";
import { isObject, type Shape } from "./shape";

/** Error of the JSON text: a syntax error at a position (`place`), or a value that is not an object (`kind`). */
export type JsonTextError = { at: "place"; line: number; column: number } | { at: "kind" };

export class SchemaFormState {
  readonly shape: Shape;
  /** Draft of the fields, from which the value is derived. */
  draft: PartDraft = $state({ kind: "json", presence: "absent", text: "", misfit: false });
  /** Selected view of the form. */
  view = $state<"fields" | "json">("fields");
  /** Text of the JSON editor. Current only while the JSON view is selected. */
  text = $state("");
  /** Set if missing required parts are marked as problems. */
  tried = $state(false);

  /** Value and problems of the current draft. */
  readonly filled = $derived.by(() => convertDraft(this.shape, this.draft));
  /** Error of the text in the JSON view, or `null` if there is none. */
  readonly mistake = $derived.by(() => (this.view === "json" ? mistakeIn(this.text) : null));
  /** Displayed problems by path, at most one for each part. */
  readonly shown = $derived.by(() => {
    const shown = new Map<string, PartProblem>();
    for (const problem of this.filled.problems) {
      if ((this.tried || problem.code !== "required") && !shown.has(problem.path)) {
        shown.set(problem.path, problem);
      }
    }
    return shown;
  });

  /** Creates a form for a schema, with a value or with the defaults of the schema. */
  constructor(schema: JsonValue, value?: JsonValue) {
    this.shape = shapeOf(schema);
    if (this.shape.kind === "json") this.view = "json";
    this.syncValue(value);
  }

  /** The arguments, or `undefined` while they are invalid. */
  get value(): JsonValue | undefined {
    return this.mistake === null ? this.filled.value : undefined;
  }

  /**
   * Set if the arguments can be sent. Arguments from the JSON view may violate the schema, because the server validates
   * them as well.
   */
  get ready(): boolean {
    if (!isObject(this.value)) return false;
    return this.view === "json" || this.filled.problems.length === 0;
  }

  /** Replaces the value of the form. */
  syncValue(value: JsonValue | undefined): void {
    this.draft =
      value === undefined ? emptyDraft(this.shape, true) : draftOf(this.shape, value, true);
    this.text = this.#written();
  }

  /** Replaces the value of the form if it differs from the current one. */
  follow(value: JsonValue | undefined): void {
    if (!sameJson(value, this.value)) this.syncValue(value);
  }

  /** Applies the text of the JSON view. Updates the fields if the text is a JSON object. */
  write(text: string): void {
    this.text = text;
    const parsed = parseJson(text);
    if (parsed.ok && isObject(parsed.value as JsonValue)) {
      this.draft = draftOf(this.shape, parsed.value as JsonValue, true);
    }
  }

  /** Selects a view. Does not leave the JSON view while its text has an error. */
  show(view: "fields" | "json"): void {
    if (view === "json" && this.view !== "json") this.text = this.#written();
    if (view === "fields" && this.mistake !== null) return;
    this.view = view;
  }

  #written(): string {
    return JSON.stringify(this.filled.value ?? {}, null, 2);
  }
}

function mistakeIn(text: string): JsonTextError | null {
  const parsed = parseJson(text);
  if (!parsed.ok) return { at: "place", line: parsed.line, column: parsed.column };
  return isObject(parsed.value as JsonValue) ? null : { at: "kind" };
}
