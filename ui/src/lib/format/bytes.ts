// Formats sizes: 2.1 kB.
const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Formats a size in decimal units with at most one fraction digit. */
export function formatBytes(bytes: number, languageTag: string): string {
  let value = bytes;
  let unit = 0;
  while (Math.round(value * 10) / 10 >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const number = new Intl.NumberFormat(languageTag, {
    maximumFractionDigits: unit === 0 || value >= 100 ? 0 : 1,
  });
  return `${number.format(value)} ${UNITS[unit]}`;
}

/** Formats the exact number of bytes, used as the tooltip of a rounded size. */
export function formatExactBytes(bytes: number, languageTag: string): string {
  return `${new Intl.NumberFormat(languageTag).format(bytes)} B`;
}
