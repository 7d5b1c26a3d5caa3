// Large pictures, sounds, files and texts come only for what is drawn: a body is read without them, and they are put into their places.
import type { OmittedContent } from "$lib/api/generated";

/** What stands at its place, of its bytes in base64. */
export function decodeOmitted({ isText }: OmittedContent, data: string): string {
  if (!isText) return data;
  return new TextDecoder().decode(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)));
}

/** A copy of `body` with this text at a place (a JSON Pointer, RFC 6901); the same body where there is no such place. */
export function setAtPointer<T>(body: T, pointer: string, text: string): T {
  const [, ...path] = pointer
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return setAtPath(body, path, text) as T;
}

function setAtPath(value: unknown, [name, ...rest]: string[], text: string): unknown {
  if (name === undefined) return text;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return value;
  if (Array.isArray(value))
    return value.with(Number(name), setAtPath(value[Number(name)], rest, text));
  const members = value as Record<string, unknown>;
  return { ...members, [name]: setAtPath(members[name], rest, text) };
}
