// Selectable durations of rules and approvals.

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const MONTH_MS = 30 * DAY_MS;

/** Lengths of the temporary durations, in milliseconds. */
export const DURATIONS_MS = { hour: HOUR_MS, day: DAY_MS, month: MONTH_MS };
export type TemporaryDuration = keyof typeof DURATIONS_MS;
