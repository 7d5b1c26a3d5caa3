// Unsent input of the user for a consent request: expanded values, form content and folders.

import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { call } from "$lib/api/client";
import type { FormField, JsonValue, ConsentRequest, ApprovalScope } from "$lib/api/generated";

import { payloadParts } from "./payload";
import { contentOf, initialValues, obscuredPart, type FieldValue } from "./form-values";
import { FormCheck } from "./form-check.svelte";
import type { ApprovingAnswer } from "./gate";
import { ReadProgress, type PayloadPart } from "./read-progress.svelte";

/** The content of a form while it is filled in. */
export class FormDraft {
  readonly fields: FormField[];
  readonly check: FormCheck;
  /** Names of the fields that lost the focus once. */
  readonly touched = new SvelteSet<string>();
  /** Set once the user tried to submit. */
  submitAttempted = $state(false);
  /** Number of submissions with known problems. Each one moves the focus to the first invalid field. */
  invalidAttempts = $state(0);
  readonly #values: SvelteMap<string, FieldValue>;

  constructor(id: string, fields: FormField[]) {
    this.fields = fields;
    this.#values = new SvelteMap(initialValues(fields));
    this.check = new FormCheck(
      async (content) => (await call("check_form", { id, content })).problems,
    );
  }

  /** Checks the initial content. */
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

  /** Values that the fields contain but do not display entirely. */
  get obscuredParts(): PayloadPart[] {
    return this.fields
      .map((field) => obscuredPart(field, this.value(field.name)))
      .filter((part) => part !== null);
  }

  /** Returns `true` if no problems are known. Otherwise it records an invalid attempt. */
  attemptSubmit(): boolean {
    this.submitAttempted = true;
    const isReady = !(this.check.upToDate && this.check.problems.length > 0);
    if (!isReady) this.invalidAttempts += 1;
    return isReady;
  }
}

export class ConsentDraft {
  /** Set while the payload is edited. Nothing can be approved then. */
  editing = $state(false);
  /** Set once all of the content was in view, including content that was added later. */
  fullyViewed = $state(false);
  /** Set while a sandbox that the user chose is added to the settings, which ends the request. */
  containing = $state(false);
  readonly readProgress = new ReadProgress();
  readonly form: FormDraft | null = null;
  /** Paths of the folders to share. */
  folders = $state<string[]>([]);
  /** Read-only tools to allow together with the call. Empty unless the user chose that. */
  readOnlyTools = $state<string[]>([]);
  /** The user's reason for a denial, or `null` while none is being written. */
  reason = $state<string | null>(null);
  /** Credentials of a pre-registered client. */
  client = $state({ clientId: "", clientSecret: "" });

  constructor(request: ConsentRequest) {
    const { body } = request;
    if (body.kind === "form") this.form = new FormDraft(request.id, body.fields);
    if (body.kind === "roots") this.folders = [...body.folders];
    if (body.kind === "sampling" && body.step === "response")
      this.editing = !hasContent(body.response?.content);
  }

  /** Serialized input that is not part of the request. Arming restarts when it changes. */
  get inputState(): string {
    return JSON.stringify([
      ...[this.form?.content ?? null, this.folders, this.client],
      this.readOnlyTools,
    ]);
  }

  /** Returns the values of the payload that may be folded. They share one preview limit. */
  payload(request: ConsentRequest): PayloadPart[] {
    return [...payloadParts(request), ...(this.form?.obscuredParts ?? [])];
  }

  /** Returns the approving answer. `lasts` bounds the grant, in milliseconds. */
  answer(request: ConsentRequest, scope: ApprovalScope, lasts?: number): ApprovingAnswer {
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
        if (this.readOnlyTools.length > 0)
          return { action: "allow_read_only", tools: [...this.readOnlyTools] };
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

/** Returns the key of a request's draft. Both steps of a sampling request have a draft. */
export function draftKey(request: ConsentRequest): string {
  return request.body.kind === "sampling" ? `${request.id} ${request.body.step}` : request.id;
}
