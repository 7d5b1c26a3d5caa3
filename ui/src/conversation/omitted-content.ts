// Inserts omitted content. Items are read without large pictures, sounds, files and texts, which are loaded once the
// item is rendered.
import type { OmittedContent } from "$lib/api/generated";

/** Decodes omitted content from base64: to text, or unchanged if it is binary. */
export function decodeOmitted({ isText }: OmittedContent, data: string): string {
  if (!isText) return data;
  return new TextDecoder().decode(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)));
}

/**
 * Returns a copy of `body` with this text at a JSON Pointer (RFC 6901), or `body` itself if the pointer matches
 * nothing.
 */
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
