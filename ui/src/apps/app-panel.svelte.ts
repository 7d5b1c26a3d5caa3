// Steps from the offer of an app to its end, for one call of a tool.
import { call, toApiError } from "$lib/api/client";
import type {
  AppContext,
  AppPageReport,
  DisplayedCall,
  ErrorCode,
  OpenedApp,
  SandboxGrants,
} from "$lib/api/generated";

import { AppSession, type AppEnd } from "./app-session.svelte";
import { withdrawContext } from "./model-context";

/**
 * Codes with which `open_app` rejects a call that no model is writing (any more), and one that has no result, since it
 * is running, failed or was refused.
 */
const CODES_WITHOUT_CALL: ReadonlySet<ErrorCode> = new Set(["stale", "not_found"]);

/** `withheld` means that the app of a tool use can't be shown at its reply. */
export type AppStep =
  | { is: "offered" | "loading" | "withheld" }
  | { is: "review"; page: AppPageReport }
  | { is: "open"; session: AppSession }
  | { is: "ended"; end: AppEnd }
  | { is: "failed"; error: unknown };

export class AppPanelState {
  step = $state.raw<AppStep>({ is: "offered" });
  /** Set once the app was shown, until it is withheld. */
  wasShown = $state(false);

  readonly #server: string;
  readonly #tool: string;
  readonly #call: () => DisplayedCall;
  /** Returns the context of an inline frame at the place of the panel. */
  readonly #context: () => AppContext;
  /** Set for a panel at the reply that uses the tool. The call has a panel of its own. */
  readonly #isAtReply: boolean;
  /** Number of operations so far. The result of an earlier one is ignored. */
  #operations = 0;

  /** `call` returns the displayed call, which is another one once a model has finished writing it. */
  constructor(
    server: string,
    tool: string,
    call: () => DisplayedCall,
    context: () => AppContext,
    isAtReply: boolean,
  ) {
    this.#server = server;
    this.#tool = tool;
    this.#call = call;
    this.#context = context;
    this.#isAtReply = isAtReply;
  }

  /** Reads the page and opens it if it is approved. Otherwise shows it for approval. */
  async show(): Promise<void> {
    await this.#run(async (isCurrent) => {
      const page = await this.#readPage();
      if (!isCurrent()) return;
      if (page.review === "approved") await this.#open(isCurrent);
      else this.step = { is: "review", page };
    });
  }

  /** Opens the app if its page is approved. Otherwise the offer stays. */
  async showIfApproved(): Promise<void> {
    const offered = this.step;
    this.#operations += 1;
    const operation = this.#operations;
    const isCurrent = () => operation === this.#operations;
    try {
      const page = await this.#readPage();
      if (isCurrent() && page.review === "approved") await this.#open(isCurrent);
    } catch {
      // The user sees the reason when they press the button.
      if (isCurrent()) this.step = offered;
    }
  }

  /**
   * Opens the app of a call that a model is writing, if its page is approved and it may receive the arguments. The page
   * is not read before, because that would tell the server of the call.
   */
  async showStreamed(): Promise<void> {
    this.#operations += 1;
    const operation = this.#operations;
    const isCurrent = () => operation === this.#operations;
    this.step = { is: "loading" };
    try {
      await this.#open(isCurrent);
    } catch {
      // The app is offered with the result of the call.
      if (isCurrent()) this.#withhold();
    }
  }

  /** Ends the shown app and shows its page for another decision. */
  async review(): Promise<void> {
    if (!(await this.#close())) return;
    await this.#run(async (isCurrent) => {
      const page = await this.#readPage();
      if (isCurrent()) this.step = { is: "review", page };
    });
  }

  /** Approves the reviewed page with these grants and opens it. */
  async approve(page: AppPageReport, grants: SandboxGrants): Promise<void> {
    await this.#run(async (isCurrent) => {
      const { hash } = page;
      await call("approve_app", { server: this.#server, tool: this.#tool, hash, grants });
      if (isCurrent()) await this.#open(isCurrent);
    });
  }

  /** Removes the approval of the page and ends the shown app. */
  async revoke({ subject, opened }: AppSession): Promise<void> {
    // The approval is removed even if the panel was removed in the meantime.
    await this.#close();
    withdrawContext(subject, opened.view);
    await this.#run(async (isCurrent) => {
      await call("revoke_app", { server: this.#server, uri: subject.uri });
      if (isCurrent()) this.step = { is: "offered" };
    });
  }

  /** Ends the shown app and opens it again. */
  async reload(): Promise<void> {
    if (await this.#close()) await this.show();
  }

  /** Returns to the offer. */
  dismiss(): void {
    this.#operations += 1;
    this.step = { is: "offered" };
  }

  /** Ends everything. Called when the panel is removed. */
  stop(): void {
    this.#operations += 1;
    if (this.step.is === "open") this.step.session.stop();
  }

  /**
   * Closes the shown app and waits until it has saved its state. Returns `false` if another operation began in the
   * meantime.
   */
  async #close(): Promise<boolean> {
    this.#operations += 1;
    const operation = this.#operations;
    if (this.step.is === "open") {
      const { session } = this.step;
      session.close();
      await session.ended;
    }
    return operation === this.#operations;
  }

  #withhold(): void {
    this.step = { is: "withheld" };
    this.wasShown = false;
  }

  #readPage(): Promise<AppPageReport> {
    return call("read_app_page", { server: this.#server, tool: this.#tool });
  }

  async #run(act: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    this.#operations += 1;
    const operation = this.#operations;
    const isCurrent = () => operation === this.#operations;
    this.step = { is: "loading" };
    try {
      await act(isCurrent);
    } catch (cause) {
      if (isCurrent()) this.step = { is: "failed", error: toApiError(cause) };
    }
  }

  async #open(isCurrent: () => boolean): Promise<void> {
    const [server, tool, displayed] = [this.#server, this.#tool, this.#call()];
    const conversation = displayed.type === "result" ? null : displayed.conversation;
    const context = this.#context();
    let opened: OpenedApp;
    try {
      opened = await call("open_app", { server, tool, call: displayed, context });
    } catch (cause) {
      if (!this.#isAtReply || !CODES_WITHOUT_CALL.has(toApiError(cause).code)) throw cause;
      // The panel of the call takes over once the call has a result.
      if (isCurrent()) this.#withhold();
      return;
    }
    const item = displayed.type === "item" ? displayed.item : undefined;
    const subject = { server, tool, uri: opened.uri, conversation, item };
    const session = new AppSession(subject, opened, context, (end) => {
      if (this.step.is === "open" && this.step.session === session)
        this.step = { is: "ended", end };
    });
    // The panel was removed in the meantime.
    if (!isCurrent()) session.stop();
    else {
      session.start();
      this.wasShown = true;
      this.step = { is: "open", session };
    }
  }
}
