// Server over stdio with one tool, `show`, whose app is the page in a file. The file is read for each request, so that a
// test can change the page.
import { readFileSync } from "node:fs";

import { APP_TYPE, serve, text } from "../apps/stdio.mjs";

const PAGE = "ui://scripted/page.html";

const tool = {
  name: "show",
  description: "Shows a page.",
  inputSchema: { type: "object" },
  _meta: { ui: { resourceUri: PAGE } },
};

serve({
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": () => text("This is the text of the result."),
  "resources/list": () => ({ resources: [{ uri: PAGE, name: "page.html", mimeType: APP_TYPE }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": () => {
    const { html, ui } = JSON.parse(readFileSync(process.argv[2], "utf8"));
    return { contents: [{ uri: PAGE, mimeType: APP_TYPE, text: html, _meta: { ui: ui ?? {} } }] };
  },
});
