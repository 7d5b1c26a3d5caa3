// What the user has done with a question before answering it: opened values, form content, folders.

import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { call } from "$lib/api/client";
import type { FormField, JsonValue, Question, Scope } from "$lib/api/generated";

import { payloadParts } from "./payload";
import { contentOf, initialValues, obscuredPart, type FieldValue } from "./form-values";
import { FormCheck } from "./form-check.svelte";
import type { ApprovingAnswer } from "./gate";
import { ReadProgress, type PayloadPart } from "./read-progress.svelte";

/** What a form holds while it is filled in. */
export class FormDraft {
  readonly fields: FormField[];
  readonly check: FormCheck;
  /** The fields the user has left once. */
  readonly touched = new SvelteSet<string>();
  /** Whether the user wanted to send it. */
  submitAttempted = $state(false);
  /** How often what is wrong was pointed out. */
  invalidAttempts = $state(0);
  readonly #values: SvelteMap<string, FieldValue>;

  constructor(id: string, fields: FormField[]) {
    this.fields = fields;
    this.#values = new SvelteMap(initialValues(fields));
    this.check = new FormCheck(
      async (content) => (await call("check_form", { id, content })).problems,
    );
  }

  /** Checks what it holds at first. */
  begin(): void {
    if (!this.check.upToDate) this.check.schedule(this.content);
  }

  value(name: string): FieldValue {
    return this.#values.get(name);
  }

  set(name: string, value: FieldValue): void {
    this.#values.set(name, value);
    this.check.schedule(this.content);
  }

  get content(): JsonValue {
    return contentOf(this.fields, this.#values);
  }

  /** What its fields hold and do not show whole. */
  get obscuredParts(): PayloadPart[] {
    return this.fields
      .map((field) => obscuredPart(field, this.value(field.name)))
      .filter((part) => part !== null);
  }

  /** Whether it may be sent as far as is known; points out what is wrong if not. */
  attemptSubmit(): boolean {
    this.submitAttempted = true;
    const isReady = !(this.check.upToDate && this.check.problems.length > 0);
    if (!isReady) this.invalidAttempts += 1;
    return isReady;
  }
}

export class ConsentDraft {
  /** Whether what would cross is being changed; nothing can be allowed then. */
  editing = $state(false);
  /** Whether all of what is shown was in view, also what it grew by. */
  fullyViewed = $state(false);
  readonly readProgress = new ReadProgress();
  readonly form: FormDraft | null = null;
  /** The folders to share. */
  folders = $state<string[]>([]);
  /** Why it is refused, in the user's words, while these are written. */
  reason = $state<string | null>(null);
  /** What a sign-in page is to know Drawbridge by. */
  client = $state({ clientId: "", clientSecret: "" });

  constructor(request: Question) {
    const { body } = request;
    if (body.kind === "form") this.form = new FormDraft(request.id, body.fields);
    if (body.kind === "roots") this.folders = [...body.folders];
    if (body.kind === "sampling" && body.step === "response")
      this.editing = !hasContent(body.response?.content);
  }

  /** What is decided here and not in the question; any change of it arms anew. */
  get inputState(): string {
    return JSON.stringify([this.form?.content ?? null, this.folders, this.client]);
  }

  /** The values that would cross and may be folded, which stand together. */
  payload(request: Question): PayloadPart[] {
    return [...payloadParts(request), ...(this.form?.obscuredParts ?? [])];
  }

  /** The answer that lets the question cross. `lasts` bounds how long an approval holds, in milliseconds. */
  answer(request: Question, scope: Scope, lasts?: number): ApprovingAnswer {
    switch (request.body.kind) {
      case "form":
        return { action: "submit", content: this.form?.content ?? {} };
      case "roots":
        return { action: "share", folders: [...this.folders] };
      case "client_id": {
        const { clientId, clientSecret } = this.client;
        const client = { clientId: clientId.trim(), clientSecret: clientSecret || null };
        return { action: "identify", client };
      }
      default:
        return lasts === undefined ? { action: "allow", scope } : { action: "allow", scope, lasts };
    }
  }

  stop(): void {
    this.form?.check.stop();
  }
}

function hasContent(content: { type: string; text?: string }[] | undefined): boolean {
  return content?.some((c) => c.type !== "text" || c.text !== "") ?? false;
}

/** The two steps of a request to the model are worked on apart. */
export function draftKey(request: Question): string {
  return request.body.kind === "sampling" ? `${request.id} ${request.body.step}` : request.id;
}
