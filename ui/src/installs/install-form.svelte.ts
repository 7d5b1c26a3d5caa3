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

/** Installed server that another version replaces. */
export interface UpgradedServer {
  server: string;
  /** Origin of the installed version. */
  installed: ServerOrigin;
  /**
   * Values of the inputs that are kept unless the user enters others. `null` for secrets, whose values are not sent to
   * the page.
   */
  currentValues: Record<string, string[] | null>;
  /** Set if the server is running. Installing the new version stops it. */
  running: boolean;
}

/** Delay after the last change before a preview is requested, in milliseconds. */
const REST_MS = 200;

export class InstallForm {
  name = $state("");
  readonly sandbox: SandboxDraft;
  /** The last previewed draft and its preview. */
  previewed = $state.raw<{ draft: InstallDraft; preview: InstallPreview } | null>(null);
  previewError = $state.raw<ApiError | null>(null);
  /** Set if the preview may not match the fields. */
  pending = $state(true);
  /** Set once the user has tried to install. All problems are shown from then on. */
  tried = $state(false);
  busy = $state(false);
  error = $state.raw<ApiError | null>(null);
  readonly #values = new SvelteMap<string, string[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastRequest = 0;
  #isPreviewing = false;
  /** Set if the fields changed while a preview was being prepared. */
  #isOutdated = false;

  /** `before` is the form of the same server before its plan changed. Its values are reused for unchanged inputs. */
  constructor(
    readonly source: InstallSource,
    readonly plan: InstallPlan,
    before: InstallForm | null = null,
    readonly upgraded: UpgradedServer | null = null,
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

  /** Returns the entered values of an input of another plan if this plan has the same input, otherwise `undefined`. */
  enteredFor({ key, kind, secret }: PlanInput): string[] | undefined {
    const isSame = this.plan.inputs.some(
      (mine) => mine.key === key && mine.kind === kind && mine.secret === secret,
    );
    return isSame ? this.#values.get(key) : undefined;
  }

  /**
   * Returns the values of an input: those that the user entered, else those kept from the installed version, else the
   * defaults.
   */
  valuesOf(input: PlanInput): string[] {
    const { key } = input;
    return this.#values.get(key) ?? this.#keptValues(key) ?? input.default;
  }

  /** Returns the values of an input that an upgrade keeps. Empty for secrets, `undefined` if nothing is kept. */
  #keptValues(key: string): string[] | undefined {
    const { currentValues } = this.upgraded ?? {};
    return currentValues !== undefined && Object.hasOwn(currentValues, key)
      ? (currentValues[key] ?? [])
      : undefined;
  }

  /** Returns `true` if the input keeps its value from the installed version. */
  isKept(input: PlanInput): boolean {
    return this.#keptValues(input.key) !== undefined && !this.isTouched(input);
  }

  set(input: PlanInput, values: string[]): void {
    this.#values.set(input.key, values);
  }

  /** Returns `true` if the user has entered a value for the input. */
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

  /** Returns the problem of an input. `null` if there is none or the field has not lost focus yet. */
  problemOf(input: PlanInput): InputProblem | null {
    if (!this.tried && !this.isTouched(input)) return null;
    return this.previewed?.preview.inputProblems[input.key] ?? null;
  }

  /** Schedules a preview, because a field has changed. */
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

  /**
   * Requests a preview of the current fields. Only one preview runs at a time, because each may hash a whole bundle.
   */
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
      const preview = await call("preview_install", draft);
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

  /**
   * Installs the previewed setup. Resolves to a report about the storage of its secrets, or `null` if it was not
   * installed.
   */
  async install(): Promise<SecretStorageReport | null> {
    this.tried = true;
    const { draft, preview } = this.previewed ?? {};
    const hash = preview?.hash ?? null;
    if (this.busy || this.pending || draft === undefined || hash === null) return null;
    this.busy = true;
    this.error = null;
    try {
      // The label of the button states that a running server is stopped.
      const stopRunning = this.upgraded?.running ?? false;
      return await call("install_server", { draft, hash, stopRunning });
    } catch (cause) {
      this.error = toApiError(cause);
      return null;
    } finally {
      this.busy = false;
    }
  }
}
