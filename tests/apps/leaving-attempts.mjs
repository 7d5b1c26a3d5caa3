// Attempts that replace the page of the app, or that of the window, if they succeed. Each runs alone in a new frame.
import { CLOSED, made, unobserved } from "./attempt-tools.mjs";
import { siblingOrigin } from "./window-attempts.mjs";

const follow = (properties) =>
  unobserved(() => {
    const anchor = made("a", properties);
    document.body.append(anchor);
    anchor.click();
  });

function submitTo(target, to) {
  const form = made("form", { method: "get", action: to.http, target });
  document.body.append(form);
  return unobserved(() => form.submit());
}

const leftDocument = `<script>parent.postMessage("left", "*")</scr${"ipt>"}`;

export const leavingAttempts = [
  ["the address of the top window", (to) => unobserved(() => (top.location.href = to.http))],
  ["the address of the parent by replacement", (to) => unobserved(() => parent.location.replace(to.http))],
  ["a link to the top window", (to) => follow({ href: to.http, target: "_top" })],
  ["a link to the parent", (to) => follow({ href: to.http, target: "_parent" })],
  ["a form to the top window", (to) => submitTo("_top", to)],
  ["a script for the top window", () => unobserved(() => (top.location = "javascript:document.title='escaped'"))],
  ["the end of the top window", () => unobserved(() => top.close())],
  ["its own address by assignment", (to) => unobserved(() => location.assign(to.http))],
  ["its own address by replacement", (to) => unobserved(() => location.replace(to.http))],
  ["a link", (to) => follow({ href: to.http })],
  ["a download from another computer", (to) => follow({ href: to.http, download: "escape.txt" })],
  ["a form to itself", (to) => submitTo("_self", to)],
  [
    "a refresh",
    (to) => unobserved(() => document.head.append(made("meta", { httpEquiv: "refresh", content: `0;url=${to.http}` }))),
  ],
  ["a data address", () => unobserved(() => (location.href = `data:text/html,${encodeURIComponent(leftDocument)}`))],
  [
    "a blob address",
    () => unobserved(() => (location.href = URL.createObjectURL(new Blob([leftDocument], { type: "text/html" })))),
  ],
  ["the address of another app", () => unobserved(() => (location.href = `${siblingOrigin()}/`))],
  ["its own address again", () => unobserved(() => location.reload())],
  [
    "the address of the host's page",
    () => unobserved(() => (location.href = location.ancestorOrigins?.[0] ?? "tauri://localhost")),
  ],
  ["the history", () => unobserved(() => history.back())],
  [
    "a script address",
    async (to) => {
      location.href = `javascript:void fetch(${JSON.stringify(to.http)}, { mode: "no-cors" })`;
      return unobserved(() => CLOSED);
    },
  ],
];
