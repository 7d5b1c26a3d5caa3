import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type {
  AppDiagnostic,
  AppDisplayMode,
  AppPageReport,
  AppViewChange,
  DisplayedCall,
  OpenedApp,
  Tool,
} from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import {
  NO_EXPIRY,
  REVIEWED_DEFINITION,
  sampleServer,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import { dialogController, showConsent } from "../consent";
import { consentRequest, startServerBody } from "../consent/fixtures";
import { contextItemsOf } from "../conversation/context-items.svelte";
import AppPanel from "./AppPanel.svelte";
import { raisedApp } from "./raised-app.svelte";
import { streamedApps, toolUseKey } from "./streamed-apps.svelte";

const VIEW = "00112233445566778899aabbccddeeff";
const HASH = "0123456789abcdef".repeat(4);
const PAGE: AppPageReport = {
  ...{ uri: "ui://files/chart", hash: HASH, bytes: 2000, review: "new", notes: ["ignored x"] },
  grants: { declaredOrigins: true, loopback: true, everyHost: true, permissions: [] },
  permissions: [],
  sources: [
    { usedAs: "connect", origin: "https://api.example", reach: "internet" },
    { usedAs: "connect", origin: "http://localhost:8080", reach: "loopback" },
    { usedAs: "resource", origin: "*", reach: "every_host" },
  ],
};
const OPENED: OpenedApp = {
  ...{ view: VIEW, uri: "ui://files/chart" },
  ...{ sandbox: "allow-scripts allow-same-origin", allow: "camera", hasBorder: true },
};
const CALL: DisplayedCall = { type: "item", conversation: "c1", item: "i1" };
const TOOL: Tool = {
  ...{ name: "chart", title: null, description: null, outputSchema: null, icons: [] },
  inputSchema: { type: "object" },
  claims: {
    ...{ readOnly: null, destructive: null, idempotent: null, openWorld: null },
    asksEachTime: false,
  },
  allowed: false,
  ...REVIEWED_DEFINITION,
  others: { _meta: { ui: { resourceUri: "ui://files/chart" } } },
};

let host: FakeHost;
let page: AppPageReport;

beforeEach(async () => {
  page = PAGE;
  const lists = { server: "files", prompts: [], resources: [], templates: [], notes: [] };
  host = await startFakeHost(
    {
      read_catalog: () => ({ ...lists, tools: [TOOL], freshUntil: NO_EXPIRY }),
      read_app_page: () => page,
      open_app: () => OPENED,
      read_app_document: () => ({ html: "<p>chart</p>", policy: "default-src 'none'" }),
    },
    { servers: [sampleServer()] },
  );
});
afterEach(cleanup);

const show = (fresh = false) =>
  render(AppPanel, { server: "files", tool: "chart", call: CALL, fresh });
const button = (name: string) => screen.findByRole("button", { name });
const frame = () => screen.queryByTitle<HTMLIFrameElement>("App of files: chart");

test("requests nothing from the server until the user shows the app", async () => {
  show();
  await button("Show app");
  expect(host.requests("read_app_page"), "the page should not be read").toEqual([]);
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("shows the last state of a closed conversation's app, and requests nothing", async () => {
  const lastState = (uri: string | null) =>
    ({ is: "context", text: `Card 7 of ${uri ?? "?"}` }) as const;
  render(AppPanel, { server: "files", tool: "chart", call: CALL, fresh: false, lastState });
  await button("Show app again");
  expect(screen.getByText("The app last gave this to the model:")).toBeVisible();
  expect(await screen.findByText("Card 7 of ui://files/chart")).toBeVisible();
  for (const command of ["read_app_page", "open_app"] as const) {
    expect(host.requests(command), `${command} should not be sent`).toEqual([]);
  }
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("shows nothing for a tool without an app", async () => {
  host.answers.read_catalog = () => ({
    ...{ server: "files", prompts: [], resources: [], templates: [], notes: [] },
    ...{ tools: [{ ...TOOL, others: null }], freshUntil: NO_EXPIRY },
  });
  const { container } = show(true);
  await waitFor(() => expect(host.requests("read_catalog").length).toBe(1));
  await Promise.resolve();
  expect(container).toHaveTextContent("");
  expect(host.requests("read_app_page")).toEqual([]);
});

test("approves the page with what the user grants, and opens it", async () => {
  const user = userEvent.setup();
  show();
  await user.click(await button("Show app"));
  expect(await screen.findByText("https://api.example")).toBeVisible();
  expect(screen.getByText("ui://files/chart"), "the page should be named").toBeVisible();
  expect(screen.getByText("Hash: 01234567")).toBeVisible();
  expect(screen.getByText("Every host"), "`*` should be named").toBeVisible();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  const box = (name: string) => screen.getByRole("checkbox", { name });
  expect(box("Allow the listed hosts")).toBeChecked();
  for (const name of ["Allow services on this computer", "Allow every host"]) {
    expect(box(name), `${name} should be off`).not.toBeChecked();
  }
  await user.click(box("Allow services on this computer"));
  await user.click(await button("Show app"));
  await waitFor(() => expect(frame()).not.toBeNull());
  expect(host.requests("approve_app")).toEqual([
    {
      ...{ server: "files", tool: "chart", hash: HASH },
      grants: {
        ...{ declaredOrigins: true, loopback: true, everyHost: false },
        permissions: [],
      },
    },
  ]);
  expect(host.requests("open_app")[0]).toMatchObject({ call: CALL, tool: "chart" });
  expect(frame()).toHaveAttribute("src", `drawbridge-app://${VIEW}/self-test`);
  expect(frame()).toHaveAttribute("sandbox", OPENED.sandbox);
  expect(frame()).toHaveAttribute("allow", "camera");
});

test("allows writing to the clipboard only if the user checks it", async () => {
  const user = userEvent.setup();
  page = { ...PAGE, permissions: ["clipboardWrite"] };
  show();
  await user.click(await button("Show app"));
  const box = await screen.findByRole("checkbox", { name: "Allow writing to the clipboard" });
  expect(box).not.toBeChecked();
  await user.click(box);
  await user.click(await button("Show app"));
  await waitFor(() =>
    expect(host.requests("approve_app")[0]?.grants.permissions).toEqual(["clipboardWrite"]),
  );
});

test("refuses access to a private network by default", async () => {
  page = {
    ...PAGE,
    sources: [{ usedAs: "connect", origin: "https://nas.local", reach: "private_network" }],
  };
  show();
  await userEvent.click(await button("Show app"));
  const name = "Allow the listed hosts, including those in your private network";
  expect(await screen.findByRole("checkbox", { name })).not.toBeChecked();
});

describe("after a call that ended just now", () => {
  test("opens an approved app without a click", async () => {
    page = { ...PAGE, review: "approved" };
    show(true);
    await waitFor(() => expect(frame()).not.toBeNull());
    expect(host.requests("approve_app")).toEqual([]);
  });

  test("offers an app that is not approved", async () => {
    show(true);
    await waitFor(() => expect(host.requests("read_app_page").length).toBe(1));
    expect(await button("Show app")).toBeVisible();
    expect(host.requests("open_app")).toEqual([]);
  });
});

describe("while a model writes the call", () => {
  const STREAMED: DisplayedCall = {
    ...{ type: "streamed", conversation: "c1", reply: "a1", toolUse: "u1" },
  };
  const USE = toolUseKey("a1", "u1");
  const showStreamed = (call: DisplayedCall = STREAMED) =>
    render(AppPanel, { server: "files", tool: "chart", call, fresh: true, toolUse: USE });

  test("opens the app without a request for its page before", async () => {
    showStreamed();
    await waitFor(() => expect(frame()).not.toBeNull());
    expect(host.requests("read_app_page"), "the host decides before it reads the page").toEqual([]);
    expect(host.requests("open_app")[0]).toMatchObject({ call: STREAMED, tool: "chart" });
    expect(streamedApps.get(USE)).toBe("shown");
    cleanup();
    expect(streamedApps.has(USE), "another panel may show the app again").toBe(false);
  });

  test("stays empty if the app may not be shown yet", async () => {
    host.answers.open_app = () => Promise.reject({ code: "refused", message: "not decided" });
    const { container } = showStreamed();
    await waitFor(() => expect(host.requests("open_app").length).toBe(1));
    await waitFor(() => expect(streamedApps.has(USE)).toBe(false));
    expect(container).toHaveTextContent("");
    expect(screen.queryByRole("button")).toBeNull();
    expect(host.requests("read_app_page"), "the server should not learn of the call").toEqual([]);
  });

  test("opens a closed app again with the finished call", async () => {
    const user = userEvent.setup();
    page = { ...PAGE, review: "approved" };
    const { rerender } = showStreamed();
    await user.click(await button("Actions for the app of files"));
    await user.click(await screen.findByRole("menuitem", { name: "Close the app" }));
    await rerender({ call: CALL });
    await user.click(await button("Show app again"));
    await waitFor(() => expect(host.requests("open_app").length).toBe(2));
    expect(host.requests("open_app")[1]).toMatchObject({ call: CALL });
    expect(streamedApps.get(USE), "the panel stays in use").toBe("shown");
  });

  describe("and the panel opens the app again", () => {
    const user = userEvent.setup();
    const choose = async (name: string) => {
      await user.click(await button("Actions for the app of files"));
      await user.click(await screen.findByRole("menuitem", { name }));
    };
    const failOpening = (code: string) => {
      host.answers.open_app = () => Promise.reject({ code, message: "why" });
    };
    beforeEach(() => (page = { ...PAGE, review: "approved" }));

    // The call is running, or else it failed or was refused.
    test.each(["stale", "not_found"])("leaves it to the panel of the call: %s", async (code) => {
      const { container } = showStreamed();
      await choose("Close the app");
      failOpening(code);
      await user.click(await button("Show app again"));
      await waitFor(() => expect(streamedApps.has(USE)).toBe(false));
      expect(container, "no error should be shown").toHaveTextContent("");
      expect(host.requests("open_app").length).toBe(2);
    });

    test("shows every other failure", async () => {
      showStreamed();
      await button("Actions for the app of files");
      failOpening("not_ready");
      await choose("Reload the app");
      expect(await screen.findByText("why")).toBeVisible();
      expect(streamedApps.get(USE), "the panel stays in use").toBe("shown");
    });
  });
});

test("shows that the call has no result at the call itself", async () => {
  page = { ...PAGE, review: "approved" };
  host.answers.open_app = () => Promise.reject({ code: "not_found", message: "no result" });
  show();
  await userEvent.click(await button("Show app"));
  expect(await screen.findByText("no result")).toBeVisible();
});

test("says that a page has changed", async () => {
  page = { ...PAGE, review: "changed" };
  show();
  await userEvent.click(await button("Show app"));
  expect(await screen.findByText("The app has changed since you approved it.")).toBeVisible();
});

test("shows why an app can't be shown", async () => {
  host.answers.read_app_page = () =>
    Promise.reject({ code: "unsupported", message: "no isolation" });
  show();
  await userEvent.click(await button("Show app"));
  expect(await screen.findByText("Apps can't be shown on this computer")).toBeVisible();
  expect(screen.getByText("no isolation")).toBeVisible();
  expect(screen.queryByRole("button", { name: "Try again" }), "a retry can't help").toBeNull();
});

describe("a shown app", () => {
  const user = userEvent.setup();
  beforeEach(async () => {
    page = { ...PAGE, review: "approved" };
    show();
    await user.click(await button("Show app"));
    await button("Actions for the app of files");
  });
  /** Posts the result of the self-test from the frame. */
  function reportSelfTest(...reachable: string[]) {
    const data = { drawbridge: "self-test", reachable };
    const event = new MessageEvent("message", { data, origin: `drawbridge-app://${VIEW}` });
    Object.defineProperty(frame(), "contentWindow", { value: window });
    Object.defineProperty(event, "source", { value: window });
    window.dispatchEvent(event);
  }
  const choose = async (item: string) => {
    await user.click(await button("Actions for the app of files"));
    await user.click(await screen.findByRole("menuitem", { name: item }));
  };
  const initialize = (displayModes: AppDisplayMode[] | null = null) => {
    const change = { type: "initialized", name: "Chart", version: "1", displayModes } as const;
    host.send({ type: "app_view_changed", view: VIEW, change });
  };

  test.each([
    ["before it has declared its modes", undefined, []],
    ["that declares inline and pip", ["inline", "pip"], ["Small window"]],
    ["that declares an empty list", [], []],
    ["that declares no list", null, ["Full screen", "Small window"]],
  ] as [string, AppDisplayMode[] | null | undefined, string[]][])(
    "offers only the display modes of an app %s",
    async (_, declared, offered) => {
      if (declared !== undefined) initialize(declared);
      await user.click(await button("Actions for the app of files"));
      await screen.findByRole("menuitem", { name: "Reload the app" });
      const names = screen.getAllByRole("menuitem").map((item) => item.textContent.trim());
      expect(names.filter((name) => ["Full screen", "Small window"].includes(name))).toEqual(
        offered,
      );
    },
  );

  // [apps-boundaries]
  test("is in a region that names its server and its tool", () => {
    const region = screen.getByRole("region", { name: "App of files" });
    expect(region).toContainElement(frame());
    expect(
      region.querySelector(".bar"),
      "the bar should be outside of the frame",
    ).toHaveTextContent(/App of files.*chart/);
  });

  test("has a border unless its page declares that it prefers none, and its bar in any case", async () => {
    const region = () => screen.getByRole("region", { name: "App of files" });
    expect(region()).not.toHaveClass("borderless");
    await choose("Close the app");
    host.answers.open_app = () => ({ ...OPENED, hasBorder: false });
    await user.click(await button("Show app again"));
    await waitFor(() => expect(region()).toHaveClass("borderless"));
    expect(region().querySelector(".bar")).toHaveTextContent(/App of files.*chart/);
  });

  test("keeps its frame element in full screen, and Escape returns", async () => {
    initialize();
    const before = frame();
    await choose("Full screen");
    const exit = await button("Exit full screen");
    expect(frame(), "another element would load the app again").toBe(before);
    await waitFor(() => expect(screen.queryByRole("menu")).toBeNull());
    await user.keyboard("{Escape}");
    await waitFor(() => expect(exit).not.toBeInTheDocument());
    expect(frame()).toBe(before);
  });

  test("returns to its place and takes no input when a consent request arrives", async () => {
    initialize();
    await choose("Full screen");
    await button("Exit full screen");
    const content = frame()?.parentElement;
    expect(content).not.toHaveAttribute("inert");
    const request = consentRequest(startServerBody);
    host.send({ type: "consent_request_changed", consentRequest: request });
    await waitFor(() => expect(screen.queryByText("The app is shown in full screen.")).toBeNull());
    expect(raisedApp.current, "no app should be raised").toBeNull();
    expect(content).toHaveAttribute("inert");
    host.send({ type: "consent_request_closed", id: request.id, outcome: "denied" });
    await waitFor(() => expect(content).not.toHaveAttribute("inert"));
  });

  test("can be raised while a request is aside, and returns once that is opened", async () => {
    initialize();
    const request = consentRequest(startServerBody, { id: "q-aside" });
    host.send({ type: "consent_request_changed", consentRequest: request });
    const content = frame()?.parentElement;
    await waitFor(() => expect(content).toHaveAttribute("inert"));
    dialogController.queue.putAside(request);
    await waitFor(() => expect(content).not.toHaveAttribute("inert"));
    await choose("Full screen");
    await button("Exit full screen");
    showConsent(request.id);
    await waitFor(() => expect(raisedApp.current, "it must not cover the request").toBeNull());
    expect(content).toHaveAttribute("inert");
    host.send({ type: "consent_request_closed", id: request.id, outcome: "denied" });
    await waitFor(() => expect(content).not.toHaveAttribute("inert"));
  });

  test("takes no input while a dialog is open", async () => {
    await choose("Show source");
    await screen.findByRole("dialog");
    expect(frame()?.parentElement).toHaveAttribute("inert");
  });

  test("is closed by the menu, and can be shown again", async () => {
    await choose("Close the app");
    expect(await button("Show app again")).toBeVisible();
    expect(frame(), "the frame should be removed").toBeNull();
    expect(host.requests("close_app")).toEqual([{ view: VIEW }]);
  });

  describe("that saves its state", () => {
    const change = (body: AppViewChange) =>
      host.send({ type: "app_view_changed", view: VIEW, change: body });
    beforeEach(() => {
      reportSelfTest();
      initialize();
    });

    test.each([
      ["Reload the app", "open_app"],
      ["Permissions…", "read_app_page"],
      ["Remove approval", "revoke_app"],
    ] as const)("has time to do so before %s", async (item, command) => {
      const before = host.requests(command).length;
      await choose(item);
      expect(await screen.findByText("Closing…")).toBeVisible();
      expect(frame(), "the frame should stay").not.toBeNull();
      expect(host.requests("close_app"), "the app should be closed").toEqual([{ view: VIEW }]);
      expect(host.requests(command).length, "the action should wait").toBe(before);
      change({ type: "closed", cause: "confirmed" });
      await waitFor(() => expect(host.requests(command).length).toBe(before + 1));
    });

    test("is not opened again after its panel was removed", async () => {
      await choose("Reload the app");
      await screen.findByText("Closing…");
      cleanup();
      await new Promise((resolve) => setTimeout(resolve));
      expect(host.requests("open_app").length).toBe(1);
    });

    test("loses its context with its approval", async () => {
      change({ type: "model_context_changed", text: "three ships" });
      expect(contextItemsOf("c1").all.length).toBe(1);
      await choose("Remove approval");
      expect(contextItemsOf("c1").all.length, "the app may still update it").toBe(1);
      change({ type: "closed", cause: "confirmed" });
      await waitFor(() => expect(contextItemsOf("c1").all).toEqual([]));
    });
  });

  test("ends with its panel", () => {
    cleanup();
    expect(host.requests("close_app")).toEqual([{ view: VIEW }]);
  });

  test("loses its approval by the menu", async () => {
    await choose("Remove approval");
    expect(await button("Show app")).toBeVisible();
    expect(host.requests("revoke_app")).toEqual([{ server: "files", uri: "ui://files/chart" }]);
  });

  test("shows its source and policy as text", async () => {
    await choose("Show source");
    expect(await screen.findByText("default-src 'none'")).toBeVisible();
    expect(host.requests("read_app_document")).toEqual([{ view: VIEW }]);
  });

  test("shows its messages in the inspector", async () => {
    const fault = { direction: "from_page", kind: "forgery", detail: "no proxy here" } as const;
    host.send({ type: "app_view_changed", view: VIEW, change: { type: "fault", ...fault } });
    await choose("Messages");
    expect(await screen.findByText("1 problem")).toBeVisible();
    expect(screen.getByText("forgery")).toBeVisible();
    expect(await axeProblems(screen.getByRole("dialog")), "axe should find no violations").toEqual(
      [],
    );
  });

  test("shows blocked requests and console output in the inspector", async () => {
    const report = (diagnostic: AppDiagnostic, dropped = 0) => {
      const change = { type: "diagnosed", diagnostic, dropped } as const;
      host.send({ type: "app_view_changed", view: VIEW, change });
    };
    const blocked = { directive: "connect-src", address: "https://api.example/<b>" };
    report({ type: "blocked", ...blocked });
    report({ type: "blocked", ...blocked });
    report({ type: "console", level: "warning", text: "slow \u202enetwork" }, 3);
    await choose("Messages");
    const dialog = within(await screen.findByRole("dialog"));
    const [request] = within(dialog.getByRole("list", { name: "Blocked requests" })).getAllByRole(
      "listitem",
    );
    expect(request).toHaveTextContent("connect-src");
    expect(request).toHaveTextContent("https://api.example/<b>");
    expect(request).toHaveTextContent("2 times");
    const [output] = within(dialog.getByRole("list", { name: "Console output" })).getAllByRole(
      "listitem",
    );
    expect(output).toHaveTextContent("Warning");
    expect(output).toHaveTextContent("slow U+202Enetwork");
    expect(dialog.getByText(/^3 reports were dropped/)).toBeVisible();
    expect(dialog.getByText("0 problems"), "reports are no faults of messages").toBeVisible();
    expect(await axeProblems(screen.getByRole("dialog")), "axe should find no violations").toEqual(
      [],
    );
  });

  test("offers its files above the frame", async () => {
    host.answers.save_app_file = () => ({ path: "/home/ann/chart.csv" });
    const files = [{ name: "chart.csv", mimeType: "text/csv", bytes: 1200 }];
    const userRequest = { type: "save_files", files } as const;
    const change = { type: "requested", request: 2, userRequest } as const;
    host.send({ type: "app_view_changed", view: VIEW, change });
    await user.click(await button("Save chart.csv…"));
    expect(host.requests("save_app_file")).toEqual([{ view: VIEW, request: 2, file: 0 }]);
    await waitFor(() =>
      expect(host.requests("decide_app_request")).toEqual([
        { view: VIEW, request: 2, answer: { type: "done" } },
      ]),
    );
  });

  test("is reported as closed if it was not isolated", async () => {
    reportSelfTest("ipc");
    expect(await screen.findByText(/Its frame could reach: ipc/)).toBeVisible();
    expect(frame()).toBeNull();
  });
});

test("offers to start a server that has stopped", async () => {
  show();
  await button("Show app");
  const stopped = sampleServer({ state: { is: "stopped" } });
  host.send({ type: "server_changed", server: stopped });
  expect(await screen.findByText("Start files to show the app.")).toBeVisible();
  await userEvent.click(await button("Start"));
  expect(host.requests("start_server")).toEqual([{ server: "files" }]);
});
