// The desktop window.
import { Channel, invoke } from "@tauri-apps/api/core";

import type { Events } from "$lib/api/generated";

import type { Platform } from "./platform";

export const tauri: Platform = {
  call: (name, request) => invoke(name, { request }),
  async listen(receive) {
    const channel = new Channel<Events>();
    channel.onmessage = (batch) => {
      // Only so many batches are on their way at once; the next ones wait for this word.
      void invoke("events_seen").catch(() => undefined);
      receive(batch);
    };
    await invoke("listen_events", { channel });
  },
  painted: () => void invoke("painted").catch(() => undefined),
  questionDrawn: (id) => void invoke("question_drawn", { id }).catch(() => undefined),
  pageSandbox: () => invoke("page_sandbox"),
  retryPageSandbox: () => invoke("retry_page_sandbox"),
};
