// Fake host for tests: responds to commands from a table, records them, and sends events on request.
import type {
  Commands,
  Conversation,
  Event,
  Events,
  CatalogExpiry,
  ReviewMarks,
  Server,
  ServerState,
  Snapshot,
  StartRefusal,
} from "$lib/api/generated";
import {
  setPlatform,
  type DesktopReport,
  type MenuBar,
  type PageSandbox,
  type Platform,
  type ShellEvent,
  type UpdateReport,
  type WindowProblem,
} from "$lib/platform";
import { app } from "$lib/state/app.svelte";

type Answers = {
  [K in keyof Commands]?: (
    request: Commands[K]["request"],
  ) => Commands[K]["response"] | Promise<Commands[K]["response"]>;
};

export interface RecordedRequest {
  name: keyof Commands;
  request: unknown;
}

const NO_LIMITS = { requests: null, tokens: null, micros: null };
const NO_USAGE = { requests: 0, tokens: 0, micros: 0 };

/** Default responses, for a host without servers, models or other data. */
const NOTHING_SET_UP: Answers = {
  read_conversation: ({ conversation }) => sampleConversation({ id: conversation }),
  list_reviewed_definitions: ({ server }) => ({
    ...{ server, identity: [], identitySince: null, issuer: null },
    ...{ tools: [], prompts: [], apps: [] },
  }),
  read_catalog: ({ server }) => ({
    ...{ server, tools: [], prompts: [], resources: [], templates: [], notes: [] },
    freshUntil: NO_EXPIRY,
  }),
  read_sampling: () => ({
    settings: {
      ...{ isEnabled: false, tools: true, maxTokens: 4_096, model: null },
      ...{ perHour: NO_LIMITS, total: NO_LIMITS },
    },
    ...{ lastHour: NO_USAGE, total: NO_USAGE, reachedLimit: null, outdated: false },
  }),
  list_models: () => ({ providers: [], default: null, found: [], presets: [] }),
  list_newer_versions: () => ({ servers: [] }),
  read_registry_setting: () => ({
    ...{ address: "https://registry.modelcontextprotocol.io", official: true },
    ...{ named: false, header: null },
  }),
  list_unseen_projects: () => ({ projects: [] }),
  read_secrets_status: () => ({ is: "keychain" }),
  read_content_protection: () => ({
    conversations: { is: "encrypted" },
    decisions: { is: "encrypted" },
  }),
  dry_run: () => ({
    ...{ effect: "ask", reason: "tools-ask", by: { kind: "preset" }, scopes: ["once"] },
    ...{ considered: [], assumedUnchanged: false, reviewState: null, isToolTurnedOff: false },
  }),
  list_system_prompts: () => ({ prompts: [] }),
  search_history: () => ({ found: [], hasMore: false }),
  read_conversation_cost: () => ({
    usage: { input: null, output: null, cachedInput: null, thinking: null },
    ...{ costs: [], unpriced: 0, contextUsed: null, context: null },
  }),
};

export class FakeHost implements Platform {
  /** All received commands except `read_snapshot`. */
  commands: RecordedRequest[] = [];
  snapshot: Snapshot;
  painted = () => undefined;
  /** Ids of the consent requests that the page reported as rendered. */
  drawn: string[] = [];
  sandbox: PageSandbox = { is: "native" };
  sandboxRetries = 0;
  /** Sends an event of the desktop shell to the page. */
  shell: (event: ShellEvent) => void = () => undefined;
  /** Number of times that the page reported that the dialog about closing the window is visible. */
  closingsShown = 0;
  /** State of the desktop integration, or `null` for a browser. */
  desktop: DesktopReport | null = null;
  /** Values that the page set the start at login to. */
  loginStarts: boolean[] = [];
  /** Values that the page set the link handler to. */
  linkHandlers: boolean[] = [];
  /** Ids of the openings that were reported as done. */
  openingsDone: number[] = [];
  /** State of app updates, or `null` for a browser. */
  updates: UpdateReport | null = null;
  /** Names of the updater functions that the page called. */
  updateSteps: string[] = [];
  readonly zooms = true;
  /** Zoom values that the page set, in percent. */
  zoomValues: number[] = [];
  readonly hasConversationWindows = true;
  /** Conversations that the shell first lists as open in other windows, or `null` if the list is on its way. */
  otherWindows: string[] | null = [];
  /** Conversations whose windows the page opened or brought to the front. */
  openedWindows: string[] = [];
  /** Reason why no window can be opened, or `null` if one can. */
  windowProblem: WindowProblem | null = null;
  /** Consent requests that the page showed in other windows. */
  shownElsewhere: string[] = [];
  /** Number of times that the page closed its window. */
  closedWindows = 0;
  /** Views that the page opened in the main window. */
  mainViews: (string | null)[] = [];
  /** Ids of the reports of stopped apps that the page dismissed. */
  dismissedReports: number[] = [];
  /** Servers whose apps the page showed again. */
  releasedServers: string[] = [];
  menuBar: Platform["menuBar"] = "optional";
  /** Contents that the page set for the menu bar, the newest last. */
  menuBars: MenuBar[] = [];
  /** The user's decisions about closing the window. */
  closings: string[] = [];
  #receive: (events: Events) => void = () => undefined;
  #lost: () => void = () => undefined;
  #next = 1;

