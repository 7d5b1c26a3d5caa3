// Settings for the review of results before a model reads them.

import type { DataFlow, ResultReview } from "$lib/api/generated";

import { m } from "../paraglide/messages";

export function reviewOptions(): { value: ResultReview; label: string }[] {
  return [
    { value: "off", label: m.servers_flow_review_off() },
    { value: "suspicious", label: m.servers_flow_review_suspicious() },
    { value: "always", label: m.servers_flow_review_always() },
  ];
}

/** Returns the setting of a tool, or `null` if the setting of its server applies. */
export function toolReviewSetting(flow: DataFlow, tool: string): ResultReview | null {
  return Object.entries(flow.tools).find(([name]) => name === tool)?.[1] ?? null;
}

/** Returns a copy of the settings with another setting for one tool. `null` removes it. */
export function withToolReviewSetting(
  flow: DataFlow,
  tool: string,
  review: ResultReview | null,
): DataFlow {
  const others = Object.entries(flow.tools).filter(([name]) => name !== tool);
  const entry: [string, ResultReview][] = review === null ? [] : [[tool, review]];
  return { ...flow, tools: Object.fromEntries([...others, ...entry]) };
}
