// Attempts on other windows, the storage of others, the devices of the computer, and the commands of the app.
import { CLOSED, blocked, made, message, nested, nestedDocument, reach, unobserved } from "./attempt-tools.mjs";

/** Address of the page that embeds the frame, or an unused name if the engine hides it. */
const hostOrigin = () => location.ancestorOrigins?.[0] ?? "tauri://localhost";
/** Address of an app that is not shown: this one with another identifier. */
export const siblingOrigin = () => location.origin.replace(/\/\/[0-9a-f]{32}/, `//${"0".repeat(32)}`);
/** Reports a nested frame with this address that the policy does not block. */
const nestedFrame = (src) => blocked("frame-src", () => document.body.append(made("iframe", { src })));
const bytes = (text) => new Blob([text], { type: "text/javascript" });

async function workerMessage(create) {
  const worker = create();
  const port = worker.port ?? worker;
  port.start?.();
  const failed = new Promise((resolve) => worker.addEventListener("error", () => resolve(CLOSED)));
  return Promise.race([message(port), failed]);
}

async function hostCommand(path, options) {
  const response = await fetch(new URL(path, hostOrigin()), options);
  return `${response.type} ${response.status}`;
}

const WORKER = "self.onconnect = (e) => e.ports[0].postMessage('ran'); self.postMessage?.('ran');";

