// Setup of a host with one scripted server.
import { join } from "node:path";

import { SCRIPT, type Setup } from "./dev-host";

export interface Scenario {
  instructions?: string;
  tools: { name: string; description?: string; inputSchema: object; [more: string]: unknown }[];
  /**
   * Behavior of calls by tool: requests to the user, each with a number of repetitions, and the content of the result.
   */
  calls?: Record<
    string,
    { requests?: { method: string; params: unknown }[]; count?: number; content?: unknown[]; stderr?: string }
  >;
}

/** Definition of a tool that accepts arbitrary arguments. */
export const TOOL = { name: "say", description: "Says it.", inputSchema: { type: "object" } };

export function scenarioSetup(scenario: Partial<Scenario>, servers: Setup["servers"] = {}): Setup {
  const harbour = { command: process.execPath, args: [join(__dirname, "scenario-server.mjs"), SCRIPT] };
  const script = { tools: [TOOL], ...scenario };
  return { servers: { harbour, ...servers }, script, running: ["harbour"], theme: "light", language: "en" };
}

export const text = (words: string) => ({ type: "text", text: words });
