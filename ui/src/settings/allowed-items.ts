// Items of two lists: permissions that apply without a consent request, and other decisions about servers. Each has
// labels, its validity and last use, and the commands that revoke and restore it. Used by `allowed.svelte.ts`.

import { call } from "$lib/api/client";
import type {
  ApprovedApp,
  FolderUse,
  Grant,
  LastUse,
  Rule,
  RuleUse,
  SamplingReport,
  SamplingSettings,
  Server,
} from "$lib/api/generated";
import { formatExact } from "$lib/format/times";
import { languageTag } from "$lib/state/locale.svelte";

import { m } from "../paraglide/messages";
import { ruleSubjectLabel, conditionLabels, shortName } from "../rules/rule-labels";
import { grantLabel } from "./grant-labels";

/** Order of the items of one server. */
const KINDS = ["start", "tool", "app", "folders", "models", "rule"] as const;
export type AllowedKind = (typeof KINDS)[number];

/** Commands that revoke a permission and undo the revocation. `restore` is `null` if it can't be undone. */
export interface Revocation {
  revoke: () => Promise<unknown>;
  restore: (() => Promise<unknown>) | null;
}

export interface AllowedItem {
  /** Unique key of the permission, which does not change when other properties of the permission change. */
  key: string;
  kind: AllowedKind;
  /** Name of the server, or the server pattern of a rule. */
  server: string;
  what: string;
  /** Paths of the shared folders. Empty for other kinds. */
  paths: readonly string[];
  until: string;
  /** Time at which the permission expires in milliseconds since 1970, or `null` if it does not expire. */
  expiresAt: number | null;
  since: number | null;
  /** Last use of the permission, or `null` if none is known. */
  lastUse: LastUse | null;
  /**
   * Set if the permission allows something without a consent request. Otherwise the item only records another decision
   * of the user about the server.
   */
  isAllowed: boolean;
  /** Set if the uses of the permission are recorded. */
  hasUses: boolean;
  /** Set if the item allows the start of a server that is running with exactly the allowed command or address. */
  isInUse: boolean;
  /** Hash of the definition, command or URL that a grant is bound to. `null` for other kinds of permissions. */
  hash: string | null;
  /** Text about the consequence of a revocation. */
  afterwards: string;
  /** Commands to revoke the permission, or `null` if it can't be revoked in this view. */
  revocation: Revocation | null;
}

/**
 * Actions that the items need from the stores: revoke and restore a grant, revoke the approval of an app page, and
 * report changes of rules and sampling settings.
 */
export interface AllowedActions {
  revokeGrant: (grant: Grant) => Promise<unknown>;
  restoreGrant: (grant: Grant) => Promise<unknown>;
  revokeApp: (server: string, uri: string) => Promise<unknown>;
  changeRules: (act: () => Promise<unknown>) => Promise<unknown>;
  setSampling: (server: string, settings: SamplingSettings) => Promise<unknown>;
}

/** Returns the item of a grant. `server` is its server, unless that was removed. */
export function grantItem(
  grant: Grant,
  server: Server | undefined,
  actions: AllowedActions,
): AllowedItem {
  const { what, afterwards } = grantLabel(grant, server?.config.type === "http");
  const scopes = {
    once: m.settings_allowed_until_revoked,
    always: m.settings_allowed_until_revoked,
    session: m.rules_session,
    conversation: m.settings_allowed_until_conversation,
  };
  return {
    key: `grant ${grant.id}`,
    kind: grant.tool === null ? "start" : "tool",
    server: grant.server,
    ...{ what, paths: [], afterwards },
    until: grant.expiresAt === null ? scopes[grant.scope]() : untilTime(grant.expiresAt),
    expiresAt: grant.expiresAt,
    since: grant.since,
    lastUse: grant.lastUse ?? null,
    ...{ hasUses: true, isAllowed: true },
    isInUse:
      grant.tool === null &&
      server?.state.is === "ready" &&
      server.launchedHash === grant.boundHash,
    hash: grant.boundHash,
    revocation: {
      revoke: () => actions.revokeGrant(grant),
      restore: () => actions.restoreGrant(grant),
    },
  };
}

/** Returns the item of an approved app page. */
export function appItem(server: string, app: ApprovedApp, actions: AllowedActions): AllowedItem {
  const { uri, hash, since } = app;
  return {
    // A later approval is another permission.
    key: `app ${JSON.stringify([server, uri, hash, since])}`,
    kind: "app",
    server,
    ...{ what: m.settings_allowed_app({ uri: shortName(uri) }), paths: [], hash, since },
    ...{ until: m.settings_allowed_until_revoked(), expiresAt: null },
    ...{ lastUse: null, hasUses: false, isInUse: false, isAllowed: true },
    afterwards: m.settings_allowed_app_revoked(),
    // An approval covers a page that the user saw, so it is given again where the app is shown.
    revocation: { revoke: () => actions.revokeApp(server, uri), restore: null },
  };
}

