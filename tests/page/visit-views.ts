// Visits every view of the page, the same for every language and size. Requests are made and decided without the
// page, because only the appearance matters here.
import { expect, type Page } from "@playwright/test";

import type { DevHost } from "./dev-host";
import { consentRequest, visit } from "./fixtures";
import { ScriptedSignIn, redirectUrl } from "./scripted-sign-in";
import { visitModels } from "./visit-models";

/** Called with the name of each view once it is rendered. */
export type OnView = (name: string) => Promise<void>;

const ALLOW_ONCE = { action: "allow", scope: "once" };
const DENY = { action: "deny" };

export async function visitViews(app: Page, host: DevHost, onView: OnView): Promise<void> {
  await pages(app, host, onView);
  await calls(app, host, onView);
  await remote(app, host, onView);
  await signIn(app, host, onView);
  await visitConsentRequests(app, host, onView);
  await overlays(app, onView);
}

async function pages(app: Page, host: DevHost, onView: OnView): Promise<void> {
  const views: [string, string][] = [
    ["welcome", "#/welcome"],
    ["overview", "#/server/harbour/overview"],
    ["tools", "#/server/harbour/tools"],
    ["tool-form", "#/server/harbour/tools/plan_trip"],
    ["prompts", "#/server/harbour/prompts/greet_ship"],
    ["resources", "#/server/harbour/resources"],
    ["resource", `#/server/harbour/resources/${encodeURIComponent("harbour:///guide.md")}`],
    ["roots", "#/server/harbour/roots"],
    ["permissions", "#/server/harbour/permissions"],
    ["limits", "#/server/harbour/limits"],
    ["server-settings", "#/server/harbour/settings"],
    ["add-server", "#/add-server"],
    ["import", "#/import"],
    ["all-tools", "#/tools"],
    ["rules", "#/rules"],
    ["audit", "#/audit"],
    ["settings", "#/settings"],
    ["guide", "#/guide"],
  ];
  for (const [name, hash] of views) {
    await visit(app, hash);
    await onView(name);
  }
  await visit(app, "#/audit");
  await app.locator("main tr button").first().click();
  await app.getByRole("main").getByRole("button").first().click();
  await expect(app.getByTestId("audit-verdict")).not.toBeEmpty();
  await onView("audit-details");
  await host.call("start_server", { server: "missing" });
  await expect.poll(async () => (await host.snapshot()).servers[1]?.state.is).toBe("failed");
  await visit(app, "#/server/missing/overview");
  await onView("failed");
  await visit(app, "#/server/harbour/activity");
  await expect(app.getByTestId("activity-list").getByRole("option").first()).toBeVisible();
  await onView("activity");
  await app.getByTestId("activity-list").getByRole("option").nth(2).click();
  await onView("activity-details");
  await app.keyboard.press("Escape");
}

async function calls(app: Page, host: DevHost, onView: OnView): Promise<void> {
  await visit(app, "#/server/harbour/tools/show_everything");
  await app.locator("main form button[type=submit]").click();
  await host.answerNext("tool", ALLOW_ONCE);
  const result = app.getByTestId("tool-result");
  await expect(result).toHaveAttribute("data-state", "done");
  await result.scrollIntoViewIfNeeded();
  await onView("tool-result");

  const { id } = await host.call<{ id: string }>("create_conversation", { title: "Trip to Bergen" });
  const call = host.call<{ content: unknown }>("call_tool", {
    ...{ call: "walk", server: "harbour", tool: "add", arguments: { a: 1, b: 2 }, conversation: id },
  });
  await host.answerNext("tool", ALLOW_ONCE);
  const now = Date.now();
  const message = { kind: "message", role: "user", content: [{ type: "text", text: MESSAGE }], prompt: null };
  const ran = { kind: "tool_call", call: "walk", server: "harbour", tool: "add", arguments: { a: 1, b: 2 } };
  await host.call("append_items", {
    conversation: id,
    items: [
      { id: "1", at: now, body: message },
      { id: "2", at: now, body: { ...ran, result: await call, error: null, took: 12 } },
    ],
  });
  await visit(app, `#/conversation/${id}`);
  await expect(app.getByRole("main").getByText("Trip", { exact: false }).first()).toBeVisible();
  await onView("conversation");
  // In a small window the left column is opened by a button.
  const search = app.locator("nav input[type=search]").first();
  if (await search.isVisible()) {
    await search.fill("berg");
    await expect(app.locator("nav mark").first(), "the message should be found").toBeVisible();
    await onView("search-conversations");
    await search.fill("");
  }
  await visitModels(app, host, onView, id);
}

const MESSAGE = "# A trip\n\nTwo days in **Bergen**, then north. What do we need?\n\n- oil\n- charts\n\n`cast_off --now`";

/** Visits the views of a server with a URL, as far as they can be shown while it is not running. */
async function remote(app: Page, host: DevHost, onView: OnView): Promise<void> {
  const url = "http://mcp.harbour.example/v1/ships?team=7";
  await visit(app, "#/add-server");
  await app.locator("main textarea").fill(url);
  await expect(app.locator("main input[type=url]")).toHaveValue(url);
  await app.locator("main fieldset button").first().click();
  await onView("add-server-url");
  const headers = [{ name: "Authorization", value: "Bearer x", secret: false }];
  const config = { type: "http", url, headers, kind: null, revision: "2025-11-25" };
  await host.call("add_server", { name: "far", config });
  await visit(app, "#/server/far/overview");
  await onView("remote-overview");
  await visit(app, "#/server/far/settings");
  await onView("remote-settings");
  await host.call("start_server", { server: "far" });
  await host.consentRequest("connect_server");
  await expect(consentRequest(app)).toBeVisible();
  await onView("consent-request-connect-server");
  await host.answerNext("connect_server", { action: "cancel" });
  await host.call("remove_server", { server: "far" });
}

