// Parses JSON written by users, with the position of errors in every browser engine.

export type ParsedJson = { ok: true; value: unknown } | { ok: false; line: number; column: number };

/** Returns `true` if JSON parsing may have rounded the number. A double represents integers exactly only up to 2^53. */
export function isPossiblyRounded(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** Returns `true` if a JSON value contains a number that may have been rounded. */
export function hasPossiblyRounded(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return isPossiblyRounded(value);
  return Object.values(value).some(hasPossiblyRounded);
}

/** Returns a value as JSON text with sorted keys. */
export function jsonWithSortedKeys(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Formats a JSON value for display. Numbers that may have been rounded are prefixed with `≈`. */
export function displayedJson(value: unknown): string {
  const marked = (number: unknown) => `≈ ${String(number)}`;
  if (isPossiblyRounded(value)) return marked(value);
  return (
    JSON.stringify(
      value,
      (_, inner: unknown) => (isPossiblyRounded(inner) ? marked(inner) : inner),
      2,
    ) ?? ""
  );
}

const JSON_WHITESPACE = /[ \t\r\n]*/y;
const JSON_TOKEN =
  // eslint-disable-next-line no-control-regex
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;

/** Parses JSON. A syntax error is returned with its line and column, counted from 1. */
export function parseJson(text: string): ParsedJson {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, ...lineAndColumn(text, mistakePosition(text)) };
  }
}

/** Returns the offset of the first token that violates the grammar. */
function mistakePosition(text: string): number {
  const open: string[] = [];
  let expect: "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "after" | "nothing" =
    "value";
  let at = 0;
  for (;;) {
    JSON_WHITESPACE.lastIndex = at;
    const start = at + (JSON_WHITESPACE.exec(text)?.[0].length ?? 0);
    JSON_TOKEN.lastIndex = at;
    const token = JSON_TOKEN.exec(text);
    if (!token) return start;
    const [, mark, string] = token;
    const scalar = mark === undefined;
    const done = () => (open.length === 0 ? "nothing" : "after");
    if (expect === "nothing") return start;
    if (expect === "colon") {
      if (mark !== ":") return start;
      expect = "value";
    } else if (expect === "after") {
      const close = open.at(-1) === "{" ? "}" : "]";
      if (mark === ",") expect = close === "}" ? "key" : "value";
      else if (mark === close) {
        open.pop();
        expect = done();
      } else return start;
    } else if (expect === "key" || expect === "key-or-end") {
      if (string !== undefined) expect = "colon";
      else if (mark === "}" && expect === "key-or-end") {
        open.pop();
        expect = done();
      } else return start;
    } else if (mark === "]" && expect === "value-or-end") {
      open.pop();
      expect = done();
    } else if (mark === "{" || mark === "[") {
      open.push(mark);
      expect = mark === "{" ? "key-or-end" : "value-or-end";
    } else if (scalar) {
      expect = done();
    } else {
      return start;
    }
    at = JSON_TOKEN.lastIndex;
  }
}

function lineAndColumn(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}
