// State of one shown app: its frame, the messages between the frame and the host, and the requests of the app.
import { call } from "$lib/api/client";
import type {
  AppAnswer,
  AppContext,
  AppDiagnostic,
  AppDisplayMode,
  AppViewChange,
  Event as HostEvent,
  OpenedApp,
} from "$lib/api/generated";
import { platform } from "$lib/platform";
import { app } from "$lib/state/app.svelte";
import { errorText } from "$lib/ui/error-title";

import { isConsentPending } from "../consent";
import { AppDiagnostics, REPORT_PREFIX } from "./app-diagnostics.svelte";
import { AppLog } from "./app-log.svelte";
import { AppRequests } from "./app-requests.svelte";
import type { AppSubject } from "./app-subject";
import { isPlainObject } from "./json-length";
import { lastHeight, rememberHeight } from "./last-state";
import { MessageSender } from "./message-sender";
import { offerContext } from "./model-context";
import { raisedApp } from "./raised-app.svelte";
import { reachableNames } from "./self-test";

/** Time limit of the self-test, in milliseconds. */
export const SELF_TEST_LIMIT = 5_000;
/** Time after which the user is informed that the app has not started, in milliseconds. */
export const START_LIMIT = 10_000;
/** The same after an uncaught error of the app, which rarely starts then. */
export const START_LIMIT_AFTER_ERROR = 3_000;
/** Time in milliseconds for which the frame stays after the user closed the app, so that the app can save its state. */
export const CLOSE_LIMIT = 2_500;
/** Delay after a change before the context is reported, in milliseconds. */
export const CONTEXT_PAUSE = 100;
/** Height of the frame until the app requests another, in CSS pixels. */
const FIRST_HEIGHT = 240;
const ALL_MODES: readonly AppDisplayMode[] = ["inline", "fullscreen", "pip"];

/**
 * Reason for the end of an app. `reachable` and `silent` are results of the self-test: the frame could reach the named
 * objects, or did not respond. `events_lost` means that messages to the app may be missing.
 */
export type AppEnd =
  | { is: "closed" | "removed" | "navigated" | "silent" | "events_lost" }
  | { is: "reachable"; names: readonly string[] };

/** The used part of a frame. */
type MessageFrame = Pick<HTMLIFrameElement, "contentWindow">;

/** Tools that an app offers to models, and whether the model of its conversation may use them. */
export type AppTools = Omit<Extract<AppViewChange, { type: "tools_changed" }>, "type">;

export class AppSession {
  readonly subject: AppSubject;
  readonly opened: OpenedApp;
  readonly log = new AppLog();
  readonly diagnostics = new AppDiagnostics();
  readonly requests: AppRequests;
  phase = $state<"self_test" | "running" | "closing" | "closed">("self_test");
  /** URL of the frame. Each URL has a separate frame element. */
  src = $state("");
  mode = $state<AppDisplayMode>("inline");
  /** Modes in which the app may be displayed. Only inline until the app has declared those that it supports. */
  modes = $state.raw<readonly AppDisplayMode[]>(["inline"]);
  /** Height that the app requested last, in CSS pixels. */
  requestedHeight = $state(FIRST_HEIGHT);
  /** Tools that the app offers to models, or `null` if it has never offered any. */
  tools = $state.raw<AppTools | null>(null);
  isInitialized = $state(false);
  /** Set if the app was not initialized within the limit. */
  isLate = $state(false);

  /** Resolved when the app has ended for any reason. */
  readonly ended: Promise<void>;

  #onEnded: () => void = () => undefined;
  readonly #origin: string;
  readonly #onEnd: (end: AppEnd) => void;
  readonly #sender: MessageSender;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #frame: MessageFrame | null = null;
  /** Number of documents that the current frame has loaded. */
  #loads = 0;
  #reported: string;
  /** Set after the first uncaught error of the app. */
  #hasFailed = false;
  #context: AppContext;
  #contextTimer: ReturnType<typeof setTimeout> | null = null;
  #unfollow: () => void = () => undefined;

