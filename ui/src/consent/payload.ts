// The payload of a consent request, as parts that the user reads one by one.

import type {
  JsonValue,
  Message,
  ConsentRequest,
  ConsentRequestBody,
  SamplingRequest,
  SamplingTool,
} from "$lib/api/generated";
import { displayedJson } from "$lib/format/json";

import { elideIconData } from "./tool-definition";
import {
  MAX_UNFOLDED_CHARACTERS,
  MAX_UNFOLDED_LINES,
  type PayloadPart,
} from "./read-progress.svelte";

/** JSON type of a value. Displayed if the text alone is ambiguous, such as for `1` and `"1"`. */
export type ValueKind = "text" | "number" | "boolean" | "null" | "list" | "object";

export interface PayloadRow extends PayloadPart {
  name: string;
  kind: ValueKind;
}

/** Returns a row for each argument of a tool call. */
export function argumentRows(value: JsonValue): PayloadRow[] {
  if (valueKindOf(value) !== "object") return [payloadRow("", "", value)];
  return Object.entries(value as Record<string, JsonValue>).map(([name, item]) =>
    payloadRow(`argument ${name}`, name, item),
  );
}

/**
 * Returns the payload part for the name of a value. Names are sent together with their values, so the user has to read
 * them.
 */
export function namePart(name: string): PayloadPart {
  return { key: `name ${name}`, text: name };
}

/** Returns the payload part for the name of the tool whose app receives a call, which the user has to read. */
export function receivingAppPart(tool: string): PayloadPart {
  return { key: "app", text: tool };
}

/** Returns the payload part for the name of the called tool, which the user has to read. */
export function toolNamePart(tool: string): PayloadPart {
  return { key: "tool", text: tool };
}

/**
 * Returns the definition of the called tool if the user has not reviewed its current version, otherwise `null`. An
 * approved call marks the definition as reviewed.
 */
export function definitionPart(body: ConsentRequestBody): PayloadPart | null {
  const written = body.kind === "tool" ? body.definition : undefined;
  if (written === undefined) return null;
  const text = elideIconData(written);
  const uncut =
    text.length <= MAX_UNFOLDED_CHARACTERS && text.split("\n").length <= MAX_UNFOLDED_LINES;
  return { key: "definition", text, uncut };
}

/** Returns the payload parts for the name of a prompt or the URI of a resource, and for the arguments of a prompt. */
export function promptOrResourceParts(
  body: Extract<ConsentRequestBody, { kind: "read" }>,
): PayloadRow[] {
  const rows = body.callKind === "prompt" ? argumentRows(body.arguments) : [];
  return [payloadRow("name", "", body.name), ...rows];
}

function payloadRow(key: string, name: string, value: JsonValue): PayloadRow {
  const kind = valueKindOf(value);
  const text = typeof value === "string" ? value : displayedJson(value);
  return { key, name, kind, text };
}

export function valueKindOf(value: JsonValue): ValueKind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  switch (typeof value) {
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "object":
      return "object";
    default:
      return "text";
  }
}

/** Returns the payload parts for the texts of a sampling request. */
export function samplingRequestParts(request: SamplingRequest): PayloadPart[] {
  const parts: PayloadPart[] = [];
  if (request.systemPrompt !== null) parts.push({ key: "system", text: request.systemPrompt });
  request.messages.forEach((message, m) => parts.push(...messageParts(message, m)));
  parts.push(...request.tools.map(samplingToolPart));
  parts.push(
    ...[stopSequencesPart(request), modelHintsPart(request)].filter((part) => part !== null),
  );
  if (request.metadata !== null)
    parts.push({ key: "metadata", text: displayedJson(request.metadata) });
  return parts;
}

/** Returns the payload part for the full definition of a tool that a server offers to the model. */
export function samplingToolPart(tool: SamplingTool, index: number): PayloadPart {
  const { name, description, inputSchema } = tool;
  const words = [name, description, JSON.stringify(inputSchema, null, 2)];
  return { key: `tool ${index}`, text: words.filter((one) => one !== null).join("\n") };
}