/** Visits the views of a server that requires a sign-in: before, during and after it, and with further scopes. */
async function signIn(app: Page, host: DevHost, onView: OnView): Promise<void> {
  const scopes = "openid offline_access ships:read";
  const authServer = await ScriptedSignIn.start({}, { challengeScope: scopes, toolScopes: { echo: "ships:write" } });
  const panel = "#/server/far/sign-in";
  const captureRequest = async (name: string) => {
    await host.consentRequest("sign_in");
    await expect(consentRequest(app)).toBeVisible();
    await onView(name);
  };
  const page = async () => {
    const before = host.opened().length;
    await host.answerNext("sign_in", ALLOW_ONCE);
    await expect.poll(() => host.opened().length).toBe(before + 1);
    return host.opened().at(-1)!;
  };
  const server = async () => (await host.snapshot()).servers.find(({ name }) => name === "far")?.state.is;

  await host.call("add_server", {
    name: "far",
    config: { type: "http", url: authServer.server, headers: [], kind: null, revision: null },
  });
  void host.call("start_server", { server: "far" });
  await host.answerNext("connect_server", ALLOW_ONCE);
  await visit(app, panel);
  await captureRequest("consent-request-sign-in");
  await host.answerNext("sign_in", DENY);
  await expect(consentRequest(app)).toBeHidden();
  await onView("sign-in-refused");
  await visit(app, "#/server/far/overview");
  await onView("needs-sign-in");

  await host.call("sign_in", { server: "far" });
  const first = await page();
  await visit(app, panel);
  await expect(app.locator("main summary")).toBeVisible();
  await app.locator("main summary").click();
  await onView("sign-in-browser");
  await host.call("complete_sign_in", { server: "far", url: await redirectUrl(first) });
  await expect.poll(server).toBe("ready");
  await onView("sign-in-account");

  const called = host
    .call("call_tool", { call: "far", server: "far", tool: "echo", arguments: { text: "a" } })
    .catch(() => undefined);
  await host.answerNext("tool", ALLOW_ONCE);
  await captureRequest("consent-request-step-up");
  await host.answerNext("sign_in", DENY);
  await called;
  await host.call("remove_server", { server: "far" });
  await authServer.stop();
}

async function visitConsentRequests(app: Page, host: DevHost, onView: OnView): Promise<void> {
  const shown = async (name: string) => {
    await expect(consentRequest(app)).toBeVisible();
    await onView(`consent-request-${name}`);
  };
  const tool = (tool: string, args: object = {}) =>
    host.call("call_tool", { call: tool, server: "harbour", tool, arguments: args }).catch(() => undefined);

  await host.call("start_server", { server: "second" });
  await host.consentRequest("start_server");
  await shown("start-server");
  await host.answerNext("start_server", { action: "cancel" });

  const note = tool("write_note", { name: "packing-list", text: "oil, charts, tea ".repeat(60) });
  await host.consentRequest("tool");
  await shown("tool");
  await host.answerNext("tool", DENY);
  await note;

  const model = tool("ask_model", { with_sound: true });
  await host.answerNext("tool", ALLOW_ONCE);
  await host.consentRequest("sampling");
  await shown("sampling-request");
  await host.answerNext("sampling", ALLOW_ONCE);
  await expect(consentRequest(app).getByRole("textbox").first()).toBeVisible();
  await shown("sampling-answer");
  await host.answerNext("sampling", DENY);
  await model;

  for (const [name, kind] of [
    ["ask_user", "form"],
    ["ask_url", "url"],
    ["list_folders", "roots"],
  ] as const) {
    const call = tool(name);
    await host.answerNext("tool", ALLOW_ONCE);
    await host.consentRequest(kind);
    await shown(kind);
    await host.answerNext(kind, DENY);
    await call;
    // Three consecutive denials would mute the server.
    await host.call("unmute_server", { server: "harbour" });
  }

  const flood = ["1", "2", "3", "4", "5"].map((call) =>
    host.call("call_tool", { call, server: "harbour", tool: "fail", arguments: {} }).catch(() => undefined),
  );
  await expect.poll(async () => (await host.snapshot()).consentRequests.length).toBe(flood.length);
  await consentRequest(app).locator("nav button").last().click();
  await expect(app.getByTestId("queue")).toBeVisible();
  await onView("queue");
  await host.call("deny_all_consent_requests", { server: "harbour", mute: false });
  await Promise.all(flood);
  await app.keyboard.press("Escape");
}

async function overlays(app: Page, onView: OnView): Promise<void> {
  await visit(app, "#/server/harbour/overview");
  await expect(app.getByRole("dialog")).toHaveCount(0);
  await app.keyboard.press("Control+k");
  await expect(app.getByRole("dialog")).toBeVisible();
  await onView("palette");
  await app.keyboard.press("Escape");
  await expect(app.getByRole("dialog")).toHaveCount(0);
  await app.keyboard.press("?");
  await expect(app.getByRole("dialog")).toBeVisible();
  await onView("shortcuts");
  await app.keyboard.press("Escape");
}
