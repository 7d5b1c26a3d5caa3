// Formats times: "3 minutes ago", "1.2 s".
const RELATIVE_TIME_UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];
const WEEK_MS = 7 * 86_400_000;

/** Formats the time since `at`, or its date if that is more than a week ago. Times are in milliseconds since 1970. */
export function formatRelative(at: number, now: number, languageTag: string): string {
  const distance = at - now;
  if (Math.abs(distance) >= WEEK_MS) {
    return new Intl.DateTimeFormat(languageTag, { dateStyle: "medium" }).format(at);
  }
  const relative = new Intl.RelativeTimeFormat(languageTag, { numeric: "auto", style: "long" });
  for (const [unit, size] of RELATIVE_TIME_UNITS) {
    if (Math.abs(distance) >= size) return relative.format(Math.trunc(distance / size), unit);
  }
  return relative.format(0, "second");
}

/** Formats the date and time, with seconds. */
export function formatExact(at: number, languageTag: string): string {
  return new Intl.DateTimeFormat(languageTag, { dateStyle: "medium", timeStyle: "medium" }).format(
    at,
  );
}

/** Formats the time of day with minutes. */
export function formatTime(at: number, languageTag: string): string {
  return new Intl.DateTimeFormat(languageTag, { timeStyle: "short" }).format(at);
}

/** Formats the time of day with milliseconds, for lists in which the order matters. */
export function formatClock(at: number, languageTag: string): string {
  return new Intl.DateTimeFormat(languageTag, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    hourCycle: "h23",
  }).format(at);
}

/** Formats a duration in milliseconds, such as `0.4 ms`, `320 ms`, `1.2 s` or `3 min 5 s`. */
export function formatDuration(ms: number, languageTag: string): string {
  const number = (value: number, digits: number) =>
    new Intl.NumberFormat(languageTag, { maximumFractionDigits: digits }).format(value);
  if (ms < 10) return `${number(ms, 1)} ms`;
  if (ms < 999.5) return `${number(ms, 0)} ms`;
  if (ms < 59_950) return `${number(ms / 1000, 1)} s`;
  const seconds = Math.round(ms / 1000);
  const rest = seconds % 60;
  const minutes = `${number(Math.floor(seconds / 60), 0)} min`;
  return rest === 0 ? minutes : `${minutes} ${rest} s`;
}