  constructor(
    public answers: Answers = {},
    snapshot: Partial<Snapshot> = {},
  ) {
    this.snapshot = sampleSnapshot(snapshot);
    this.snapshot.nextEvent = this.#next;
  }

  async call(name: string, request: unknown): Promise<unknown> {
    if (name === "read_snapshot") return structuredClone(this.snapshot);
    this.commands.push({ name: name as keyof Commands, request });
    const answers = { ...NOTHING_SET_UP, ...this.answers };
    const answer = answers[name as keyof Commands] as ((r: unknown) => unknown) | undefined;
    return answer ? await answer(request) : {};
  }

  listen(receive: (events: Events) => void, lost: () => void): Promise<void> {
    this.#receive = receive;
    this.#lost = lost;
    return Promise.resolve();
  }

  consentDrawn(id: string): void {
    this.drawn.push(id);
  }

  pageSandbox(): Promise<PageSandbox> {
    return Promise.resolve(this.sandbox);
  }

  retryPageSandbox(): Promise<void> {
    this.sandboxRetries += 1;
    return Promise.resolve();
  }

  readonly firesLoadOncePerDocument = true;

  appUrl(view: string, path: string): string {
    return `${this.appOrigin(view)}/${path}`;
  }

  appOrigin(view: string): string {
    return `drawbridge-app://${view}`;
  }

  listenShell(receive: (event: ShellEvent) => void): Promise<void> {
    this.shell = receive;
    if (this.otherWindows !== null)
      receive({ type: "conversation_windows_changed", conversations: this.otherWindows });
    return Promise.resolve();
  }

  closingShown(): void {
    this.closingsShown += 1;
  }

  finishClosing(choice: string): Promise<void> {
    this.closings.push(choice);
    return Promise.resolve();
  }

  desktopReport(): Promise<DesktopReport | null> {
    return Promise.resolve(structuredClone(this.desktop));
  }

  setLoginStart(on: boolean): Promise<void> {
    this.loginStarts.push(on);
    return Promise.resolve();
  }

  setLinkHandler(on: boolean): Promise<void> {
    this.linkHandlers.push(on);
    return Promise.resolve();
  }

  openingDone(id: number): void {
    this.openingsDone.push(id);
  }

  setZoom(percent: number): void {
    this.zoomValues.push(percent);
  }

  openConversationWindow(conversation: string): Promise<void> {
    // The shell's errors are plain objects.
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    if (this.windowProblem !== null) return Promise.reject(this.windowProblem);
    this.openedWindows.push(conversation);
    return Promise.resolve();
  }

  closeWindow(): void {
    this.closedWindows += 1;
  }

  showRequestElsewhere(id: string): Promise<void> {
    this.shownElsewhere.push(id);
    return Promise.resolve();
  }

  showMainWindow(hash: string | null): void {
    this.mainViews.push(hash);
  }

  dismissStoppedApps(report: number): void {
    this.dismissedReports.push(report);
  }

  releaseStoppedApps(server: string): void {
    this.releasedServers.push(server);
  }

  setMenuBar(menuBar: MenuBar): void {
    this.menuBars.push(menuBar);
  }

  updateReport(): Promise<UpdateReport | null> {
    return Promise.resolve(structuredClone(this.updates));
  }

  checkForUpdate(): Promise<void> {
    this.updateSteps.push("check");
    return Promise.resolve();
  }

  installUpdate(version: string): Promise<void> {
    this.updateSteps.push(`install ${version}`);
    return Promise.resolve();
  }

