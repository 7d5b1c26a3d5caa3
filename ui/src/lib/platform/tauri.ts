// Platform of the desktop window.
import { Channel, invoke } from "@tauri-apps/api/core";

import type { Events } from "$lib/api/generated";
import { isMac } from "$lib/operating-system";

import type { Platform, ShellEvent } from "./platform";

// Some engines report "null" as the `origin` of URLs with custom schemes, so it is not read from a URL.
const appOrigin = (view: string) => `drawbridge-app://${view}`;

export const tauriPlatform: Platform = {
  call: (name, request) => invoke(name, { request }),
  async listen(receive) {
    const channel = new Channel<Events>();
    channel.onmessage = (batch) => {
      // The number of unacknowledged batches is limited.
      void invoke("acknowledge_events").catch(() => undefined);
      receive(batch);
    };
    await invoke("listen_events", { channel });
  },
  async listenShell(receive) {
    const channel = new Channel<ShellEvent>();
    channel.onmessage = receive;
    await invoke("listen_shell_events", { channel });
  },
  closingShown: () => void invoke("confirm_closing_dialog").catch(() => undefined),
  finishClosing: (choice) => invoke("finish_closing", { choice }),
  desktopReport: () => invoke("desktop_report"),
  setLoginStart: (on) => invoke("set_login_start", { on }),
  setLinkHandler: (on) => invoke("set_link_handler", { on }),
  zooms: true,
  setZoom: (percent) => void invoke("set_zoom", { percent }).catch(() => undefined),
  hasConversationWindows: true,
  openConversationWindow: (conversation) => invoke("open_conversation_window", { conversation }),
  closeWindow: () => void invoke("finish_closing_window").catch(() => undefined),
  showRequestElsewhere: (id) => invoke("show_request_elsewhere", { id }),
  showMainWindow: (view) => void invoke("show_main_window", { view }).catch(() => undefined),
  dismissStoppedApps: (report) =>
    void invoke("dismiss_stopped_apps", { report }).catch(() => undefined),
  releaseStoppedApps: (server) =>
    void invoke("release_stopped_apps", { server }).catch(() => undefined),
  menuBar: isMac ? "always" : "optional",
  setMenuBar: (content) => void invoke("set_menu_bar", { content }).catch(() => undefined),
  openingDone: (id) => void invoke("finish_opening", { id }).catch(() => undefined),
  updateReport: () => invoke("app_updates_report"),
  checkForUpdate: () => invoke("check_app_updates"),
  installUpdate: (version) => invoke("install_app_update", { version }),
  stopUpdate: () => invoke("stop_app_update"),
  painted: () => void invoke("report_first_paint").catch(() => undefined),
  consentDrawn: (id) => void invoke("report_drawn_consent_request", { id }).catch(() => undefined),
  pageSandbox: () => invoke("page_sandbox"),
  retryPageSandbox: () => invoke("retry_page_sandbox"),
  appUrl: (view, path) => `${appOrigin(view)}/${path}`,
  appOrigin,
  firesLoadOncePerDocument: false,
};
