// What would cross, as rows that can be read one by one.

import type {
  JsonValue,
  Message,
  Question,
  QuestionBody,
  SamplingRequest,
  SamplingTool,
} from "$lib/api/generated";
import { jsonToRead } from "$lib/format/json";

import { elideIconData } from "./tool-definition";
import { SHOWN_CHARACTERS, SHOWN_LINES, type PayloadPart } from "./read-progress.svelte";

/** What kind of value a row holds, where its text alone does not say. */
export type ValueKind = "text" | "number" | "boolean" | "null" | "list" | "object";

export interface PayloadRow extends PayloadPart {
  name: string;
  kind: ValueKind;
}

/** The arguments of a call: a row for each key of the object. */
export function argumentRows(value: JsonValue): PayloadRow[] {
  if (kindOf(value) !== "object") return [payloadRow("", "", value)];
  return Object.entries(value as Record<string, JsonValue>).map(([name, item]) =>
    payloadRow(`argument ${name}`, name, item),
  );
}

/** A name that crosses with its value. */
export function namePart(name: string): PayloadPart {
  return { key: `name ${name}`, text: name };
}

/** The name of a tool that is called. */
export function toolNamePart(tool: string): PayloadPart {
  return { key: "tool", text: tool };
}

/** The whole definition of a tool that the user has not seen as it is now: to allow a call of it is to have seen it. */
export function definitionPart(body: QuestionBody): PayloadPart | null {
  const written = body.kind === "tool" ? body.definition : undefined;
  if (written === undefined) return null;
  const text = elideIconData(written);
  const uncut = text.length <= SHOWN_CHARACTERS && text.split("\n").length <= SHOWN_LINES;
  return { key: "definition", text, uncut };
}

/** What gets a prompt or reads a resource: its name, and the arguments of a prompt. */
export function readRequestParts(body: Extract<QuestionBody, { kind: "read" }>): PayloadRow[] {
  const rows = body.what === "prompt" ? argumentRows(body.arguments) : [];
  return [payloadRow("name", "", body.name), ...rows];
}

function payloadRow(key: string, name: string, value: JsonValue): PayloadRow {
  const kind = kindOf(value);
  const text = typeof value === "string" ? value : jsonToRead(value);
  return { key, name, kind, text };
}

export function kindOf(value: JsonValue): ValueKind {
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

/** The texts of a request to a model, each with a key of its own. */
export function samplingRequestParts(request: SamplingRequest): PayloadPart[] {
  const parts: PayloadPart[] = [];
  if (request.systemPrompt !== null) parts.push({ key: "system", text: request.systemPrompt });
  request.messages.forEach((message, m) => parts.push(...messageParts(message, m)));
  parts.push(...request.tools.map(samplingToolPart));
  parts.push(
    ...[stopSequencesPart(request), modelHintsPart(request)].filter((part) => part !== null),
  );
  if (request.metadata !== null)
    parts.push({ key: "metadata", text: jsonToRead(request.metadata) });
  return parts;
}

/** A tool that a server brings for a model, whole. */
export function samplingToolPart(tool: SamplingTool, index: number): PayloadPart {
  const { name, description, inputSchema } = tool;
  const words = [name, description, JSON.stringify(inputSchema, null, 2)];
  return { key: `tool ${index}`, text: words.filter((one) => one !== null).join("\n") };
}

/** The sequences that an answer ends at, if there are some. */
export function stopSequencesPart({ stopSequences }: SamplingRequest): PayloadPart | null {
  if (stopSequences.length === 0) return null;
  return { key: "stop", text: stopSequences.map((s) => JSON.stringify(s)).join("  ") };
}

/** The models that are wished for, if there are some. */
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
        return [{ key, text: jsonToRead(content.json) }];
      default:
        return [];
    }
  });
}

/** The result of a call as a message, which is what a model gets it in. */
export function resultMessage(body: Extract<QuestionBody, { kind: "result" }>): Message {
  return { role: "user", content: body.content };
}

type StartServer = Extract<QuestionBody, { kind: "start_server" }>;

/** Program, arguments, variables and folder of a command, in this order. */
export function commandParts(body: StartServer): {
  command: PayloadPart;
  args: PayloadPart[];
  env: PayloadPart[];
  cwd: PayloadPart | null;
} {
  const part = (key: string, text: string): PayloadPart => ({ key, text, uncut: true });
  return {
    command: part("command", body.command),
    args: body.args.map((argument, i) => part(`argument ${i}`, argument)),
    env: body.env.map(([name, value]) => part(`variable ${name}`, `${name}=${value}`)),
    cwd: body.cwd === null ? null : part("folder", body.cwd),
  };
}

export function contentKey(message: number, content: number): string {
  return `message ${message} content ${content}`;
}

/** All values of a question that may be folded and have to be opened before it can be allowed. */
export function payloadParts(request: Question): PayloadPart[] {
  const body: QuestionBody = request.body;
  switch (body.kind) {
    case "start_server": {
      const { command, args, env, cwd } = commandParts(body);
      return [command, ...args, ...env, ...(cwd === null ? [] : [cwd])];
    }
    case "tool":
      return [toolNamePart(body.tool), ...withNames(argumentRows(body.arguments))];
    case "read":
      return withNames(readRequestParts(body));
    case "result":
      return [toolNamePart(body.tool), ...messageParts(resultMessage(body), 0)];
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

/** The one line that names a question in a list. */
export function requestSubject(request: Question): string {
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
      return body.folders.join("  ");
    case "sign_in":
    case "client_id":
      return body.issuer;
  }
}