  stopUpdate(): Promise<void> {
    this.updateSteps.push("stop");
    return Promise.resolve();
  }

  /** Sends events to the page. Their numbers follow those of all earlier events. */
  send(...events: Event[]): void {
    const first = this.#next;
    this.#next += events.length;
    this.snapshot.nextEvent = this.#next;
    this.#receive({ first, events });
  }

  /** Drops this number of events, so that the page observes a gap. */
  skip(count: number): void {
    this.#next += count;
    this.snapshot.nextEvent = this.#next;
  }

  /** Simulates a lost and restored connection. */
  reconnect(): void {
    this.#lost();
  }

  /** Returns the received requests of one command. */
  requests<K extends keyof Commands>(name: K): Commands[K]["request"][] {
    return this.commands
      .filter((one) => one.name === name)
      .map((one) => one.request as Commands[K]["request"]);
  }
}

/** Installs a fake host and loads its snapshot into the state of the page. */
export async function startFakeHost(
  answers: Answers = {},
  snapshot: Partial<Snapshot> = {},
): Promise<FakeHost> {
  const host = new FakeHost(answers, snapshot);
  setPlatform(host);
  await app.start();
  return host;
}

/** Default fields of a reviewed definition. */
export const REVIEWED_DEFINITION: { others: null; hash: string; marks: ReviewMarks } = {
  others: null,
  hash: "h1",
  marks: { review: "reviewed", outdated: false, diff: null, lookAlikes: [], flags: [] },
};

/** Freshness of a list whose server does not specify any. */
export const NO_EXPIRY: CatalogExpiry = {
  tools: null,
  prompts: null,
  resources: null,
  templates: null,
};

export function sampleSnapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    nextEvent: 1,
    servers: [],
    consentRequests: [],
    calls: [],
    conversations: [],
    settings: {
      ...{ theme: "light", language: "en", welcomeDone: true, announce: true },
      ...{ auditDays: 0, auditMegabytes: 1000, auditContents: true, onClose: "ask" },
      ...{ checkUpdates: false, zoom: 100, menuBar: false },
    },
    configProblem: null,
    paths: {
      config: "/home/ann/.config/drawbridge/mcp.json",
      data: "/home/ann/.local/share/drawbridge",
      audit: "/home/ann/.local/share/drawbridge/audit.db",
    },
    version: "0.1.0",
    ...changes,
  };
}

/** Creates an empty conversation. */
export function sampleConversation(changes: Partial<Conversation> = {}): Conversation {
  return {
    ...{ id: "c1", title: "Trip plan", updatedAt: 1, items: [], sources: [] },
    settings: { model: null, systemPrompt: "", servers: [], shareRoots: false, thinking: false },
    ...{ answering: false, hasMore: false, draft: "" },
    ...changes,
  };
}

/** State of a server whose start was refused. */
export function refusedStart(refusal: StartRefusal): ServerState {
  return {
    ...{ is: "failed", reason: "refused", message: "its start was not approved", refusal },
    ...{ stderr: [], searchedFolders: [], hint: null },
  };
}

export function sampleServer(changes: Partial<Server> = {}): Server {
  return {
    name: "files",
    config: {
      ...{ type: "stdio", command: "npx", args: ["-y", "server-filesystem", "/home/ann"] },
      ...{ env: {}, cwd: null, revision: null },
    },
    commandLine: "npx -y server-filesystem /home/ann",
    url: null,
    transport: "stdio",
    state: { is: "ready" },
    since: Date.now() - 60_000,
    approved: true,
    revision: "2025-11-25",
    detection: "initialize",
    claims: {
      name: "secure-filesystem",
      title: null,
      version: "1.2.3",
      description: null,
      websiteUrl: null,
    },
    capabilities: ["tools"],
    instructions: null,
    counts: { tools: 3, prompts: 0, resources: 0, templates: 0 },
    roots: { decided: false, folders: [], sentFolders: [] },
    subscriptions: [],
    subscriptionsLost: null,
    logLevel: null,
    muted: false,
    marks: { review: null, outdated: false, diff: null, lookAlikes: [], flags: [] },
    mutedUntil: null,
    refusedConsentRequests: 0,
    trust: "no",
    flow: { sameServer: "open_world", review: "suspicious", tools: {} },
    pid: 4711,
    ...changes,
  };
}
