import { render, screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, test } from "vitest";

import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import App from "../App.svelte";

// Preloaded, so that the tests do not wait for it.
await import("./GuideView.svelte");

const user = userEvent.setup();
/** Settings with a server, so that the window does not open with the welcome view. */
const SERVERS = [sampleServer({ name: "files" })];
/** Timeout for the first load of a page. Each page is a separate chunk, which loads slowly on a busy machine. */
const LOADED = { timeout: 10_000 };
const settings = (language: "en" | "zh") => ({
  ...({ theme: "light", language, welcomeDone: true, announce: true } as const),
  ...{ auditDays: 0, auditMegabytes: 1000, auditContents: true, onClose: "ask" as const },
  checkUpdates: false,
  zoom: 100,
  menuBar: false,
});

beforeEach(() => {
  history.replaceState(null, "", "#/tools");
  router.current = { at: "tools" };
});

describe("the user guide", () => {
  test("opens its first page on F1, and lists the others", async () => {
    await startFakeHost({}, { settings: settings("en"), servers: SERVERS });
    render(App);
    await user.keyboard("{F1}");
    const pages = await screen.findByRole("navigation", { name: "Pages of the user guide" });
    expect(router.current).toEqual({ at: "guide" });
    const links = within(pages).getAllByRole("link");
    expect(links.map((link) => link.textContent)).toContain("Sign in to a server");
    const page = screen.getByRole("article", { name: "Connect a server" });
    expect(
      await within(page).findByRole("heading", { name: "Your first five minutes" }, LOADED),
    ).toBeVisible();
    expect(within(page).queryByText("json"), "a block of code should have no label").toBeNull();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("is in the language of the window", async () => {
    await startFakeHost({}, { settings: settings("zh"), servers: SERVERS });
    render(App);
    await user.keyboard("{F1}");
    await screen.findByRole("article");
    router.current = { at: "guide", page: "sandbox" };
    expect(await screen.findByRole("heading", { name: "打开沙盒" }, LOADED)).toBeVisible();
    const page = screen.getByRole("article", { name: "在沙盒中运行服务器" });
    expect(within(page).getByText("drawbridge-cli sandbox files")).toBeVisible();
  });

  test("shows the first page for an unknown name", async () => {
    await startFakeHost({}, { settings: settings("en"), servers: SERVERS });
    render(App);
    await user.keyboard("{F1}");
    await screen.findByRole("article");
    router.current = { at: "guide", page: "../secrets" };
    expect(await screen.findByRole("article", { name: "Connect a server" })).toBeVisible();
  });
});
