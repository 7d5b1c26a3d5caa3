// Attempts to send something to another computer. `to` has the addresses of the listener, different for each attempt.
import { CLOSED, loads, made, reach, unobserved } from "./attempt-tools.mjs";

const style = (text) => unobservedElement(made("style", { textContent: text }), document.head);
const link = (rel, to, properties = {}) =>
  unobservedElement(made("link", { rel, href: to.http, ...properties }), document.head);

async function unobservedElement(element, parent = document.body) {
  const outcome = await unobserved(() => parent.append(element));
  element.remove();
  return outcome;
}

function svg(content) {
  return unobservedElement(
    made("div", { innerHTML: `<svg xmlns:xlink="http://www.w3.org/1999/xlink">${content}</svg>` }),
  );
}

/** Submits a form into a nested frame, so that the page itself stays. */
async function submit(method, to, more = {}) {
  const frame = made("iframe", { name: `form-${method}` });
  const form = made("form", { method, action: to.http, target: frame.name, ...more });
  form.append(made("input", { name: "secret", value: "1" }));
  document.body.append(frame, form);
  const outcome = await unobserved(() => form.submit());
  frame.remove();
  form.remove();
  return outcome;
}

function xhr(to, isAsync) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.onload = () => resolve("reached by XHR");
    request.onerror = () => resolve(CLOSED);
    request.open("GET", to.http, isAsync);
    request.send();
  });
}