/** Returns the payload part for the stop sequences, or `null` if there are none. */
export function stopSequencesPart({ stopSequences }: SamplingRequest): PayloadPart | null {
  if (stopSequences.length === 0) return null;
  return { key: "stop", text: stopSequences.map((s) => JSON.stringify(s)).join("  ") };
}

/** Returns the payload part for the model hints, or `null` if there are none. */
export function modelHintsPart({ modelHints }: SamplingRequest): PayloadPart | null {
  return modelHints.length === 0 ? null : { key: "hints", text: modelHints.join(", ") };
}

export function messageParts(message: Message, index: number): PayloadPart[] {
  return message.content.flatMap((content, c) => {
    const key = contentKey(index, c);
    switch (content.type) {
      case "text":
        return [{ key, text: content.text }];
      case "resource":
        return [{ key, text: content.contents.text ?? "" }];
      case "resource_link": {
        const { name, title, uri, description } = content;
        const words = [title, name, uri, description].filter((one) => one !== null);
        return [{ key, text: words.join("\n") }];
      }
      case "unknown":
        return [{ key, text: displayedJson(content.json) }];
      default:
        return [];
    }
  });
}

/** Returns a tool result in the form of the message that the model receives. */
export function resultMessage(body: Extract<ConsentRequestBody, { kind: "result" }>): Message {
  return { role: "user", content: body.content };
}

type StartServer = Extract<ConsentRequestBody, { kind: "start_server" }>;

/** Returns the payload parts for the command that starts a local server. No part is ever folded. */
export function commandParts(body: StartServer): {
  command: PayloadPart;
  args: PayloadPart[];
  env: PayloadPart[];
  cwd: PayloadPart;
} {
  const part = (key: string, text: string): PayloadPart => ({ key, text, uncut: true });
  return {
    command: part("command", body.command),
    args: body.args.map((argument, i) => part(`argument ${i}`, argument)),
    env: body.env.map(([name, value]) => part(`variable ${name}`, `${name}=${value}`)),
    cwd: part("folder", body.cwd),
  };
}

export function contentKey(message: number, content: number): string {
  return `message ${message} content ${content}`;
}

/** Returns all parts of the payload whose reading is tracked. Each folded part must be expanded before an approval. */
export function payloadParts(request: ConsentRequest): PayloadPart[] {
  const body: ConsentRequestBody = request.body;
  switch (body.kind) {
    case "start_server": {
      const { command, args, env, cwd } = commandParts(body);
      return [command, ...args, ...env, cwd];
    }
    case "tool": {
      const app = body.app === undefined ? [] : [receivingAppPart(body.app)];
      return [toolNamePart(body.tool), ...app, ...withNames(argumentRows(body.arguments))];
    }
    case "read":
      return withNames(promptOrResourceParts(body));
    case "result":
      return [
        toolNamePart(body.tool),
        ...(body.app === undefined ? [] : [receivingAppPart(body.app)]),
        ...messageParts(resultMessage(body), 0),
      ];
    case "sampling":
      if (body.step !== "response") return samplingRequestParts(body.request);
      return body.response
        ? messageParts({ role: "assistant", content: body.response.content }, 0)
        : [];
    default:
      return [];
  }
}

function withNames(rows: PayloadRow[]): PayloadPart[] {
  return rows.flatMap((payloadRow) => [namePart(payloadRow.name), payloadRow]);
}

/** Returns one line of text that identifies a request in a list. */
export function requestSubject(request: ConsentRequest): string {
  const body = request.body;
  switch (body.kind) {
    case "start_server":
    case "connect_server":
      return request.commandLine;
    case "tool":
    case "result":
      return body.tool;
    case "read":
      return body.name;
    case "sampling": {
      const first = body.request.messages.flatMap((m) => m.content).find((c) => c.type === "text");
      return first?.type === "text" ? first.text : "";
    }
    case "form":
      return body.message;
    case "url":
      return body.url.url;
    case "roots":
      return "";
    case "sign_in":
    case "client_id":
      return body.issuer;
  }
}