  /** `context` is the one that the app was opened with. `onEnd` is called once, unless `stop` ends the app. */
  constructor(
    subject: AppSubject,
    opened: OpenedApp,
    context: AppContext,
    onEnd: (end: AppEnd) => void,
  ) {
    this.ended = new Promise((resolve) => (this.#onEnded = resolve));
    this.subject = subject;
    this.opened = opened;
    const height = subject.item === undefined ? null : lastHeight(subject.item);
    if (height !== null) this.requestedHeight = height;
    this.#context = context;
    this.#reported = JSON.stringify(context);
    this.#onEnd = onEnd;
    this.#origin = platform().appOrigin(opened.view);
    this.#sender = new MessageSender(opened.view, (reason) => this.log.addDropped(reason));
    this.requests = new AppRequests(subject, {
      answer: (request, answer) => void this.#answer(request, answer),
      setMode: (mode) => this.setMode(mode),
    });
  }

  /** Loads the self-test into the frame and follows the app until it ends. */
  start(): void {
    const onMessage = (event: MessageEvent<unknown>) => this.#receive(event);
    window.addEventListener("message", onMessage);
    const endEvents = app.onEvent((event) => this.#follow(event));
    this.#unfollow = () => {
      window.removeEventListener("message", onMessage);
      endEvents();
    };
    this.src = platform().appUrl(this.opened.view, "self-test");
    this.#after(SELF_TEST_LIMIT, () => {
      if (this.phase === "self_test") this.#abort({ is: "silent" });
    });
  }

  /** Accepts messages of this frame until the returned function is called. */
  watch(frame: MessageFrame): () => void {
    this.#frame = frame;
    this.#loads = 0;
    return () => {
      if (this.#frame === frame) this.#frame = null;
    };
  }

  /** Handles a `load` event of a frame. After the app itself, no other document may load. */
  loaded(frame: MessageFrame): void {
    if (frame !== this.#frame) return;
    this.#loads += 1;
    if (!platform().firesLoadOncePerDocument) return;
    if (this.phase !== "self_test" && this.#loads > 1) this.#abort({ is: "navigated" });
  }

  /**
   * Changes to a mode in which the app may be displayed, and ignores others. Returns the mode in force. An app stays
   * inline while a consent request is pending, because it would cover it. A request that was put aside counts only while
   * it is displayed.
   */
  setMode(mode: AppDisplayMode): AppDisplayMode {
    if (!this.modes.includes(mode)) return this.mode;
    this.mode = isConsentPending() ? "inline" : mode;
    if (this.mode === "inline") raisedApp.release(this);
    else raisedApp.raise(this);
    return this.mode;
  }

  lower(): void {
    this.mode = "inline";
  }

  /** Reports a context to the app after a pause, unless it equals the last reported one. */
  setContext(context: AppContext): void {
    this.#context = context;
    this.#contextTimer ??= setTimeout(() => {
      this.#contextTimer = null;
      void this.#reportContext();
    }, CONTEXT_PAUSE);
  }

  /** Closes the app at the request of the user or of the app. The frame stays until the app has saved its state. */
  close(): void {
    if (this.phase === "closing" || this.phase === "closed") return;
    if (this.phase === "self_test" || !this.isInitialized) {
      this.#abort({ is: "closed" });
      return;
    }
    this.setMode("inline");
    this.phase = "closing";
    this.#after(CLOSE_LIMIT, () => this.#finish({ is: "closed" }));
    this.#closeView();
  }

  /** Ends the app because messages to it may be missing. */
  abandon(): void {
    this.#abort({ is: "events_lost" });
  }

  /** Ends the app without a report. Called when its view is removed. */
  stop(): void {
    if (this.phase === "closed") return;
    if (this.phase !== "closing") this.#closeView();
    this.#end();
  }

  #abort(end: AppEnd): void {
    if (this.phase === "closed") return;
    this.#closeView();
    this.#finish(end);
  }