export const networkAttempts = [
  ["fetch", (to) => reach("it", async () => (await fetch(to.http)).status)],
  ["fetch without CORS", (to) => reach("it", async () => (await fetch(to.http, { mode: "no-cors" })).type)],
  [
    "fetch that outlives the page",
    (to) => reach("it", async () => (await fetch(to.http, { keepalive: true, mode: "no-cors" })).type),
  ],
  ["fetch with a body", (to) => reach("it", async () => (await fetch(to.http, { method: "POST", body: "x" })).status)],
  ["fetch later", (to) => unobserved(() => window.fetchLater(to.http, { activateAfter: 0 }))],
  ["XMLHttpRequest", (to) => xhr(to, true)],
  ["synchronous XMLHttpRequest", (to) => xhr(to, false)],
  [
    "a WebSocket",
    (to) =>
      new Promise((resolve) => {
        const socket = new WebSocket(to.ws);
        socket.onopen = () => resolve("connected");
        socket.onerror = () => resolve(CLOSED);
      }),
  ],
  [
    "a stream of events",
    (to) =>
      new Promise((resolve) => {
        const source = new EventSource(to.http);
        source.onopen = () => resolve("connected");
        source.onerror = () => (source.close(), resolve(CLOSED));
      }),
  ],
  ["a beacon", (to) => unobserved(() => navigator.sendBeacon(to.http, "x"))],
  ["a ping of a link", (to) => unobserved(() => made("a", { href: "#ping", ping: to.http }).click())],
  [
    "WebTransport",
    (to) => reach("it", async () => (await new window.WebTransport(to.http.replace("http:", "https:")).ready, "connected")),
  ],
  [
    "WebRTC",
    async (to) => {
      const connection = new window.RTCPeerConnection({ iceServers: [{ urls: to.stun }] });
      connection.createDataChannel("x");
      await connection.setLocalDescription();
      const found = await new Promise((resolve) => {
        connection.onicecandidate = ({ candidate }) => candidate && resolve(candidate.candidate);
        setTimeout(resolve, 700);
      });
      connection.close();
      return reach("a network address", () => found);
    },
  ],

  ["an image", (to) => loads(made("img", { src: to.http }))],
  ["an image without an element", (to) => unobserved(() => (new Image().src = to.http))],
  ["an image from a set", (to) => loads(made("img", { srcset: `${to.http} 1x` }))],
  ["an image of a button", (to) => loads(made("input", { type: "image", src: to.http }))],
  ["an image of SVG", (to) => svg(`<image href="${to.http}" width="9" height="9"/>`)],
  [
    "an image of a filter",
    (to) => svg(`<filter id="f"><feImage href="${to.http}"/></filter><rect filter="url(#f)" width="9" height="9"/>`),
  ],
  ["a reference of SVG", (to) => svg(`<use href="${to.http}#x"/>`)],
  ["a background attribute", (to) => unobservedElement(made("table", {}, { background: to.http }))],
  ["a script", (to) => loads(made("script", { src: to.http }))],
  ["a module", (to) => loads(made("script", { type: "module", src: to.http }))],
  ["an imported module", (to) => reach("it", () => import(to.http))],
  [
    "a script of SVG",
    (to) => {
      const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const script = document.createElementNS("http://www.w3.org/2000/svg", "script");
      script.setAttribute("href", to.http);
      drawing.append(script);
      return unobservedElement(drawing);
    },
  ],
  ["a style sheet", (to) => loads(made("link", { rel: "stylesheet", href: to.http }), document.head)],
  ["an import of a style sheet", (to) => style(`@import url("${to.http}");`)],
  ["a background of a style sheet", (to) => style(`body { background-image: url("${to.http}"); }`)],
  ["a cursor of a style sheet", (to) => style(`html, body { cursor: url("${to.http}"), auto; }`)],
  [
    "a mask of a style sheet",
    (to) => style(`h1 { -webkit-mask-image: url("${to.http}"); mask-image: url("${to.http}"); }`),
  ],
  ["content of a style sheet", (to) => style(`h1::before { content: url("${to.http}"); }`)],
  [
    "a font of a style sheet",
    (to) => style(`@font-face { font-family: far; src: url("${to.http}"); } h1 { font-family: far; }`),
  ],
  ["a font", (to) => reach("it", () => new FontFace("far", `url("${to.http}")`).load())],
  ["audio", (to) => loads(made("audio", { src: to.http, preload: "auto" }))],
  ["video", (to) => loads(made("video", { src: to.http, preload: "auto" }))],
  ["the poster of a video", (to) => unobservedElement(made("video", { poster: to.http }))],
  [
    "subtitles",
    (to) => {
      const video = made("video");
      const track = made("track", { src: to.http, default: true });
      video.append(track);
      track.track.mode = "showing";
      return unobservedElement(video);
    },
  ],
  ["an object", (to) => loads(made("object", { data: to.http }))],
  ["an embedded object", (to) => loads(made("embed", { src: to.http }))],

  ["a prefetched page", (to) => link("prefetch", to)],
  ["a preloaded image", (to) => link("preload", to, { as: "image" })],
  ["a preloaded script", (to) => link("preload", to, { as: "script" })],
  ["a preloaded fetch", (to) => link("preload", to, { as: "fetch" })],
  ["a preloaded module", (to) => link("modulepreload", to)],
  ["a connection in advance", (to) => link("preconnect", to)],
  ["a connection in advance with credentials", (to) => link("preconnect", to, { crossOrigin: "use-credentials" })],
  ["a lookup in advance", (to) => link("dns-prefetch", to)],
  ["a page drawn in advance", (to) => link("prerender", to)],
  [
    "rules for pages to prefetch",
    (to) =>
      unobservedElement(
        made("script", {
          type: "speculationrules",
          textContent: JSON.stringify({ prefetch: [{ source: "list", urls: [to.http], eagerness: "immediate" }] }),
        }),
      ),
  ],
  ["a manifest", (to) => link("manifest", to)],
  ["an icon", (to) => link("icon", to)],
  [
    "a base address",
    async (to) => {
      const base = made("base", { href: to.http });
      document.head.append(base);
      const outcome = await loads(made("img", { src: new URL(to.http).pathname }));
      base.remove();
      return outcome;
    },
  ],
  [
    "a report by a policy of the page",
    (to) =>
      unobservedElement(
        made("meta", {
          httpEquiv: "Content-Security-Policy",
          content: `img-src 'none'; report-uri ${to.http}`,
        }),
        document.head,
      ),
  ],

  ["a form by GET", (to) => submit("get", to)],
  ["a form by POST", (to) => submit("post", to)],
  ["a form in a new window", (to) => submit("post", to, { target: "_blank" })],
];
