// Server over stdio with tools from a file. For each tool the file lists the requests that a call sends and its
// result.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const script = JSON.parse(readFileSync(process.argv[2], "utf8"));
const waiting = new Map();
let next = 1;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function sendRequest({ method, params }) {
  const id = `asked-${next++}`;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

async function call({ name }) {
  const { requests = [], count = 1, content = [], stderr = "" } = script.calls?.[name] ?? {};
  process.stderr.write(stderr);
  const answers = await Promise.all(Array.from({ length: count }, () => requests.map(sendRequest)).flat());
  const results = answers.map((answer) => JSON.stringify(answer.result ?? answer.error)).join("\n");
  return { content: requests.length > 0 ? [{ type: "text", text: results }, ...content] : content };
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "said", version: "1.0.0" },
    instructions: script.instructions,
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: script.tools }),
  "tools/call": call,
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(answer);
  if (id === undefined) return;
  const act = methods[method];
  if (act) send({ id, result: await act(params ?? {}) });
  else send({ id, error: { code: -32601, message: "no such method" } });
});
