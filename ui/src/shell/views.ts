// Which component draws which view. Each is loaded when it is first shown; its author adds its line here.
import type { Component } from "svelte";

import type { Server } from "$lib/api/generated";
import type { ServerTab, View } from "$lib/state/route";

type Load<P extends Record<string, unknown>> = () => Promise<{ default: Component<P> }>;

/** What a tab of a server's page gets. `item` is what should be in front: a tool, a prompt, a resource. */
export interface TabProps extends Record<string, unknown> {
  server: Server;
  item?: string;
}

export const pages: {
  conversation?: Load<{ id: string }>;
  settings?: Load<Record<string, never>>;
  audit?: Load<Record<string, never>>;
  rules?: Load<Record<string, never>>;
  tools?: Load<Record<string, never>>;
} = {};

export const serverTabs: Partial<Record<ServerTab, Load<TabProps>>> = {};

/** Drawn over every view, from the start on: the questions. */
export const layers: Load<Record<string, never>>[] = [];

/** Opens the queue of questions. */
export let openQueue: () => void = () => undefined;

/** Puts the queue's own way to open it in place. */
export function setOpenQueue(open: () => void): void {
  openQueue = open;
}

export type PageName = keyof typeof pages;
export type { View };