  #finish(end: AppEnd): void {
    if (this.phase === "closed") return;
    this.#end();
    this.#onEnd(end);
  }

  #end(): void {
    this.phase = "closed";
    this.#unfollow();
    this.#sender.stop();
    this.requests.withdrawAll();
    raisedApp.release(this);
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#contextTimer !== null) clearTimeout(this.#contextTimer);
    this.#onEnded();
  }

  #closeView(): void {
    // An app that is already closed needs nothing.
    void call("close_app", { view: this.opened.view }).catch(() => undefined);
  }

  #receive(event: MessageEvent<unknown>): void {
    const window = this.#frame?.contentWindow ?? null;
    if (window === null || event.source !== window || event.origin !== this.#origin) return;
    if (this.phase === "self_test") {
      const names = reachableNames(event.data);
      if (names === null) return;
      if (names.length > 0) this.#abort({ is: "reachable", names });
      else this.#run();
      return;
    }
    // Browsers deserialize `data` when it is read, so that a flood costs little beyond these limits.
    if (!this.#sender.admits()) return;
    const { data } = event;
    if (!isPlainObject(data)) {
      this.log.addDropped("the message is not an object");
      return;
    }
    const text = this.#sender.send(data);
    if (text === null || text.startsWith(REPORT_PREFIX)) return;
    this.log.addMessage("from_page", data, text);
  }

  #run(): void {
    this.phase = "running";
    this.src = platform().appUrl(this.opened.view, "");
    this.#expectStart(START_LIMIT);
  }

  #follow(event: HostEvent): void {
    if (event.type === "app_view_changed" && event.view === this.opened.view) {
      this.#apply(event.change);
    }
  }

  #apply(change: AppViewChange): void {
    switch (change.type) {
      case "message":
        this.log.addMessage("to_page", change.message, JSON.stringify(change.message));
        this.#frame?.contentWindow?.postMessage(change.message, this.#origin);
        break;
      case "initialized":
        this.isInitialized = true;
        this.isLate = false;
        this.modes = displayableModes(change.displayModes);
        break;
      case "resized":
        if (change.height !== null) this.#resize(change.height);
        break;
      case "display_mode_changed":
        // The user may have left the mode meanwhile, and the last reported context is no longer in force.
        this.#reported = "";
        this.setContext(this.#context);
        break;
      case "requested":
        this.requests.add(change.request, change.userRequest);
        break;
      case "withdrawn":
        this.requests.withdraw(change.request);
        break;
      case "model_context_changed":
        offerContext(this.subject, this.opened.view, change.text);
        break;
      case "tools_changed": {
        const { tools, hash, dropped, on } = change;
        this.tools = { tools, hash, dropped, on };
        break;
      }
      case "teardown_requested":
        this.close();
        break;
      case "fault":
        this.log.addFault(change.direction, change.kind, change.detail);
        break;
      case "logged":
        this.log.addLogged(change.level, change.text);
        break;
      case "diagnosed":
        this.#addReport(change.diagnostic, change.dropped);
        break;
      case "closed":
        this.#finish({ is: this.phase === "closing" ? "closed" : "removed" });
        break;
    }
  }

  #resize(height: number): void {
    this.requestedHeight = height;
    if (this.subject.item !== undefined) rememberHeight(this.subject.item, height);
  }

  #addReport(diagnostic: AppDiagnostic, dropped: number): void {
    this.diagnostics.add(diagnostic, dropped);
    if (diagnostic.type !== "failed" || this.#hasFailed) return;
    this.#hasFailed = true;
    this.#expectStart(START_LIMIT_AFTER_ERROR);
  }

  /** Informs the user if the app is not initialized within a time in milliseconds. */
  #expectStart(limit: number): void {
    this.#after(limit, () => (this.isLate = !this.isInitialized));
  }

  async #answer(request: number, answer: AppAnswer): Promise<void> {
    try {
      await call("decide_app_request", { view: this.opened.view, request, answer });
    } catch (cause) {
      this.log.addDropped(errorText(cause));
    }
  }

  async #reportContext(): Promise<void> {
    const reported = JSON.stringify(this.#context);
    if (reported === this.#reported) return;
    this.#reported = reported;
    try {
      await call("set_app_context", { view: this.opened.view, context: this.#context });
    } catch (cause) {
      this.log.addDropped(errorText(cause));
    }
  }

  #after(delay: number, act: () => void): void {
    this.#timers.add(setTimeout(act, delay));
  }
}

/**
 * Returns the modes in which an app may be displayed. `declared` are those that it supports, or `null` if it does not
 * say, which leaves the choice to the user.
 */
function displayableModes(declared: readonly AppDisplayMode[] | null): readonly AppDisplayMode[] {
  if (declared === null) return ALL_MODES;
  // An app that does not support its place in the content could not return to it from another mode.
  return declared.includes("inline") ? declared : ["inline"];
}
