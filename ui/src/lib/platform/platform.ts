// Interface between the page and its environment: the desktop window, or a browser with the development host.
import type { Events } from "$lib/api/generated";

/**
 * Sandbox of the process that renders the page. `native` is managed by the web view of the system. `unkept` is the
 * reason why a blank window can't be recorded for the next start.
 */
export type PageSandbox = { unkept?: string | null } & (
  | { is: "native" }
  | { is: "on" }
  | ({ is: "off" } & (
      | { because: "turned_off" | "no_bubblewrap" | "no_bus_proxy" | "no_page" | "not_applied" }
      | { because: "no_namespaces" | "no_memory"; cause: string }
    ))
);

/** Setting of the operating system. `cause` is the English reason why it can't be read or changed. */
export type SystemSwitch = { is: "on" | "off" } | { is: "unavailable"; cause: string };

/** A bundle or link that was opened outside of the page, or the reason why it was refused. */
export type Opening =
  | { is: "bundle"; path: string }
  | { is: "link"; link: string }
  | { is: "refused"; what: string; why: OpeningRefusal }
  /** Number of openings that were dropped because too many arrived at once. */
  | { is: "left_out"; count: number };

export type OpeningRefusal =
  | "not_found"
  | "not_a_file"
  | "not_a_bundle"
  | "not_unicode"
  | "not_an_install_link"
  | "link_too_long"
  | "links_off";

/** Desktop integration of the app. */
export interface DesktopReport {
  /** Set if the app has a tray icon. */
  hasTray: boolean;
  /** Set if the app starts at login. */
  loginStart: SystemSwitch;
  /** Set if the app handles `drawbridge:` links. */
  links: SystemSwitch;
}

/**
 * Release of the app from its signed announcement. `notes` is text, `date` is in milliseconds since 1970, `size` in
 * bytes.
 */
export interface AppRelease {
  version: string;
  notes: string;
  date: number | null;
  size: number;
}

/** State of app updates: `UpdateReport` in `crates/updates`. Causes are in English. */
export interface UpdateReport {
  /** The running version. */
  version: string;
  /** Source of newer versions. `key` is the number of the signing key. */
  source:
    | { is: "releases"; key: string }
    | { is: "package_manager" | "flatpak" | "snap" | "not_in_build" | "unknown_installation" }
    | { is: "unusable"; cause: string };
  /** State of the update. */
  step:
    | { is: "idle" | "checking" | "current" }
    | { is: "found" | "installing" | "installed"; release: AppRelease }
    | { is: "downloading"; release: AppRelease; received: number }
    | {
        is: "refused";
        kind: "network" | "signature" | "announcement" | "platform" | "not_here" | "install";
        cause: string;
        release: AppRelease | null;
      };
}

/** Event of the desktop shell. */
export type ShellEvent =
  /** The user closes the window while this number of servers is running. */
  | { type: "closing_asked"; servers: number }
  /** The user chose a consent request outside of the window, or the queue if the id is `null`. */
  | { type: "show_question"; id: string | null }
  /** A bundle or link is to be opened. The next one is sent after `openingDone` was called with this id. */
  | { type: "opened"; id: number; opening: Opening }
  /** Number of bundles that are dragged over the window. 0 when none is or the drag ended. */
  | { type: "bundles_over"; count: number }
  | { type: "updates_changed"; report: UpdateReport };

export interface Platform {
  /** Sends a command. Rejects with the error of the host. */
  call(name: string, request: unknown): Promise<unknown>;
  /**
   * Subscribes to events. Resolves once every later event arrives. `lost` is called when events may be missing, after
   * a reconnect.
   */
  listen(receive: (events: Events) => void, lost: () => void): Promise<void>;
  /** Subscribes to events of the shell. */
  listenShell(receive: (event: ShellEvent) => void): Promise<void>;
  /** Reports that the dialog about closing the window is shown. */
  closingShown(): void;
  /** Hides the window, or quits. */
  finishClosing(choice: "background" | "quit"): Promise<void>;
  /** Returns the desktop integration, or `null` without a desktop shell. */
  desktopReport(): Promise<DesktopReport | null>;
  /** Sets the start at login. Rejects with the cause in English. */
  setLoginStart(on: boolean): Promise<void>;
  /** Sets the handler of `drawbridge:` links. Rejects with the cause in English. */
  setLinkHandler(on: boolean): Promise<void>;
  /** Set if the page manages its zoom. Otherwise its environment does. */
  readonly zooms: boolean;
  /** Sets the zoom in percent. */
  setZoom(percent: number): void;
  /** Reports that the user is done with the opening of this id. */
  openingDone(id: number): void;
  /** Returns the state of updates, or `null` without a shell. */
  updateReport(): Promise<UpdateReport | null>;
  /** Checks for a newer version. The result is sent as an event. */
  checkForUpdate(): Promise<void>;
  /** Downloads and installs the shown version and restarts the app, which ends all servers. */
  installUpdate(version: string): Promise<void>;
  /** Cancels the download. */
  stopUpdate(): Promise<void>;
  /** Reports that the first content was painted, to measure the start. */
  painted(): void;
  /** Reports that a consent request was drawn, to measure its latency. */
  consentDrawn(id: string): void;
  /** Returns the sandbox of the page. */
  pageSandbox(): Promise<PageSandbox>;
  /** Requests the next start to try the sandbox again. */
  retryPageSandbox(): Promise<void>;
}
