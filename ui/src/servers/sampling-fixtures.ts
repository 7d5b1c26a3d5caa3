// Fixtures for the sampling settings of a server.

import type { SamplingReport, SamplingSettings } from "$lib/api/generated";

const NONE = { requests: null, tokens: null, micros: null };

export function samplingReport(
  settings: Partial<SamplingSettings> = {},
  changes: Partial<SamplingReport> = {},
): SamplingReport {
  return {
    settings: {
      isEnabled: false,
      tools: true,
      maxTokens: 4_096,
      model: null,
      perHour: { ...NONE, requests: 60, tokens: 200_000 },
      total: NONE,
      ...settings,
    },
    lastHour: { requests: 0, tokens: 0, micros: 0 },
    total: { requests: 0, tokens: 0, micros: 0 },
    reachedLimit: null,
    outdated: false,
    ...changes,
  };
}
