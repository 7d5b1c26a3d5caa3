// Page of an app that sends messages at a fixed rate, and the record of frames in the meantime.

/**
 * Kinds of messages in the order in which the app sends them. Without messages, frames show the load of other programs,
 * at the beginning and at the end.
 */
export const KINDS = ["none", "pings", "log messages", "changes of the size", "unknown notifications", "text", "none"];

/** Interval between animation frames in milliseconds. */
const FRAME_INTERVAL_MS = 1000 / 60;

/** Returns a page that is initialized as an app, and sends messages when `flood` is called. */
export function floodPage() {
  return `<!doctype html><title>Flood</title><h1>Flood</h1><p id="state">starting</p><script>
    const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
    const notify = (method, params) => post({ method, params });
    const MESSAGES = {
      "pings": (number) => post({ id: number, method: "ping" }),
      "log messages": (number) => notify("notifications/message", { level: "info", data: "line " + number }),
      "changes of the size": (number) => notify("ui/notifications/size-changed", { height: 200 + (number % 200) }),
      "unknown notifications": (number) => notify("notifications/" + number, {}),
      "text": (number) => parent.postMessage("message " + number, "*"),
    };
    addEventListener("message", ({ source, data }) => {
      if (source !== parent) return;
      if (data.method === "ui/resource-teardown") post({ id: data.id, result: {} });
      if (data.id !== "initialize") return;
      post({ method: "ui/notifications/initialized" });
      document.getElementById("state").textContent = "ready";
    });
    let last = 0;
    /** Sends messages of this kind, so many a second for this time in milliseconds. Resolves to their number. */
    function flood(kind, rate, duration) {
      const startedAt = performance.now();
      let sent = 0;
      return new Promise((done) => {
        const timer = setInterval(() => {
          const passed = Math.min(performance.now() - startedAt, duration);
          for (; kind in MESSAGES && sent < (passed / 1000) * rate; sent++) MESSAGES[kind]((last += 1));
          if (passed < duration) return;
          clearInterval(timer);
          done(sent);
        }, 5);
      });
    }
    post({ id: "initialize", method: "ui/initialize", params: {
      protocolVersion: "2026-01-26", appInfo: { name: "flood", version: "1" }, appCapabilities: {},
    } });
  </script>`;
}

/** Runs `act` and returns statistics of the frames in the meantime. */
export async function recordFrames(page, act) {
  await page.evaluate(() => {
    const intervals = (globalThis.intervals = []);
    globalThis.records = true;
    let last = null;
    const frame = (now) => {
      if (last !== null) intervals.push(now - last);
      last = now;
      if (globalThis.records) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await act();
  const intervals = await page.evaluate(() => {
    globalThis.records = false;
    return globalThis.intervals;
  });
  const sorted = intervals.toSorted((a, b) => a - b);
  return {
    count: sorted.length,
    dropped: sorted.reduce((sum, interval) => sum + Math.max(0, Math.round(interval / FRAME_INTERVAL_MS) - 1), 0),
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    longest: sorted.at(-1) ?? 0,
  };
}
