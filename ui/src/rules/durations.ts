// For how long a rule or an approval holds, as it can be chosen.

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const MONTH = 30 * DAY;

/** How long each choice that ends lasts, in milliseconds. */
export const ENDS = { hour: HOUR, day: DAY, month: MONTH };
export type Ends = keyof typeof ENDS;
