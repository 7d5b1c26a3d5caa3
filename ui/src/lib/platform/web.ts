// Platform of a browser, with the development host on the same origin.
import type { Events } from "$lib/api/generated";

import type { Platform } from "./platform";

const RECONNECT_DELAY_MS = 500;

// The development server forwards commands and events to the development host, but not the frames of apps.
const APP_PORT = import.meta.env.DEV ? "1430" : location.port;
// Names below `localhost` are this computer, and each is an origin other than that of the page.
const appOrigin = (view: string) =>
  `http://${view}.localhost${APP_PORT === "" ? "" : `:${APP_PORT}`}`;

export const webPlatform: Platform = {
  async call(name, request) {
    const response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    const body: unknown = await response.json();
    if (!response.ok) throw body;
    return body;
  },
  listen(receive, lost) {
    return new Promise((resolve) => {
      let first = true;
      const connect = () => {
        const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/events`);
        socket.onopen = () => {
          if (first) resolve();
          else lost();
          first = false;
        };
        socket.onmessage = (message) => receive(JSON.parse(String(message.data)) as Events);
        socket.onclose = () => setTimeout(connect, RECONNECT_DELAY_MS);
      };
      connect();
    });
  },
  // A browser has no shell and closes its windows itself.
  listenShell: () => Promise.resolve(),
  closingShown: () => undefined,
  finishClosing: () => Promise.resolve(),
  desktopReport: () => Promise.resolve(null),
  setLoginStart: () => Promise.resolve(),
  setLinkHandler: () => Promise.resolve(),
  // Browsers have their own zoom.
  zooms: false,
  setZoom: () => undefined,
  // The user opens further tabs instead.
  hasConversationWindows: false,
  openConversationWindow: () => Promise.resolve(),
  closeWindow: () => undefined,
  showRequestElsewhere: () => Promise.resolve(),
  showMainWindow: () => undefined,
  dismissStoppedApps: () => undefined,
  releaseStoppedApps: () => undefined,
  menuBar: "none",
  setMenuBar: () => undefined,
  openingDone: () => undefined,
  // Updates come from the server of the page.
  updateReport: () => Promise.resolve(null),
  checkForUpdate: () => Promise.resolve(),
  installUpdate: () => Promise.resolve(),
  stopUpdate: () => Promise.resolve(),
  painted: () => undefined,
  consentDrawn: () => undefined,
  // The sandbox of the browser.
  pageSandbox: () => Promise.resolve({ is: "native" }),
  retryPageSandbox: () => Promise.resolve(),
  appUrl: (view, path) => `${appOrigin(view)}/${path}`,
  appOrigin,
  firesLoadOncePerDocument: true,
};
