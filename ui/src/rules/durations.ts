// Selectable durations of rules and approvals.

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const MONTH = 30 * DAY;

/** Lengths of the temporary durations, in milliseconds. */
export const DURATIONS = { hour: HOUR, day: DAY, month: MONTH };
export type TemporaryDuration = keyof typeof DURATIONS;
