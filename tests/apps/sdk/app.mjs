// App on the class `App` of the official SDK, with a button for each message that the class sends. The messages of app
// and host are printed to the console, one line each.
import { App, PostMessageTransport } from "@modelcontextprotocol/ext-apps";

/** Methods of the requests that wait for a response, by sender and id. */
const requests = new Map();

/** Prints a message of `app` or `host`, such as `app: request tools/call`. */
function print(sender, message) {
  const other = sender === "app" ? "host" : "app";
  console.info(`message ${sender}: ${describe()}`);

  function describe() {
    const { id, method, params } = message;
    if (method === undefined) {
      const answered = requests.get(`${other} ${id}`);
      return `${"error" in message ? "error" : "result"} of ${answered}`;
    }
    if (id === undefined) {
      const isContext = method === "ui/notifications/host-context-changed";
      return `notification ${method}${isContext ? ` with ${Object.keys(params).sort().join(" ")}` : ""}`;
    }
    requests.set(`${sender} ${id}`, method);
    return `request ${method}`;
  }
}

class PrintingTransport extends PostMessageTransport {
  async send(message, options) {
    print("app", message);
    await super.send(message, options);
  }
}

addEventListener("message", ({ source, data }) => {
  if (source === window.parent && data?.jsonrpc === "2.0") print("host", data);
});

const app = new App(
  { name: "tides", version: "1.0.0" },
  { availableDisplayModes: ["inline", "fullscreen"] },
  // The test sends the size itself, since the automatic size depends on the fonts.
  { autoResize: false },
);

const text = (words) => ({ type: "text", text: words });
const ACTIONS = {
  "Call a tool": () => app.callServerTool({ name: "add", arguments: { a: 2, b: 3 } }),
  "Call a failing tool": () => app.callServerTool({ name: "fail", arguments: {} }),
  "List resources": () => app.listServerResources(),
  "Read a resource": () => app.readServerResource({ uri: "harbour:///notice.txt" }),
  "Read a missing resource": () => app.readServerResource({ uri: "harbour:///missing.txt" }),
  "Send a message": () => app.sendMessage({ role: "user", content: [text("When is the next high water?")] }),
  "Update the context": () =>
    app.updateModelContext({ content: [text("The user looks at Bergen.")], structuredContent: { harbour: "Bergen" } }),
  "Open a link": () => app.openLink({ url: "https://example.com/tides" }),
  "Save a file": () =>
    app.downloadFile({
      contents: [
        { type: "resource", resource: { uri: "file:///tides.txt", mimeType: "text/plain", text: "high water 06:12" } },
      ],
    }),
  "Change the height": () => app.sendSizeChanged({ width: 400, height: 320 }),
  "Log": () => app.sendLog({ level: "warning", logger: "tides", data: "the gauge is silent" }),
  "Ask a model": () =>
    app.createSamplingMessage({ messages: [{ role: "user", content: text("say when") }], maxTokens: 100 }),
  "Full screen": () => app.requestDisplayMode({ mode: "fullscreen" }),
  "Inline": () => app.requestDisplayMode({ mode: "inline" }),
  "Small window": () => app.requestDisplayMode({ mode: "pip" }),
  "Close": () => app.requestTeardown(),
};

const outcome = document.getElementById("outcome");
for (const [name, act] of Object.entries(ACTIONS)) {
  const button = document.createElement("button");
  button.textContent = name;
  button.onclick = async () => {
    outcome.textContent = "waiting";
    try {
      outcome.textContent = JSON.stringify((await act()) ?? "sent");
    } catch (error) {
      outcome.textContent = `error ${error.code}: ${error.message}`;
    }
  };
  document.body.append(button);
}

const received = document.getElementById("received");
for (const event of ["toolinputpartial", "toolinput", "toolresult", "toolcancelled"]) {
  app.addEventListener(event, (params) => {
    received.appendChild(document.createElement("li")).textContent = `${event} ${JSON.stringify(params)}`;
  });
}
app.onteardown = async () => {
  // The host waits for what takes time here.
  await new Promise((done) => setTimeout(done, 100));
  console.info("saved");
  return {};
};

await app.connect(new PrintingTransport(window.parent, window.parent));
const { name } = app.getHostVersion();
const modes = app.getHostContext().availableDisplayModes.join(" ");
outcome.textContent = `connected to ${name} with ${Object.keys(app.getHostCapabilities()).sort().join(" ")}; ${modes}`;
