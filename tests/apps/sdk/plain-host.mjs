// Host of one app in a plain page, on the class `AppBridge` of the official SDK. It grants every request.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const HOST = { name: "plain-host", version: "1.0.0" };
const TOOL = "show_tides";
const INPUT = { harbour: "Bergen" };

const client = new Client(HOST);
await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));

let context = { displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"] };
const capabilities = {
  openLinks: {},
  downloadFile: {},
  serverTools: {},
  serverResources: {},
  logging: {},
  sampling: {},
  message: { text: {} },
  updateModelContext: { text: {}, structuredContent: {} },
};
const bridge = new AppBridge(client, HOST, capabilities, { hostContext: context });
const grant = async () => ({});
bridge.onmessage = grant;
bridge.onupdatemodelcontext = grant;
bridge.onopenlink = grant;
bridge.ondownloadfile = grant;
bridge.oncreatesamplingmessage = async () => ({
  model: "plain",
  role: "assistant",
  content: { type: "text", text: "At six." },
  stopReason: "endTurn",
});
bridge.onrequestdisplaymode = async ({ mode }) => {
  if (!context.availableDisplayModes.includes(mode)) return { mode: context.displayMode };
  context = { ...context, displayMode: mode };
  // After the response.
  setTimeout(() => bridge.setHostContext(context));
  return { mode };
};

const frame = document.querySelector("iframe");
bridge.addEventListener("sizechange", ({ height }) => (frame.style.height = `${height}px`));
bridge.addEventListener("requestteardown", async () => {
  await bridge.teardownResource({});
  frame.remove();
});
bridge.addEventListener("initialized", async () => {
  await bridge.sendToolInputPartial({ arguments: { harbour: "Ber" } });
  await bridge.sendToolInput({ arguments: INPUT });
  await bridge.sendToolResult(await client.callTool({ name: TOOL, arguments: INPUT }));
});
await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
frame.src = "/app";
