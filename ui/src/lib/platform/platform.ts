// Interface between the page and its environment: the desktop window, or a browser with the development host.
import type { Events } from "$lib/api/generated";

/**
 * Sandbox of the process that renders the page. `native` is the sandbox of the operating system's web view. The app
 * records starts with a blank window, after which it starts without the sandbox. `storageProblem` is the reason why it
 * can't record them.
 */
export type PageSandbox = { storageProblem?: string | null } & (
  | { is: "native" }
  | { is: "on" }
  | ({ is: "off" } & (
      | { reason: "turned_off" | "no_bubblewrap" | "no_bus_proxy" | "no_page" | "not_applied" }
      | { reason: "no_namespaces" | "no_memory"; cause: string }
    ))
);

/** State of a switch in the operating system. `cause` is the English reason why it can't be read or changed. */
export type SystemSwitch = { is: "on" | "off" } | { is: "unavailable"; cause: string };

/** Bundle or link that was opened outside of the page, or the reason why it was refused. */
export type Opening =
  | { is: "bundle"; path: string }
  | { is: "link"; link: string }
  | { is: "refused"; what: string; reason: OpeningRefusal }
  /** Number of openings that were dropped, because too many arrived at the same time. */
  | { is: "dropped"; count: number };

export type OpeningRefusal =
  | "not_found"
  | "not_a_file"
  | "not_a_bundle"
  | "not_unicode"
  | "not_an_install_link"
  | "link_too_long"
  | "links_off";

/** State of the app's integration with the desktop. */
export interface DesktopReport {
  /** Set if the app shows a tray icon. */
  hasTray: boolean;
  /** Start of the app at login. */
  loginStart: SystemSwitch;
  /** Handling of `drawbridge:` links by the app. */
  links: SystemSwitch;
}

/**
 * Release of the app, as announced in a signed file. `notes` is plain text, `date` is in milliseconds since 1970,
 * `size` is in bytes.
 */
export interface AppRelease {
  version: string;
  notes: string;
  date: number | null;
  size: number;
}

