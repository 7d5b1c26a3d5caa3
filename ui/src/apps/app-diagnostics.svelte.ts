// Blocked requests, errors and console output of a shown app, as a script in its document reports them. The app can
// forge and prevent reports, so that they are only displayed.
import type { AppConsoleLevel, AppDiagnostic } from "$lib/api/generated";

/** Beginning of the JSON text of a report. The host recognizes it too, and such a text is no message of the protocol. */
export const REPORT_PREFIX = '{"mcpAppDiagnostic":';
/** Maximum number of different blocked requests in the list. */
export const MAX_BLOCKED = 100;
/** Maximum number of retained outputs. The oldest are dropped first. */
export const MAX_OUTPUTS = 200;
/** Maximum number of retained characters of an output or address. */
export const MAX_TEXT = 4_000;
/** Maximum number of retained characters of a directive. */
const MAX_DIRECTIVE = 100;
/** Directives for content without which an app still starts. */
const APPEARANCE = /^(style|img|font|media)-/;

export interface BlockedRequest {
  /** Directive of the Content Security Policy, such as `connect-src`. */
  directive: string;
  /** Address, or a word such as `eval` for what has none. May be empty. */
  address: string;
  count: number;
}

/** Level of console output. `uncaught` is an error that no script of the app caught. */
export type OutputLevel = AppConsoleLevel | "uncaught";

export interface ConsoleOutput {
  /** Number of the output, from 1. */
  number: number;
  /** Time in milliseconds since 1970. */
  at: number;
  level: OutputLevel;
  /** Values that the app wrote, or the message of the error. Truncated. */
  text: string;
}

/** Likely reason why an app did not start. */
export type StartProblem =
  | { is: "webgl_missing" }
  | { is: "blocked"; directive: string; address: string }
  | { is: "error"; text: string };

export class AppDiagnostics {
  /** Blocked requests in the order of their first reports. */
  blocked = $state.raw<readonly BlockedRequest[]>([]);
  /** Number of reports about blocked requests that are not in the list, because it is full. */
  unlisted = $state(0);
  outputs = $state.raw<readonly ConsoleOutput[]>([]);
  isWebglMissing = $state(false);
  /** Number of reports that were dropped, because there were too many. */
  dropped = $state(0);

  /** First outputs with these levels, also after they were dropped from the list. */
  #firstUncaught = $state.raw<ConsoleOutput | null>(null);
  #firstError = $state.raw<ConsoleOutput | null>(null);
  #added = 0;

  /** Adds a report. `dropped` is the number of reports before it that were dropped. */
  add(diagnostic: AppDiagnostic, dropped: number): void {
    this.dropped += dropped;
    switch (diagnostic.type) {
      case "blocked":
        this.#addBlocked(diagnostic.directive, diagnostic.address);
        break;
      case "failed":
        this.#addOutput("uncaught", diagnostic.text);
        break;
      case "console":
        this.#addOutput(diagnostic.level, diagnostic.text);
        break;
      case "webgl_missing":
        this.isWebglMissing = true;
        break;
    }
  }

  /** The reported problem that explains best why the app did not start, or `null` if none was reported. */
  get startProblem(): StartProblem | null {
    if (this.isWebglMissing) return { is: "webgl_missing" };
    const essential = this.blocked.find(({ directive }) => !APPEARANCE.test(directive));
    const blocked = essential ?? this.blocked.at(0);
    const isErrorBetter = essential === undefined && this.#firstUncaught !== null;
    if (blocked !== undefined && !isErrorBetter) {
      return { is: "blocked", directive: blocked.directive, address: blocked.address };
    }
    const error = this.#firstUncaught ?? this.#firstError;
    return error === null ? null : { is: "error", text: error.text };
  }

  #addBlocked(reportedDirective: string, reportedAddress: string): void {
    const directive = reportedDirective.slice(0, MAX_DIRECTIVE);
    const address = reportedAddress.slice(0, MAX_TEXT);
    const isSame = (one: BlockedRequest) => one.directive === directive && one.address === address;
    if (this.blocked.some(isSame)) {
      this.blocked = this.blocked.map((one) =>
        isSame(one) ? { ...one, count: one.count + 1 } : one,
      );
    } else if (this.blocked.length < MAX_BLOCKED) {
      this.blocked = [...this.blocked, { directive, address, count: 1 }];
    } else {
      this.unlisted += 1;
    }
  }

  #addOutput(level: OutputLevel, text: string): void {
    this.#added += 1;
    const output = { number: this.#added, at: Date.now(), level, text: text.slice(0, MAX_TEXT) };
    this.outputs = [...this.outputs.slice(1 - MAX_OUTPUTS), output];
    if (level === "uncaught" && this.#firstUncaught === null) this.#firstUncaught = output;
    if (level === "error" && this.#firstError === null) this.#firstError = output;
  }
}
