// Messages of a sampling request that depend on each other: a tool use and its result.

import type { Content, JsonValue, Message } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";

import { m } from "../paraglide/messages";
import { displayName } from "./consent-labels";

/**
 * Returns the indexes of the messages that have to be removed together with the message at `index`, in ascending order
 * and including `index`. A tool use and its result must not be separated.
 */
export function linkedMessages(messages: readonly Message[], index: number): number[] {
  const ids = messages.map(({ content }) => content.flatMap(toolIds));
  const tied = new Set([index]);
  // The set grows while it is iterated.
  for (const one of tied)
    ids.forEach((other, i) => {
      if (other.some((id) => ids[one]?.includes(id))) tied.add(i);
    });
  return [...tied].sort((a, b) => a - b);
}

/** Returns an array with the tool use id of a `tool_use` or `tool_result` block. Empty for all other blocks. */
function toolIds(content: Content): string[] {
  const members = membersOf(content);
  const id =
    members?.type === "tool_use"
      ? members.id
      : members?.type === "tool_result"
        ? members.toolUseId
        : undefined;
  return typeof id === "string" ? [id] : [];
}

function membersOf(content: Content): Record<string, JsonValue> | null {
  if (content.type !== "unknown") return null;
  const { json } = content;
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json : null;
}

/** Returns the translated name of a content block's kind, such as text or image. */
export function contentLabel(content: Content): string {
  switch (content.type) {
    case "text":
      return m.consent_content_text();
    case "image":
      return m.consent_content_image();
    case "audio":
      return m.consent_content_audio();
    case "resource":
    case "resource_link":
      return m.consent_content_resource();
    case "unknown":
      return unknownLabel(membersOf(content));
  }
}

function unknownLabel(members: Record<string, JsonValue> | null): string {
  const { type, name } = members ?? {};
  if (type === "tool_use" && typeof name === "string")
    return m.consent_content_tool_use({ tool: displayName(name) });
  if (type === "tool_result") return m.consent_content_tool_result();
  return typeof type === "string" ? visibleText(displayName(type)) : m.consent_content_other();
}
