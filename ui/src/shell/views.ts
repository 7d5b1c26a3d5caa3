// Maps views to components, which are loaded on first use.
import type { Component } from "svelte";

import type { Server } from "$lib/api/generated";
import type { ServerTab } from "$lib/state/route";

export type ComponentLoader<P extends Record<string, unknown>> = () => Promise<{
  default: Component<P>;
}>;
export type NoProps = Record<string, never>;

/** Props of a tab of the server page. `item` identifies the selected tool, prompt, resource or skill. */
export type TabProps = {
  server: Server;
  item?: string;
};

export const serverPage = () => import("../servers/ServerPage.svelte");
export const addServer = () => import("../servers/AddServer.svelte");

export const viewLoaders: {
  conversation?: ComponentLoader<{ id: string; item?: string }>;
  settings?: ComponentLoader<NoProps>;
  audit?: ComponentLoader<NoProps>;
  rules?: ComponentLoader<NoProps>;
  models?: ComponentLoader<NoProps>;
  tools?: ComponentLoader<NoProps>;
  import?: ComponentLoader<NoProps>;
  registry?: ComponentLoader<NoProps>;
  guide?: ComponentLoader<NoProps>;
} = {
  conversation: () => import("../conversation/ConversationView.svelte"),
  settings: () => import("../settings/SettingsView.svelte"),
  audit: () => import("../settings/AuditView.svelte"),
  rules: () => import("../settings/RulesView.svelte"),
  models: () => import("../models/ModelsView.svelte"),
  tools: () => import("../tools/AllTools.svelte"),
  import: () => import("../other-apps/ImportView.svelte"),
  registry: () => import("../installs/RegistryView.svelte"),
  guide: () => import("../guide/GuideView.svelte"),
};

export const serverTabs: Partial<Record<ServerTab, ComponentLoader<TabProps>>> = {
  overview: () => import("../servers/Overview.svelte"),
  tools: () => import("../tools/ToolsTab.svelte"),
  resources: () => import("../resources/ResourcesTab.svelte"),
  prompts: () => import("../prompts/PromptsTab.svelte"),
  skills: () => import("../skills/SkillsTab.svelte"),
  roots: () => import("../servers/Roots.svelte"),
  permissions: () => import("../servers/Permissions.svelte"),
  limits: () => import("../servers/Limits.svelte"),
  "sign-in": () => import("../sign-in/SignInTab.svelte"),
  activity: () => import("../activity/ActivityTab.svelte"),
  settings: () => import("../servers/Settings.svelte"),
};

/** Overlay with the consent dialog, which is rendered above every view. */
export const consentOverlay: ComponentLoader<NoProps> = () =>
  import("../consent/ConsentOverlay.svelte");

/** Pause between two preloads in milliseconds, so that user actions are not delayed. */
const PAUSE = 50;

/** Preloads the views that were not loaded yet, one after another. The consent overlay is first. */
export async function preload(): Promise<void> {
  const palette = () => import("./CommandPalette.svelte");
  const views = [
    serverPage,
    ...Object.values(serverTabs),
    ...Object.values(viewLoaders),
    addServer,
  ];
  const all: (() => Promise<unknown>)[] = [consentOverlay, palette, ...views];
  for (const load of all) {
    await load().catch(() => undefined);
    await new Promise((next) => setTimeout(next, PAUSE));
  }
}

/** Functions that open the consent queue or one of its requests. */
export {
  heldRequests,
  isConsentOpen,
  openApprovals,
  openConsentQueue,
  showConsent,
  showConsentOfCall,
  showConsentOfServer,
} from "../consent";
