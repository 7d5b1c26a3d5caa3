// Reports blocked requests, uncaught errors and console output of an app to its host. Runs before all scripts of the
// app, which can forge and prevent reports. The lines are joined in the document (`script.rs`), so that comments have
// lines of their own and statements end with semicolons.
(() => {
  // The app finds its document as its server wrote it.
  document.currentScript.remove();
  const host = parent;
  const MAX_REPORTS = 1000;
  const MAX_BURST = 50;
  const REPORTS_PER_SECOND = 10;
  // In UTF-16 code units. With escapes, a report stays within the host's limit.
  const MAX_TEXT = 2000;
  const MAX_VALUES = 20;
  const MAX_MEMBERS = 200;
  const LEVELS = { error: "error", warn: "warning", info: "info", log: "info", debug: "debug" };
  const WEBGL = ["webgl", "webgl2", "experimental-webgl"];
  const LAST = { type: "console", level: "warning", text: "Further reports are dropped until the app is reloaded." };
  let sent = 0;
  let dropped = 0;
  let tokens = MAX_BURST;
  let refilledAt = performance.now();

  // Sends the report that `describe` returns, unless there are too many.
  const report = (describe) => {
    try {
      const now = performance.now();
      tokens = Math.min(MAX_BURST, tokens + ((now - refilledAt) / 1000) * REPORTS_PER_SECOND);
      refilledAt = now;
      if (tokens < 1 || sent >= MAX_REPORTS) {
        dropped += 1;
        return;
      }
      tokens -= 1;
      sent += 1;
      host.postMessage({ mcpAppDiagnostic: sent === MAX_REPORTS ? LAST : describe(), dropped }, "*");
      dropped = 0;
    } catch {
      dropped += 1;
    }
  };
  const cut = (text) => String(text).slice(0, MAX_TEXT);
  const failed = (text) => ({ type: "failed", text: cut(text) });

  // Some engines repeat the message at the beginning of the stack.
  const errorText = (error) => {
    const head = `${error.name}: ${error.message}`;
    const stack = String(error.stack ?? "");
    return stack.startsWith(head) ? stack : `${head}\n${stack}`.trim();
  };
  const isPlain = (value) => Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value));
  const json = (value) => {
    let left = MAX_MEMBERS;
    return JSON.stringify(value, (_, member) => {
      left -= 1;
      if (left < 0) throw new RangeError("too many members");
      return typeof member === "string" ? cut(member) : member;
    });
  };
  const valueText = (value) => {
    if (value instanceof Error) return errorText(value);
    if (typeof value !== "object" || value === null) return String(value);
    try {
      if (isPlain(value)) return json(value);
    } catch {
      // The value is too large or cyclic, or has members that are not JSON.
    }
    return Object.prototype.toString.call(value);
  };

  addEventListener(
    "securitypolicyviolation",
    ({ disposition, effectiveDirective, violatedDirective, blockedURI }) => {
      if (disposition === "report") return;
      const directive = effectiveDirective || violatedDirective;
      report(() => ({ type: "blocked", directive: cut(directive), address: cut(blockedURI) }));
    },
    true,
  );
  addEventListener(
    "error",
    (event) => {
      const { target } = event;
      if (event instanceof ErrorEvent) {
        const { error, message, lineno } = event;
        report(() => failed(`Line ${lineno}: ${error instanceof Error ? errorText(error) : message}`));
      } else if (target instanceof HTMLScriptElement) {
        report(() => failed(`A script could not be loaded: ${target.src}`));
      }
    },
    true,
  );
  addEventListener(
    "unhandledrejection",
    ({ reason }) => report(() => failed(`Unhandled rejection: ${valueText(reason)}`)),
    true,
  );
  for (const [method, level] of Object.entries(LEVELS)) {
    const original = console[method];
    console[method] = (...values) => {
      report(() => {
        const text = values.slice(0, MAX_VALUES).map(valueText).join(" ");
        return { type: "console", level, text: cut(text) };
      });
      return original.apply(console, values);
    };
  }

  let isWebglMissing = false;
  const { getContext } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.getContext = function (...values) {
    const context = getContext.apply(this, values);
    if (context === null && !isWebglMissing && WEBGL.includes(values[0])) {
      // A canvas with a context of another kind has no context for WebGL either.
      isWebglMissing = getContext.call(document.createElement("canvas"), values[0]) === null;
      if (isWebglMissing) report(() => ({ type: "webgl_missing" }));
    }
    return context;
  };
})();
