// Texts for the state and progress of a run.

import type { CallProgress, TaskStatus } from "$lib/api/generated";

import { m } from "../paraglide/messages";

import type { RunState } from "./tool-run.svelte";

/** Returns the translated state of a tool call that the page has started. */
export function runStateText(state: RunState): string {
  const texts: Record<RunState, () => string> = {
    starting: m.tools_state_starting,
    awaiting_approval: m.tools_state_awaiting_approval,
    running: m.tools_state_running,
    awaiting_input: m.tools_state_awaiting_input,
    done: m.tools_state_done,
    tool_error: m.tools_state_tool_error,
    refused: m.tools_state_refused,
    cancelled: m.tools_state_cancelled,
    timeout: m.tools_state_timeout,
    failed: m.tools_state_failed,
  };
  return texts[state]();
}

/** Returns the translated status of an MCP task. */
export function taskStatusText(status: TaskStatus): string {
  const texts: Record<TaskStatus, () => string> = {
    working: m.tools_task_working,
    input_required: m.tools_task_input_required,
    completed: m.tools_task_completed,
    failed: m.tools_task_failed,
    cancelled: m.tools_task_cancelled,
  };
  return texts[status]();
}

/** Progress of a call as it is displayed. */
export interface DisplayedProgress {
  /** Fraction from 0 to 1, or `null` if the total is unknown. */
  part: number | null;
  text: string;
  message: string | null;
}

/**
 * Returns the progress to display. The numbers of the server may be invalid: a total that is not positive is ignored,
 * and the fraction is clamped.
 */
export function displayedProgress(progress: CallProgress | null): DisplayedProgress | null {
  if (progress === null) return null;
  const { progress: done, total, message } = progress;
  if (total === null || !(total > 0)) return { part: null, text: String(done), message };
  const part = Math.min(1, Math.max(0, done / total));
  return { part, text: `${Math.round(part * 100)}%`, message };
}
