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

import { withoutIcons } from "./tool-definition";
import { SHOWN_CHARACTERS, SHOWN_LINES, type Part } from "./read-progress.svelte";

/** What kind of value a row holds, where its text alone does not say. */
export type ValueKind = "text" | "number" | "boolean" | "null" | "list" | "object";

export interface Row extends Part {
  name: string;
  kind: ValueKind;
}

/** The arguments of a call: a row for each key of the object. */
export function argumentRows(value: JsonValue): Row[] {
  if (kindOf(value) !== "object") return [row("", "", value)];
  return Object.entries(value as Record<string, JsonValue>).map(([name, item]) =>
    row(`argument ${name}`, name, item),
  );
}

/** A name that crosses with its value. */
export function namePart(name: string): Part {
  return { key: `name ${name}`, text: name };
}

/** The name of a tool that is called. */
export function toolPart(tool: string): Part {
  return { key: "tool", text: tool };
}

/** The whole definition of a tool that the user has not seen as it is now: to allow a call of it is to have seen it. */
export function definitionPart(body: QuestionBody): Part | null {
  const written = body.kind === "tool" ? body.definition : undefined;
  if (written === undefined) return null;
  const text = withoutIcons(written);
  const uncut = text.length <= SHOWN_CHARACTERS && text.split("\n").length <= SHOWN_LINES;
  return { key: "definition", text, uncut };
}

/** What gets a prompt or reads a resource: its name, and the arguments of a prompt. */
export function readParts(body: Extract<QuestionBody, { kind: "read" }>): Row[] {
  const rows = body.what === "prompt" ? argumentRows(body.arguments) : [];
  return [row("name", "", body.name), ...rows];
}

function row(key: string, name: string, value: JsonValue): Row {
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
export function requestParts(request: SamplingRequest): Part[] {
  const parts: Part[] = [];
  if (request.systemPrompt !== null) parts.push({ key: "system", text: request.systemPrompt });
  request.messages.forEach((message, m) => parts.push(...messageParts(message, m)));
  parts.push(...request.tools.map(toolsPart));
  parts.push(...[stopPart(request), hintsPart(request)].filter((part) => part !== null));
  if (request.metadata !== null)
    parts.push({ key: "metadata", text: jsonToRead(request.metadata) });
  return parts;
}

/** A tool that a server brings for a model, whole. */
export function toolsPart(tool: SamplingTool, index: number): Part {
  const { name, description, inputSchema } = tool;
  const words = [name, description, JSON.stringify(inputSchema, null, 2)];
  return { key: `tool ${index}`, text: words.filter((one) => one !== null).join("\n") };
}

/** The sequences that an answer ends at, if there are some. */
export function stopPart({ stopSequences }: SamplingRequest): Part | null {
  if (stopSequences.length === 0) return null;
  return { key: "stop", text: stopSequences.map((s) => JSON.stringify(s)).join("  ") };
}

/** The models that are wished for, if there are some. */
export function hintsPart({ modelHints }: SamplingRequest): Part | null {
  return modelHints.length === 0 ? null : { key: "hints", text: modelHints.join(", ") };
}

export function messageParts(message: Message, index: number): Part[] {
  return message.content.flatMap((content, c) => {
    const key = partKey(index, c);
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
  command: Part;
  args: Part[];
  env: Part[];
  cwd: Part | null;
} {
  const part = (key: string, text: string): Part => ({ key, text, uncut: true });
  return {
    command: part("command", body.command),
    args: body.args.map((argument, i) => part(`argument ${i}`, argument)),
    env: body.env.map(([name, value]) => part(`variable ${name}`, `${name}=${value}`)),
    cwd: body.cwd === null ? null : part("folder", body.cwd),
  };
}

export function partKey(message: number, content: number): string {
  return `message ${message} content ${content}`;
}

/** All values of a question that may be folded and have to be opened before it can be allowed. */
export function crossing(question: Question): Part[] {
  const body: QuestionBody = question.body;
  switch (body.kind) {
    case "start_server": {
      const { command, args, env, cwd } = commandParts(body);
      return [command, ...args, ...env, ...(cwd === null ? [] : [cwd])];
    }
    case "tool":
      return [toolPart(body.tool), ...withNames(argumentRows(body.arguments))];
    case "read":
      return withNames(readParts(body));
    case "result":
      return [toolPart(body.tool), ...messageParts(resultMessage(body), 0)];
    case "sampling":
      if (body.step !== "response") return requestParts(body.request);
      return body.response
        ? messageParts({ role: "assistant", content: body.response.content }, 0)
        : [];
    default:
      return [];
  }
}

function withNames(rows: Row[]): Part[] {
  return rows.flatMap((row) => [namePart(row.name), row]);
}

/** The one line that names a question in a list. */
export function subject(question: Question): string {
  const body = question.body;
  switch (body.kind) {
    case "start_server":
    case "connect_server":
      return question.commandLine;
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