export const windowAttempts = [
  // Access to other windows.
  ["the document of the parent", () => reach("it", () => parent.document.title || "a document")],
  ["the document of the top window", () => reach("it", () => top.document.title || "a document")],
  ["the address of the parent", () => reach("it", () => parent.location.href)],
  ["the element of the frame", () => reach("it", () => window.frameElement)],
  ["a global variable of the parent", () => reach("it", () => parent.navigator)],
  ["a property that is set on the parent", () => reach("it", () => (parent.escaped = true))],
  ["the name of the parent", () => reach("it", () => parent.name || "an empty name")],
  [
    "the document of another frame",
    () => reach("it", () => [...Array(parent.length).keys()].some((i) => parent[i] !== window && parent[i].document)),
  ],
  ["a function of the parent", () => reach("it", () => parent.eval("1"))],
  ["the opener", () => reach("it", () => window.opener)],
  ["a name that another page left", () => reach("it", () => window.name)],
  ["a relaxed domain", () => reach("it", () => ((document.domain = "localhost"), parent.document.title))],
  ["a new window", (to) => reach("it", () => window.open(to.http))],
  ["a new empty window", () => reach("it", () => window.open("about:blank"))],
  [
    "a new window without opener",
    (to) => reach("it", () => window.open(to.http, "_blank", "noopener") ?? CLOSED).then(() => CLOSED),
  ],
  [
    "a link to a new window",
    (to) => reach("it", () => made("a", { href: to.http, target: "_blank", rel: "opener" }).click()),
  ],
  ["a picture-in-picture window", () => reach("it", () => window.documentPictureInPicture.requestWindow())],
  ["a confirmation", () => reach("it", () => confirm("May I?"))],
  ["a prompt", () => reach("it", () => prompt("Your password?", "given"))],
  ["a message box", () => reach("it", () => alert("Hello"))],
  [
    "printing",
    async () => {
      const printed = new Promise((resolve) =>
        addEventListener("beforeprint", () => resolve("printed"), { once: true }),
      );
      print();
      return printed;
    },
  ],
  [
    "a reply to a forged report of the self-test",
    async () => {
      const posted = message();
      top.postMessage({ drawbridge: "self-test", reachable: [] }, "*");
      return posted;
    },
  ],
  [
    "a reply to a forged command",
    async () => {
      const posted = message();
      top.postMessage({ cmd: "read_snapshot", callback: 1, error: 2, payload: {} }, "*");
      return posted;
    },
  ],
  [
    "a reply on a message port",
    async () => {
      const { port1, port2 } = new MessageChannel();
      port1.start();
      top.postMessage({ port: true }, "*", [port2]);
      return message(port1);
    },
  ],

  // Access to the storage of other origins.
  ["the storage of the parent", () => reach("it", () => parent.localStorage.length + 1)],
  ["stored values of other pages", () => reach("them", () => localStorage.length + sessionStorage.length)],
  ["cookies of other pages", () => reach("them", () => document.cookie)],
  [
    "a cookie for all names below localhost",
    () => {
      document.cookie = "escape=1; domain=localhost; path=/";
      return reach("it", () => document.cookie.includes("escape"));
    },
  ],
  ["databases of other pages", () => reach("them", async () => (await indexedDB.databases()).length)],
  ["caches of other pages", () => reach("them", async () => (await caches.keys()).length)],
  [
    "storage across sites",
    () => reach("it", async () => (await document.requestStorageAccess(), parent.localStorage.length + 1)),
  ],
  [
    "channels of other apps",
    async () => {
      const channel = new BroadcastChannel("drawbridge");
      channel.postMessage("anyone?");
      const heard = await Promise.race([message(channel), new Promise((end) => setTimeout(end, 300, CLOSED))]);
      channel.close();
      return heard;
    },
  ],
  ["shared memory", () => reach("it", () => crossOriginIsolated && new SharedArrayBuffer(1))],

  // Code outside the page.
  ["evaluation of text", () => reach("it", () => (0, eval)("1"))],
  ["a function from text", () => reach("it", () => new Function("return 1")())],
  [
    "a timer with text",
    async () => {
      setTimeout("window.ranText = 'ran'");
      await new Promise((end) => setTimeout(end, 50));
      return reach("it", () => window.ranText);
    },
  ],
  ["a worker from a blob", () => workerMessage(() => new Worker(URL.createObjectURL(bytes(WORKER))))],
  [
    "a worker from a data address",
    () => workerMessage(() => new Worker(`data:text/javascript,${encodeURIComponent(WORKER)}`)),
  ],
  ["a worker from its own address", () => blocked("worker-src", () => new Worker(location.href))],
  ["a shared worker", () => workerMessage(() => new SharedWorker(URL.createObjectURL(bytes(WORKER))))],
  ["a service worker", () => reach("it", () => navigator.serviceWorker.register("/self-test"))],
  [
    "an audio worklet",
    () =>
      reach("it", async () => {
        await new OfflineAudioContext(1, 1, 8_000).audioWorklet.addModule(URL.createObjectURL(bytes("")));
        return "a worklet";
      }),
  ],

  // Nested frames.
  [
    "a nested empty frame",
    async (to) => {
      const frame = made("iframe", { src: "about:blank" });
      document.body.append(frame);
      const inner = frame.contentWindow;
      const ipc = inner.webkit?.messageHandlers?.ipc ?? inner.__TAURI_INTERNALS__ ?? inner.ipc;
      const outcome = ipc
        ? "reached the IPC"
        : await inner.fetch(to.http, { mode: "no-cors" }).then(
            () => "reached by fetch",
            () => CLOSED,
          );
      frame.remove();
      return outcome;
    },
  ],
  ["a nested document from its source", (to) => nested({ srcdoc: nestedDocument(to.http) })],
  [
    "a nested document from a blob",
    (to) => nested({ src: URL.createObjectURL(new Blob([nestedDocument(to.http)], { type: "text/html" })) }),
  ],
  [
    "a nested document from a data address",
    (to) => nested({ src: `data:text/html,${encodeURIComponent(nestedDocument(to.http))}` }),
  ],
  [
    "a nested document from a script address",
    (to) => nested({ src: `javascript:${JSON.stringify(nestedDocument(to.http))}` }),
  ],
  ["a nested frame of another computer", (to) => nestedFrame(to.http)],
  ["a nested frame of the host's page", () => nestedFrame(hostOrigin())],
  ["a nested frame of this app", () => nestedFrame(location.href)],
  ["a nested frame of another app", () => nestedFrame(`${siblingOrigin()}/`)],
  ["a nested frame of the scheme of apps", () => nestedFrame(`drawbridge-app://${"0".repeat(32)}/`)],
  [
    "a nested frame of a file",
    async () => {
      const frame = made("iframe", { src: "file:///etc/passwd" });
      await unobserved(() => document.body.append(frame));
      const text = frame.contentDocument?.body?.textContent;
      frame.remove();
      return reach("it", () => text);
    },
  ],

  // Commands of the app, in Tauri and in the development host.
  ["the global API of Tauri", () => reach("it", () => window.__TAURI__)],
  ["the internals of Tauri", () => reach("it", () => window.__TAURI_INTERNALS__)],
  ["the bridge of the web view", () => reach("it", () => window.ipc)],
  ["the message handler of WebKit", () => reach("it", () => window.webkit?.messageHandlers?.ipc)],
  ["the bridge of WebView2", () => reach("it", () => window.chrome?.webview)],
  ["commands by ipc://", () => reach("them", async () => (await fetch("ipc://localhost/read_snapshot")).status)],
  [
    "commands by ipc.localhost",
    () => reach("them", async () => (await fetch("http://ipc.localhost/read_snapshot", { method: "POST" })).status),
  ],
  [
    "files of the window by tauri://",
    () => reach("them", async () => (await fetch("tauri://localhost/index.html")).status),
  ],
  [
    "files of the window by tauri.localhost",
    () => reach("them", async () => (await fetch("http://tauri.localhost/index.html")).status),
  ],
  [
    "files of the computer by asset://",
    () => reach("them", async () => (await fetch("asset://localhost/etc/passwd")).status),
  ],
  [
    "files of the computer by asset.localhost",
    () => reach("them", async () => (await fetch("http://asset.localhost/etc/passwd")).status),
  ],
  ["files of the computer by file://", () => reach("them", async () => (await fetch("file:///etc/passwd")).status)],
  [
    "commands of the host's page",
    () => reach("them", () => hostCommand("/api/read_snapshot", { method: "POST", body: "{}" })),
  ],
  [
    "commands without CORS",
    () => reach("them", () => hostCommand("/api/read_snapshot", { method: "POST", body: "{}", mode: "no-cors" })),
  ],
  [
    "events of the host's page",
    () =>
      new Promise((resolve) => {
        const socket = new WebSocket(new URL("/events", hostOrigin().replace(/^http/, "ws")));
        socket.onopen = () => resolve("reached the events");
        socket.onerror = () => resolve(CLOSED);
      }),
  ],
  ["its own document", () => reach("it", async () => (await fetch(location.href)).status)],
  [
    "the document of another app",
    () => reach("it", async () => (await fetch(siblingOrigin(), { mode: "no-cors" })).type),
  ],

  // Devices and functions of the computer.
  ["the clipboard's text", () => reach("it", async () => `"${await navigator.clipboard.readText()}"`)],
  ["the clipboard's content", () => reach("it", () => navigator.clipboard.read())],
  ["a text in the clipboard", () => reach("it", async () => (await navigator.clipboard.writeText("taken"), "written"))],
  ["pasting by command", () => reach("it", () => document.execCommand("paste"))],
  ["the camera", () => reach("it", () => navigator.mediaDevices.getUserMedia({ video: true }))],
  ["the microphone", () => reach("it", () => navigator.mediaDevices.getUserMedia({ audio: true }))],
  ["the screen", () => reach("it", () => navigator.mediaDevices.getDisplayMedia({ video: true }))],
  [
    "the location",
    () =>
      new Promise((resolve) => {
        navigator.geolocation.getCurrentPosition(
          () => resolve("reached the location"),
          () => resolve(CLOSED),
        );
      }),
  ],
  ["notifications", () => reach("them", async () => (await Notification.requestPermission()) === "granted")],
  ["the full screen", () => reach("it", async () => (await document.body.requestFullscreen(), "full screen"))],
  [
    "the pointer",
    () =>
      reach("it", async () => {
        await document.body.requestPointerLock();
        await new Promise((end) => setTimeout(end, 100));
        return document.pointerLockElement;
      }),
  ],
  ["the keyboard", () => reach("it", async () => (await navigator.keyboard.lock(), document.fullscreenElement))],
  [
    "payments",
    () =>
      reach("them", () =>
        new window.PaymentRequest([{ supportedMethods: "https://pay.example" }], {
          total: { label: "x", amount: { currency: "EUR", value: "1" } },
        }).show(),
      ),
  ],
  ["USB devices", () => reach("them", () => navigator.usb.requestDevice({ filters: [] }))],
  ["HID devices", () => reach("them", async () => (await navigator.hid.requestDevice({ filters: [] })).length)],
  ["serial ports", () => reach("them", () => navigator.serial.requestPort())],
  ["Bluetooth devices", () => reach("them", () => navigator.bluetooth.requestDevice({ acceptAllDevices: true }))],
  ["MIDI devices", () => reach("them", () => navigator.requestMIDIAccess())],
  ["a lock of the screen saver", () => reach("it", () => navigator.wakeLock.request("screen"))],
  ["stored passwords", () => reach("them", () => navigator.credentials.get({ password: true }))],
  [
    "security keys",
    () =>
      reach("them", () => navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16), timeout: 500 } })),
  ],
  ["a file of the user", () => reach("it", () => window.showOpenFilePicker())],
  ["a folder of the user", () => reach("it", () => window.showDirectoryPicker())],
  ["the system's share dialog", () => reach("it", async () => (await navigator.share({ text: "x" }), "shared"))],
  ["the fonts of the computer", () => reach("them", async () => (await window.queryLocalFonts()).length)],
  ["the arrangement of screens", () => reach("it", () => window.getScreenDetails())],
  [
    "a download from a blob",
    () => reach("it", () => made("a", { href: URL.createObjectURL(bytes("x")), download: "escape.txt" }).click()),
  ],
];
