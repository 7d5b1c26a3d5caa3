// Unsent input of the user for a consent request: expanded values, form content and folders.

import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { call } from "$lib/api/client";
import type { FormField, JsonValue, ConsentRequest, ApprovalScope } from "$lib/api/generated";

import { payloadParts } from "./payload";
import { formContentOf, initialValues, obscuredPart, type FieldValue } from "./form-values";
import { FormCheck } from "./form-check.svelte";
import type { ApprovingDecision } from "./gate";
import { ReadProgress, type PayloadPart } from "./read-progress.svelte";

/** Content of a form while the user fills it in. */
export class FormDraft {
  readonly fields: FormField[];
  readonly check: FormCheck;
  /** Names of the fields that have lost focus at least once. */
  readonly touched = new SvelteSet<string>();
  /** Names of the fields whose value the user has changed. */
  readonly edited = new SvelteSet<string>();
  /** Set once the user tried to submit. */
  submitAttempted = $state(false);
  /** Number of submit attempts with known problems. Each attempt focuses the first invalid field. */
  invalidAttempts = $state(0);
  readonly #values: SvelteMap<string, FieldValue>;

  constructor(id: string, fields: FormField[]) {
    this.fields = fields;
    this.#values = new SvelteMap(initialValues(fields));
    this.check = new FormCheck(
      async (content) => (await call("validate_form", { id, content })).problems,
    );
  }

  /** Starts the validation of the initial content. */
  begin(): void {
    if (!this.check.upToDate) this.check.schedule(this.content);
  }

  value(name: string): FieldValue {
    return this.#values.get(name);
  }

  set(name: string, value: FieldValue): void {
    this.#values.set(name, value);
    this.edited.add(name);
    this.check.schedule(this.content);
  }

  get content(): JsonValue {
    return formContentOf(this.fields, this.#values);
  }

  /** Field values that their fields do not display completely. */
  get obscuredParts(): PayloadPart[] {
    return this.fields
      .map((field) => obscuredPart(field, this.value(field.name)))
      .filter((part) => part !== null);
  }

  /** Records an attempt to submit. Returns `true` if no problems are known. */
  attemptSubmit(): boolean {
    this.submitAttempted = true;
    const isReady = !(this.check.upToDate && this.check.problems.length > 0);
    if (!isReady) this.invalidAttempts += 1;
    return isReady;
  }
}

export class ConsentDraft {
  /** Set while the user edits the payload, which can't be approved then. */
  editing = $state(false);
  /** Set once the user has viewed all of the content, including content that was added later. */
  fullyViewed = $state(false);
  /** Set while the selected sandbox is being added to the server's settings. The request ends once it was added. */
  containing = $state(false);
  readonly readProgress = new ReadProgress();
  readonly form: FormDraft | null = null;
  /** Paths of the folders that the user selected to share. */
  folders = $state<string[]>([]);
  /** Read-only tools to allow together with the call. Empty unless the user chose that. */
  readOnlyTools = $state<string[]>([]);
  /** The user's reason for a denial, or `null` if the user is not writing one. */
  reason = $state<string | null>(null);
  /** Credentials of a pre-registered client. */
  client = $state({ clientId: "", clientSecret: "" });

  constructor(request: ConsentRequest) {
    const { body } = request;
    if (body.kind === "form") this.form = new FormDraft(request.id, body.fields);
    if (body.kind === "sampling" && body.step === "response")
      this.editing = !hasContent(body.response?.content);
  }

  /** Serialized user input that is not part of the request. Arming restarts when it changes. */
  get inputState(): string {
    return JSON.stringify([
      ...[this.form?.content ?? null, this.folders, this.client],
      this.readOnlyTools,
    ]);
  }

  /** Returns the payload values that may be folded. They share one preview limit. */
  payload(request: ConsentRequest): PayloadPart[] {
    return [...payloadParts(request), ...(this.form?.obscuredParts ?? [])];
  }

  /**
   * Returns the approving decision with the input of the user. `lasts` limits the lifetime of the grant, in
   * milliseconds.
   */
  answer(request: ConsentRequest, scope: ApprovalScope, lasts?: number): ApprovingDecision {
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

/** Returns the key of a request's draft. The two steps of a sampling request have separate drafts. */
export function draftKey(request: ConsentRequest): string {
  return request.body.kind === "sampling" ? `${request.id} ${request.body.step}` : request.id;
}
