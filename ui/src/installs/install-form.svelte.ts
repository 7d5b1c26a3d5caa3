// State of the install form: the inputs of the user and the preview of the resulting setup.
import { SvelteMap } from "svelte/reactivity";

import { call, toApiError, type ApiError } from "$lib/api/client";
import type {
  InputProblem,
  InstallDraft,
  InstallPlan,
  InstallPreview,
  InstallSource,
  PlanInput,
  SecretStorageReport,
  ServerOrigin,
} from "$lib/api/generated";

import { SandboxDraft } from "../servers/draft-sandbox.svelte";

/** An installed server that is replaced by another version. */
export interface Upgraded {
  server: string;
  /** Origin of the version. */
  installed: ServerOrigin;
  /** Inputs that keep their values unless another one is entered. Values of secrets are absent. */
  kept: Record<string, string[] | null>;
  /** Set if installing stops the running server. */
  running: boolean;
}

/** Delay after the last change before a preview is requested, in milliseconds. */
const REST_MS = 200;

export class InstallForm {
  name = $state("");
  readonly sandbox: SandboxDraft;
  /** The setup that this draft produces. */
  previewed = $state.raw<{ draft: InstallDraft; preview: InstallPreview } | null>(null);
  previewError = $state.raw<ApiError | null>(null);
  /** Set if the preview may be outdated. */
  pending = $state(true);
  /** Set once the user tried to install. From then on all problems are shown. */
  tried = $state(false);
  busy = $state(false);
  error = $state.raw<ApiError | null>(null);
  readonly #values = new SvelteMap<string, string[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastRequest = 0;
  #isPreviewing = false;
  /** Set if the fields changed during a preview. */
  #isOutdated = false;

  /**
   * `before` is the form of the same server before it changed. Its values are reused for inputs that are unchanged.
   */
  constructor(
    readonly source: InstallSource,
    readonly plan: InstallPlan,
    before: InstallForm | null = null,
    readonly upgraded: Upgraded | null = null,
  ) {
    this.name = before?.name ?? plan.name;
    // Without an earlier choice, the sandbox of the new plan is used instead of none.
    const hadSandbox = before?.plan.containment.is === "possible";
    this.sandbox = hadSandbox ? before.sandbox : new SandboxDraft(plan.sandbox ?? undefined);
    this.tried = before?.tried ?? false;
    this.error = before?.error ?? null;
    for (const input of plan.inputs) {
      const values = before?.enteredFor(input);
      if (values !== undefined) this.set(input, values);
      // An unticked box is `false`.
      else if (
        input.kind === "boolean" &&
        input.required &&
        input.default.length === 0 &&
        !this.isKept(input)
      )
        this.set(input, ["false"]);
    }
  }

  /** Returns the value entered for the same input of another plan, if there is one. */
  enteredFor({ key, kind, secret }: PlanInput): string[] | undefined {
    const isSame = this.plan.inputs.some(
      (mine) => mine.key === key && mine.kind === kind && mine.secret === secret,
    );
    return isSame ? this.#values.get(key) : undefined;
  }

  /** Returns the values of an input: those of the user, or its default. */
  valuesOf(input: PlanInput): string[] {
    const { key } = input;
    return this.#values.get(key) ?? this.#keptValues(key) ?? input.default;
  }

  /** Returns the value of an input that an upgrade keeps. Empty if it is hidden. */
  #keptValues(key: string): string[] | undefined {
    const { kept } = this.upgraded ?? {};
    return kept !== undefined && Object.hasOwn(kept, key) ? (kept[key] ?? []) : undefined;
  }

  /** Returns `true` if an input keeps its value unless the user enters another one. */
  isKept(input: PlanInput): boolean {
    return this.#keptValues(input.key) !== undefined && !this.isTouched(input);
  }

  set(input: PlanInput, values: string[]): void {
    this.#values.set(input.key, values);
  }

  /** Returns `true` if the user entered a value for an input. */
  isTouched(input: PlanInput): boolean {
    return this.#values.has(input.key);
  }

  get draft(): InstallDraft {
    const isHeld = this.plan.containment.is === "possible";
    return {
      source: this.source,
      name: this.name.trim(),
      values: Object.fromEntries(this.#values),
      sandbox: isHeld && this.upgraded === null ? (this.sandbox.settings ?? null) : null,
      upgrades: this.upgraded?.server ?? null,
    };
  }

  /** Returns the problem of an input once the user left its field. */
  problemOf(input: PlanInput): InputProblem | null {
    if (!this.tried && !this.isTouched(input)) return null;
    return this.previewed?.preview.inputProblems[input.key] ?? null;
  }

  /** Schedules a preview of the fields. */
  changed(): void {
    this.pending = true;
    this.error = null;
    this.#lastRequest += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.preparePreview(), REST_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#lastRequest += 1;
    this.#isOutdated = false;
  }

  /** Requests a preview of the fields. Only one preview runs at a time, because each may hash a whole bundle. */
  async preparePreview(): Promise<void> {
    clearTimeout(this.#timer);
    this.pending = true;
    this.#isOutdated = true;
    if (this.#isPreviewing) return;
    this.#isPreviewing = true;
    while (this.#isOutdated) {
      this.#isOutdated = false;
      await this.#preview();
    }
    this.#isPreviewing = false;
  }

  async #preview(): Promise<void> {
    const request = ++this.#lastRequest;
    const draft = $state.snapshot(this.draft);
    try {
      const preview = await call("install_preview", draft);
      if (request !== this.#lastRequest) return;
      this.previewed = { draft, preview };
      this.previewError = null;
    } catch (cause) {
      if (request !== this.#lastRequest) return;
      this.previewed = null;
      this.previewError = toApiError(cause);
    }
    this.pending = false;
  }

  /** Installs the previewed setup. Resolves to the storage of its secrets, or `null` if it was not installed. */
  async install(): Promise<SecretStorageReport | null> {
    this.tried = true;
    const { draft, preview } = this.previewed ?? {};
    const hash = preview?.hash ?? null;
    if (this.busy || this.pending || draft === undefined || hash === null) return null;
    this.busy = true;
    this.error = null;
    try {
      // The label of the button states that a running server is stopped.
      return await call("install", { draft, hash, stop: this.upgraded?.running ?? false });
    } catch (cause) {
      this.error = toApiError(cause);
      return null;
    } finally {
      this.busy = false;
    }
  }
}