/** Returns the item of a server's folders, or `null` if the user has not decided about them. */
export function foldersItem({ name, roots }: Server, uses: FolderUse[]): AllowedItem | null {
  if (!roots.decided) return null;
  const folders = [...roots.folders];
  const set = (shared: string[]) => call("set_roots", { server: name, folders: shared });
  return {
    key: `folders ${name}`,
    kind: "folders",
    server: name,
    what: folders.length > 0 ? m.settings_shares_folders() : m.settings_shares_no_folders(),
    paths: folders,
    ...{ until: m.settings_allowed_until_revoked(), expiresAt: null, since: null, hash: null },
    lastUse: uses.find(({ server }) => server === name)?.lastUse ?? null,
    ...{ hasUses: true, isInUse: false, isAllowed: folders.length > 0 },
    afterwards: m.settings_shares_taken({ server: shortName(name) }),
    revocation: folders.length > 0 ? { revoke: () => set([]), restore: () => set(folders) } : null,
  };
}

/** Returns the item of a server that may send sampling requests, or `null` if it may not. */
export function samplingItem(
  server: string,
  report: SamplingReport | undefined,
  actions: AllowedActions,
): AllowedItem | null {
  if (!report?.settings.isEnabled) return null;
  const { settings, lastUse = null } = report;
  return {
    key: `models ${server}`,
    kind: "models",
    server,
    ...{ what: m.settings_shares_models(), paths: [], hash: null, since: null, expiresAt: null },
    until: m.settings_allowed_until_revoked(),
    ...{ lastUse, hasUses: true, isInUse: false, isAllowed: false },
    afterwards: m.settings_shares_taken({ server: shortName(server) }),
    revocation: {
      revoke: () => actions.setSampling(server, { ...settings, isEnabled: false }),
      restore: () => actions.setSampling(server, settings),
    },
  };
}

/** Returns the key of a rule with its content, because the id of a removed rule can be given to another one. */
export function ruleKey(rule: Rule): string {
  return `rule ${rule.source} ${rule.id} ${JSON.stringify(rule)}`;
}

/** Returns the item of a rule, or `null` if it does not allow anything. */
export function ruleItem(rule: Rule, uses: RuleUse[], actions: AllowedActions): AllowedItem | null {
  if (rule.effect !== "allow") return null;
  const { source, id } = rule;
  const used = uses.find((use) => use.rule.source === source && use.rule.id === id);
  const lasting = source === "session" ? m.rules_session : m.settings_allowed_until_revoked;
  return {
    key: ruleKey(rule),
    kind: "rule",
    server: rule.server,
    what: m.settings_allowed_rule({
      rule: [ruleSubjectLabel(rule), ...conditionLabels(rule)].join(", "),
    }),
    paths: [],
    until: rule.expiresAt === null ? lasting() : untilTime(rule.expiresAt),
    ...{ expiresAt: rule.expiresAt, since: null, hash: null },
    lastUse: used?.lastUse ?? null,
    ...{ hasUses: true, isInUse: false, isAllowed: true },
    afterwards: m.rules_removed(),
    revocation:
      source === "managed"
        ? null
        : {
            revoke: () => actions.changeRules(() => call("remove_policy_rule", { source, id })),
            restore: () => actions.changeRules(() => call("restore_policy_rule", rule)),
          },
  };
}

/** Orders items by server, and those of a server by kind, so that no item moves when another one is revoked. */
export function compareItems(a: AllowedItem, b: AllowedItem): number {
  return (
    a.server.localeCompare(b.server) ||
    KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
    (a.since ?? 0) - (b.since ?? 0) ||
    a.key.localeCompare(b.key)
  );
}

/** Returns `true` if the server, the subject or a path of an item contains the text. */
export function matchesSearch({ server, what, paths }: AllowedItem, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [server, what, ...paths].some((part) => part.toLowerCase().includes(wanted));
}

export function usedByLabel({ by }: LastUse): string {
  return {
    user: m.settings_allowed_by_user,
    model: m.settings_allowed_by_model,
    app: m.settings_allowed_by_app,
    command_line: m.settings_allowed_by_command_line,
    host: m.settings_allowed_by_host,
    server: m.settings_allowed_by_server,
  }[by]();
}

function untilTime(at: number): string {
  return m.rules_until({ time: formatExact(at, languageTag()) });
}
