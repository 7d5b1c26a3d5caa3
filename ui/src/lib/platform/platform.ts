// What the page needs from what is around it: the desktop window, or a browser with the development host.
import type { Events } from "$lib/api/generated";

/**
 * The sandbox of the process that draws the page. `native`: the system's web view sees to it. `unkept` says why a window that
 * stays blank is not remembered as it should be.
 */
export type PageSandbox = { unkept?: string | null } & (
  | { is: "native" }
  | { is: "on" }
  | ({ is: "off" } & (
      | { because: "turned_off" | "no_bubblewrap" | "no_bus_proxy" | "no_page" | "not_applied" }
      | { because: "no_namespaces" | "no_memory"; cause: string }
    ))
);

/** A switch that the system has. `cause` says in English why it can't be told or changed. */
export type SystemSwitch = { is: "on" | "off" } | { is: "unavailable"; cause: string };

/** What somebody outside of the page wants opened, or why it is not. */
export type Opening =
  | { is: "bundle"; path: string }
  | { is: "link"; link: string }
  | { is: "refused"; what: string; why: OpeningRefusal }
  /** So many were not opened, as too many came at once. */
  | { is: "left_out"; count: number };

export type OpeningRefusal =
  | "not_found"
  | "not_a_file"
  | "not_a_bundle"
  | "not_unicode"
  | "not_an_install_link"
  | "link_too_long"
  | "links_off";

/** What the desktop does for an app whose window is closed. */
export interface DesktopReport {
  /** Whether it shows the app's icon in a tray. */
  hasTray: boolean;
  /** Whether the app starts at login. */
  loginStart: SystemSwitch;
  /** Whether `drawbridge:` links of other programs come to it. */
  links: SystemSwitch;
}

/** A release of the app, as its signed announcement says. `notes` is text, `date` in milliseconds since 1970, `size` in bytes. */
export interface AppRelease {
  version: string;
  notes: string;
  date: number | null;
  size: number;
}

/** What there is of newer versions of the app: `UpdateReport` in `crates/updates`. Causes are in English. */
export interface UpdateReport {
  /** The version that runs. */
  version: string;
  /** Where newer versions come from. `key` is the number of the key that signs them. */
  source:
    | { is: "releases"; key: string }
    | { is: "package_manager" | "flatpak" | "snap" | "not_in_build" | "unknown_installation" }
    | { is: "unusable"; cause: string };
  /** How far an update is. */
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

/** An event of the desktop shell. */
export type ShellEvent =
  /** The user closes the window while so many servers run. */
  | { type: "closing_asked"; servers: number }
  /** The user chose a consent request outside of the window, or the queue if the id is `null`. */
  | { type: "show_question"; id: string | null }
  /** Something is to be opened. The next one comes once `openingDone` was called with its id. */
  | { type: "opened"; id: number; opening: Opening }
  /** So many bundles are dragged over the window; 0 for none, or once they are no longer. */
  | { type: "bundles_over"; count: number }
  | { type: "updates_changed"; report: UpdateReport };

export interface Platform {
  /** Sends a command. Rejects with whatever the other side gave as the error. */
  call(name: string, request: unknown): Promise<unknown>;
  /**
   * Begins to listen; resolves once every later event arrives. `lost` is told when events may be missing,
   * after the connection stands again.
   */
  listen(receive: (events: Events) => void, lost: () => void): Promise<void>;
  /** Begins to listen to the shell. */
  listenShell(receive: (event: ShellEvent) => void): Promise<void>;
  /** Says that the choice of a closing window is shown. */
  closingShown(): void;
  /** Hides the window, or quits. */
  finishClosing(choice: "background" | "quit"): Promise<void>;
  /** What the desktop does; null without one. */
  desktopReport(): Promise<DesktopReport | null>;
  /** Has the app start at login, or not. Rejects with the cause in English. */
  setLoginStart(on: boolean): Promise<void>;
  /** Has links of other programs come to the app, or not. Rejects with the cause in English. */
  setLinkHandler(on: boolean): Promise<void>;
  /** Whether the page sees to its size; else what is around it does. */
  readonly zooms: boolean;
  /** Draws the page in this size, in percent. */
  setZoom(percent: number): void;
  /** Says that the user is done with what was opened under this id. */
  openingDone(id: number): void;
  /** What there is of newer versions of the app; null without a shell. */
  updateReport(): Promise<UpdateReport | null>;
  /** Asks for a newer version. What it comes to is told as an event. */
  checkForUpdate(): Promise<void>;
  /** Downloads the version that is shown, installs it, and restarts the app, which ends all servers. */
  installUpdate(version: string): Promise<void>;
  /** Stops the download. */
  stopUpdate(): Promise<void>;
  /** Says that the first content is drawn (for measuring the start). */
  painted(): void;
  /** Reports that a consent request was drawn, to measure its latency. */
  consentDrawn(id: string): void;
  /** The sandbox that the page runs in. */
  pageSandbox(): Promise<PageSandbox>;
  /** Has the next start try the sandbox again. */
  retryPageSandbox(): Promise<void>;
}
