// Size of a message before it is written as JSON.

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
    if (typeof next === "string") length += next.length + 2;
    else if (Array.isArray(next)) {
      length += next.length + 1;
      if (length > limit) return true;
      for (const element of next as unknown[]) waiting.push(element);
    } else if (ArrayBuffer.isView(next)) length += next.byteLength;
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

export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
