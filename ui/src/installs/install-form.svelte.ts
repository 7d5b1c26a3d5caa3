// What the user fills in before a server is installed, and what would be set up by it.
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

/** An installed server whose place another version takes. */
export interface Upgraded {
  server: string;
  /** Where its version is from. */
  installed: ServerOrigin;
  /** The inputs that stay as they are unless another value is entered. Of those that are not shown there is no value. */
  kept: Record<string, string[] | null>;
  /** It would be stopped. */
  running: boolean;
}

/** How long the typing rests before the host is asked, in milliseconds. */
const REST_MS = 200;

export class InstallForm {
  name = $state("");
  readonly sandbox: SandboxDraft;
  /** What is set up by the draft of this preview, and by no other. */
  previewed = $state.raw<{ draft: InstallDraft; preview: InstallPreview } | null>(null);
  previewError = $state.raw<ApiError | null>(null);
  /** Whether the preview may not be what the fields say now. */
  pending = $state(true);
  /** The user tried to install; from now on each problem is shown. */
  tried = $state(false);
  busy = $state(false);
  error = $state.raw<ApiError | null>(null);
  readonly #values = new SvelteMap<string, string[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;
  #looking = false;
  /** The fields changed while a preview ran. */
  #again = false;

  /** `before` is the form of the same server before it changed. Of that, what the user entered is kept where it is asked for in the same way. */
  constructor(
    readonly source: InstallSource,
    readonly plan: InstallPlan,
    before: InstallForm | null = null,
    readonly upgraded: Upgraded | null = null,
  ) {
    this.name = before?.name ?? plan.name;
    // Without a choice before, the sandbox of the new plan holds, and not that there was none.
    const hadSandbox = before?.plan.containment.is === "possible";
    this.sandbox = hadSandbox ? before.sandbox : new SandboxDraft(plan.sandbox ?? undefined);
    this.tried = before?.tried ?? false;
    this.error = before?.error ?? null;
    for (const input of plan.inputs) {
      const values = before?.enteredFor(input);
      if (values !== undefined) this.set(input, values);
      // A box that is not ticked says no.
      else if (
        input.kind === "boolean" &&
        input.required &&
        input.default.length === 0 &&
        !this.isKept(input)
      )
        this.set(input, ["false"]);
    }
  }

  /** What the user entered for an input of another plan, if this plan asks for the same. */
  enteredFor({ key, kind, secret }: PlanInput): string[] | undefined {
    const isSame = this.plan.inputs.some(
      (mine) => mine.key === key && mine.kind === kind && mine.secret === secret,
    );
    return isSame ? this.#values.get(key) : undefined;
  }

  /** The values of an input: the user's, else its default. */
  valuesOf(input: PlanInput): string[] {
    const { key } = input;
    return this.#values.get(key) ?? this.#keptValues(key) ?? input.default;
  }

  /** What an upgrade keeps of an input. Nothing stands for what is not shown. */
  #keptValues(key: string): string[] | undefined {
    const { kept } = this.upgraded ?? {};
    return kept !== undefined && Object.hasOwn(kept, key) ? (kept[key] ?? []) : undefined;
  }

  /** Whether an input stays as it is unless the user enters something. */
  isKept(input: PlanInput): boolean {
    return this.#keptValues(input.key) !== undefined && !this.isTouched(input);
  }

  set(input: PlanInput, values: string[]): void {
    this.#values.set(input.key, values);
  }

  /** Whether the user entered something for an input. */
  isTouched(input: PlanInput): boolean {
    return this.#values.has(input.key);
  }

  get draft(): InstallDraft {
    const isHeld = this.plan.containment.is === "possible";
    return {
      source: this.source,
      name: this.name.trim(),
      values: Object.fromEntries(this.#values),
      sandbox: isHeld && this.upgraded === null ? (this.sandbox.wanted ?? null) : null,
      upgrades: this.upgraded?.server ?? null,
    };
  }

  /** What is wrong with an input, once the user came by it. */
  problemOf(input: PlanInput): InputProblem | null {
    if (!this.tried && !this.isTouched(input)) return null;
    return this.previewed?.preview.inputProblems[input.key] ?? null;
  }

  /** Previews what the fields say once they rest. */
  changed(): void {
    this.pending = true;
    this.error = null;
    this.#asked += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.look(), REST_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#asked += 1;
    this.#again = false;
  }

  /** Previews what the fields say. One preview runs at a time, as each may hash a whole bundle. */
  async look(): Promise<void> {
    clearTimeout(this.#timer);
    this.pending = true;
    this.#again = true;
    if (this.#looking) return;
    this.#looking = true;
    while (this.#again) {
      this.#again = false;
      await this.#preview();
    }
    this.#looking = false;
  }

  async #preview(): Promise<void> {
    const asked = ++this.#asked;
    const draft = $state.snapshot(this.draft);
    try {
      const preview = await call("install_preview", draft);
      if (asked !== this.#asked) return;
      this.previewed = { draft, preview };
      this.previewError = null;
    } catch (cause) {
      if (asked !== this.#asked) return;
      this.previewed = null;
      this.previewError = toApiError(cause);
    }
    this.pending = false;
  }

  /** Installs what was previewed. Returns what became of its secrets; nothing if it was not installed. */
  async install(): Promise<SecretStorageReport | null> {
    this.tried = true;
    const { draft, preview } = this.previewed ?? {};
    const hash = preview?.hash ?? null;
    if (this.busy || this.pending || draft === undefined || hash === null) return null;
    this.busy = true;
    this.error = null;
    try {
      // The button says that a server that runs is stopped.
      return await call("install", { draft, hash, stop: this.upgraded?.running ?? false });
    } catch (cause) {
      this.error = toApiError(cause);
      return null;
    } finally {
      this.busy = false;
    }
  }
}