/** State of app updates: `UpdateReport` in `crates/updates`. Causes are in English. */
export interface UpdateReport {
  /** Version of the running app. */
  version: string;
  /** Source of newer versions. `key` is the number of the signing key. */
  source:
    | { is: "releases"; key: string }
    | { is: "package_manager" | "flatpak" | "snap" | "not_in_build" | "unknown_installation" }
    | { is: "unusable"; cause: string };
  /** Current step of the update, from the check to the restart. */
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

/** Contents of a window's menu bar. The texts are in the language of the page. */
export interface MenuBar {
  /** Set if the window shows the menu bar. Ignored on a Mac. */
  shown: boolean;
  titles: Record<"file" | "edit" | "view" | "window" | "help", string>;
  /** Labels of items that the operating system or the shell implements. */
  labels: Record<SystemItem, string>;
  /** Actions of the page, in the order in which menus list them. */
  actions: {
    id: string;
    menu: "app" | "file" | "view" | "window" | "help";
    /** Set if a line separates the action from the previous one of its menu. */
    startsGroup: boolean;
    label: string;
    /** Shortcut, such as `"Mod+K"`. */
    keys: string | null;
    enabled: boolean;
  }[];
}

type SystemItem =
  | ("about" | "services" | "hide" | "hideOthers" | "showAll" | "quit" | "undo" | "redo" | "cut")
  | ("copy" | "paste" | "selectAll" | "minimize" | "fullScreen" | "closeWindow");

/** An app (MCP Apps), named by its server and its tool. Both names are untrusted. */
export interface StoppedApp {
  server: string;
  tool: string;
}

/** Reason for which all apps of a window were closed. */
export type AppStopCause = "unresponsive" | "memory_limit" | "page_ended";

/**
 * Apps that were closed together. Any of them may be the cause. Empty if a page without apps used too much memory and
 * was ended.
 */
export interface StoppedAppsReport {
  id: number;
  apps: StoppedApp[];
  cause: AppStopCause;
}

/** Event from the desktop shell to the page. */
export type ShellEvent =
  /** The user closes the window while this number of servers is running. */
  | { type: "closing_asked"; servers: number }
  /**
   * The user selected a consent request outside of the window, such as in a notification. `null` stands for the queue.
   */
  | { type: "show_consent_request"; id: string | null }
  /** A bundle or link was opened. The shell sends the next one after `openingDone` was called with this id. */
  | { type: "opened"; id: number; opening: Opening }
  /** Number of bundles that the user is dragging over the window. 0 after the drag has ended. */
  | { type: "bundles_over"; count: number }
  | { type: "updates_changed"; report: UpdateReport }
  /**
   * Apps were closed because the page of their window stopped responding or its process ended, or the user dismissed a
   * report or shows an app again. `withheld` are the servers whose apps are shown only after a click. Also sent to each
   * newly loaded page, before all other events.
   */
  | { type: "stopped_apps_changed"; reports: StoppedAppsReport[]; withheld: string[] }
  /** These conversations are open in windows of their own. Also sent to each page when it is loaded. */
  | { type: "conversation_windows_changed"; conversations: string[] }
  /** The user closes this window of a conversation. The shell waits for `closeWindow`. */
  | { type: "window_closing" }
  /** The user quits. The shell waits for `closeWindow` of each page, but not for long. */
  | { type: "quitting" }
  /** The user chose a view or an action of the main window, as a hash, in the window of a conversation. */
  | { type: "view_chosen"; view: string }
  /** The user chose this action in the menu bar of the window. */
  | { type: "action_chosen"; action: string };

/** Reason why the window of a conversation can't be opened. `cause` is in English. */
export type WindowProblem =
  { problem: "too_many"; maximum: number } | { problem: "failed"; cause: string };

export interface Platform {
  /** Sends a command to the host. Rejects with the host's error. */
  call(name: string, request: unknown): Promise<unknown>;
  /**
   * Subscribes to events of the host. Resolves once all later events are received. `lost` is called after a reconnect,
   * when events may be missing.
   */
  listen(receive: (events: Events) => void, lost: () => void): Promise<void>;
  /** Subscribes to events of the desktop shell. */
  listenShell(receive: (event: ShellEvent) => void): Promise<void>;
  /** Notifies the shell that a dialog about closing the window is displayed, or that the window can't be closed yet. */
  closingShown(): void;
  /** Hides the window or quits the app. */
  finishClosing(choice: "background" | "quit"): Promise<void>;
  /** Returns the state of the desktop integration, or `null` without a desktop shell. */
  desktopReport(): Promise<DesktopReport | null>;
  /** Enables or disables the start at login. Rejects with the cause in English. */
  setLoginStart(on: boolean): Promise<void>;
  /** Enables or disables the handling of `drawbridge:` links. Rejects with the cause in English. */
  setLinkHandler(on: boolean): Promise<void>;
  /** Set if the page offers its own zoom. In a browser, the user zooms with the browser instead. */
  readonly zooms: boolean;
  /** Sets the zoom of the page in percent. */
  setZoom(percent: number): void;
  /** Set if conversations can be opened in windows of their own. */
  readonly hasConversationWindows: boolean;
  /** Opens the window of a conversation, or brings it to the front. Rejects with a `WindowProblem`. */
  openConversationWindow(conversation: string): Promise<void>;
  /** Reports that all drafts are stored. Closes this window of a conversation, unless the user quits. */
  closeWindow(): void;
  /** Shows a consent request in the other window that shows it. Rejects with the cause in English. */
  showRequestElsewhere(id: string): Promise<void>;
  /** Brings the main window to the front, and opens a view in it unless the hash is `null`. */
  showMainWindow(hash: string | null): void;
  /** Notifies the shell that the user has dismissed the report of stopped apps with this id. */
  dismissStoppedApps(report: number): void;
  /** Notifies the shell that the user shows an app of this server again. */
  releaseStoppedApps(server: string): void;
  /** Kind of menu bar: none in a browser, always one on a Mac, otherwise as the user sets it. */
  readonly menuBar: "none" | "optional" | "always";
  /** Sets the contents of the menu bar of this window. */
  setMenuBar(menuBar: MenuBar): void;
  /** Notifies the shell that the opening with this id was handled or dismissed. */
  openingDone(id: number): void;
  /** Returns the state of app updates, or `null` without a desktop shell. */
  updateReport(): Promise<UpdateReport | null>;
  /** Starts a check for a newer version. The result arrives as a shell event. */
  checkForUpdate(): Promise<void>;
  /** Downloads and installs this version, and restarts the app. This ends all servers. */
  installUpdate(version: string): Promise<void>;
  /** Cancels the download of an update. */
  stopUpdate(): Promise<void>;
  /** Notifies the shell that the first content was painted, to measure the startup time. */
  painted(): void;
  /** Notifies the shell that a consent request was rendered, to measure its latency. */
  consentDrawn(id: string): void;
  /** Returns the state of the sandbox of the page. */
  pageSandbox(): Promise<PageSandbox>;
  /** Requests that the next start of the app tries the sandbox again. */
  retryPageSandbox(): Promise<void>;
  /** Returns the URL of a document of a shown MCP App. Each app has a separate origin. */
  appUrl(view: string, path: string): string;
  /** Returns the origin of the documents of a shown MCP App, as events report it. */
  appOrigin(view: string): string;
  /**
   * Set if a frame fires `load` once for each of its documents. WebKitGTK also fires it for documents of nested frames,
   * such as an empty one. There, an app that navigates its own frame becomes blank.
   */
  readonly firesLoadOncePerDocument: boolean;
}
