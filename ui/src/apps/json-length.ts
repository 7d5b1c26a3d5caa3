// Size of a message before it is written as JSON.

/** Minimum length of the text of an element of a typed array, such as `"0":0,`. */
const MIN_ELEMENT_LENGTH = 6;

/**
 * Returns `true` if the JSON text of a value is longer than `limit` UTF-16 code units. Stops at the limit, which a small
 * value can exceed far: by a part that it contains many times, in a cycle, or by an array without elements. Returns
 * `false` for some longer texts, since escapes are not counted.
 */
export function exceedsJsonLength(value: unknown, limit: number): boolean {
  const waiting = [value];
  let length = 0;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string" || next instanceof String) length += next.length + 2;
    else if (Array.isArray(next)) {
      length += next.length + 1;
      if (length > limit) return true;
      for (const element of next as unknown[]) waiting.push(element);
    } else if (ArrayBuffer.isView(next)) length += 1 + elementCount(next) * MIN_ELEMENT_LENGTH;
    else if (isPlainObject(next)) {
      length += 2;
      for (const [key, member] of Object.entries(next)) {
        if (member === undefined) continue;
        length += key.length + 3;
        waiting.push(member);
      }
    } else length += 1;
    if (length > limit) return true;
  }
  return false;
}

/** Returns the number of elements that JSON contains of a view of bytes. It contains none of a `DataView`. */
function elementCount(view: ArrayBufferView): number {
  return "length" in view && typeof view.length === "number" ? view.length : 0;
}

export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
