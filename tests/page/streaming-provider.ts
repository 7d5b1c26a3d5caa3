// Provider that streams in OpenAI's format: text at a fixed rate, with a record of when it wrote, or a tool call in two
// parts.
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Approximate number of characters per token of English text. */
const CHARACTERS_PER_TOKEN = 4;
/** Interval between writes in milliseconds. */
const WRITE_INTERVAL_MS = 10;

/** Tool call that a provider writes: first the beginning of its arguments, and the rest after `proceed`. */
interface StreamedCall {
  /** Name under which the model knows the tool. */
  name: string;
  /** JSON text of the arguments in two parts. */
  beginning: string;
  rest: string;
}

export class StreamingProvider {
  /** Text of the next answer. */
  text = "";
  /** Tool call that the next answer consists of, or `null` for an answer with `text`. */
  call: StreamedCall | null = null;
  /** Names of the tools in the last request. */
  tools: string[] = [];
  /** Rate of the answer in tokens per second. */
  pace = 200;
  /** Time of the first byte of the last answer, and below it that of the last byte, in milliseconds since 1970. */
  startedAt = 0;
  ended = 0;
  #cut = false;
  #proceed: () => void = () => undefined;
  #server: Server = createServer((request, response) => {
    if (request.method === "GET") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: "paced", object: "model" }] }));
      return;
    }
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => (body += part));
    request.on("end", () => {
      const { tools = [] } = JSON.parse(body) as { tools?: { function: { name: string } }[] };
      this.tools = tools.map((tool) => tool.function.name);
      void this.#answer(response);
    });
  });

  static async start(): Promise<StreamingProvider> {
    const provider = new StreamingProvider();
    provider.#server.listen(0, "127.0.0.1");
    await once(provider.#server, "listening");
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Ends the current answer after the part that was sent so far. */
  cut(): void {
    this.#cut = true;
  }

  /** Writes the rest of the current tool call. */
  proceed(): void {
    this.#proceed();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(response: ServerResponse): Promise<void> {
    const tokens = this.text.match(new RegExp(`[^]{1,${CHARACTERS_PER_TOKEN}}`, "gu")) ?? [];
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: object, more: object = {}) => {
      const choices = [{ index: 0, delta, finish_reason: null, ...more }];
      const chunk = { id: "c1", object: "chat.completion.chunk", created: 1, model: "paced", choices };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    this.startedAt = performance.timeOrigin + performance.now();
    send({ role: "assistant", content: "" });
    if (this.call !== null) {
      const { name, beginning, rest } = this.call;
      this.call = null;
      const sendPart = (part: object) => send({ tool_calls: [{ index: 0, ...part }] });
      const proceeds = new Promise<void>((resolve) => (this.#proceed = resolve));
      sendPart({ id: "call_1", type: "function", function: { name, arguments: beginning } });
      await proceeds;
      sendPart({ function: { arguments: rest } });
      send({}, { finish_reason: "tool_calls" });
      response.end("data: [DONE]\n\n");
      return;
    }
    const start = performance.now();
    this.#cut = false;
    for (let sent = 0; sent < tokens.length && !this.#cut && !response.destroyed; ) {
      // Compensates for a late timer.
      const due = Math.min(tokens.length, 1 + Math.floor(((performance.now() - start) / 1000) * this.pace));
      while (sent < due) send({ content: tokens[sent++] });
      await new Promise((next) => setTimeout(next, WRITE_INTERVAL_MS));
    }
    send({}, { finish_reason: "stop" });
    response.end("data: [DONE]\n\n");
    this.ended = performance.timeOrigin + performance.now();
  }
}
