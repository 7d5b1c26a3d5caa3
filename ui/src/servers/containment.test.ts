import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import type { ServerConfig as Config, LimitsUsage, SandboxPlan, Server } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import LimitsFields from "../settings/LimitsFields.svelte";

import CommandFields from "./CommandFields.svelte";
import { draftProblems } from "./draft-problems";
import { ServerDraft } from "./draft.svelte";
import { isHostPattern } from "./host-pattern";
import Limits from "./Limits.svelte";
import Overview from "./Overview.svelte";
import SandboxReach from "./SandboxReach.svelte";

const user = userEvent.setup();

const plan: SandboxPlan = {
  mechanism: "bubblewrap",
  folders: [
    { path: "/home/ann/in", access: "read" },
    { path: "/home/ann/out", access: "write" },
  ],
  program: ["/home/ann/.nvm/versions/node/v22.1.0"],
  system: ["/usr", "/lib"],
  home: "/home/ann/.local/share/drawbridge/sandbox/0a1b",
  network: { preset: "files_only" },
  limits: {
    ...{ processes: 512, memoryBytes: 4_294_967_296 },
    ...{ homeBytes: 2_147_483_648, processorSeconds: 1800 },
  },
};

const counter = { current: 0, limit: 10, excess: 0 };
const used: LimitsUsage = {
  calls: { current: 2, limit: 256, excess: 0 },
  consentRequests: { current: 10, limit: 10, excess: 1490 },
  notifications: counter,
  readBytes: { current: 5_000_000, limit: 1_073_741_824, excess: 0 },
  largestMessage: counter,
  activityLog: counter,
  slowed: false,
  resources: {
    ...{ processes: counter, home: counter, processor: { current: 90, limit: 1800, excess: 0 } },
    memory: { current: 4_400_000_000, limit: 4_294_967_296, excess: 1 },
  },
};

const sandboxed: Partial<Server> = {
  config: {
    ...{ type: "stdio", command: "npx", args: [], env: {}, cwd: null, revision: null },
    sandbox: { folders: plan.folders, network: { preset: "files_only" } },
  },
};

describe("the sandbox in the form", () => {
  test("is disabled by default, and sends the entered values", async () => {
    await startFakeHost({ pick_folder: () => ({ folder: "/home/ann/in" }) });
    const draft = new ServerDraft("files", sampleServer().config);
    const { container } = render(CommandFields, { draft, problems: [] });
    expect("sandbox" in draft.config, "the configuration should have no sandbox").toBe(false);
    await user.click(screen.getByRole("checkbox", { name: "Run it in a sandbox" }));
    expect(draft.config, "the default sandbox should be minimal").toMatchObject({
      sandbox: { folders: [], network: { preset: "files_only" } },
    });
    await user.click(screen.getByRole("button", { name: "Add a folder…" }));
    const list = screen.getByRole("list", { name: "Folders it can access" });
    await waitFor(() => expect(within(list).getByRole("textbox")).toHaveValue("/home/ann/in"));
    await user.selectOptions(within(list).getByRole("combobox"), "read and change");
    await user.selectOptions(screen.getByRole("combobox", { name: "Network" }), "Full network");
    expect(draft.config, "the entered values should be sent").toMatchObject({
      sandbox: {
        folders: [{ path: "/home/ann/in", access: "write" }],
        network: { preset: "full" },
      },
    });
    expect(await axeProblems(container), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Remove folder 1" }));
    await user.click(screen.getByRole("checkbox", { name: "Run it in a sandbox" }));
    expect("sandbox" in draft.config, "the disabled sandbox should be removed").toBe(false);
  });

  test("preserves the stored values, and requires absolute paths", () => {
    const draft = new ServerDraft("files", sampleServer(sandboxed).config);
    expect(draft.config, "the stored values should be preserved").toEqual(
      sampleServer(sandboxed).config,
    );
    draft.sandbox.add("project");
    expect(draftProblems(draft, []), "a relative path should be rejected").toContain(
      "sandbox_path",
    );
  });
});

describe("the network of a sandbox", () => {
  test("S24: accepts valid hosts only", async () => {
    const config: Config = {
      ...{ type: "stdio", command: "npx", args: [], env: {}, cwd: null, revision: null },
      sandbox: { folders: [], network: { preset: "named_hosts", hosts: ["example.com"] } },
    };
    const draft = new ServerDraft("files", config);
    const problems = () => draftProblems(draft, []);
    const { container, rerender } = render(CommandFields, { draft, problems: problems() });
    const list = () => screen.getByRole("list", { name: "Hosts it can access" });
    expect(within(list()).getByRole("textbox"), "the stored host should be shown").toHaveValue(
      "example.com",
    );
    expect(problems(), "there should be no problem at first").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Add a host" }));
    await user.type(screen.getByRole("textbox", { name: "Host 2" }), "https://example.org/");
    expect(problems(), "a URL should be rejected").toContain("sandbox_host");
    await rerender({ draft, problems: problems() });
    expect(screen.getByText(/is not a host/), "the problem should be shown").toBeVisible();
    expect(await axeProblems(container), "axe should find no violations").toEqual([]);
    await user.clear(screen.getByRole("textbox", { name: "Host 2" }));
    await user.type(screen.getByRole("textbox", { name: "Host 2" }), "*.example.org:8443");
    expect(draft.config, "the entered hosts should be sent").toMatchObject({
      sandbox: { network: { preset: "named_hosts", hosts: ["example.com", "*.example.org:8443"] } },
    });
    await user.click(screen.getByRole("button", { name: "Remove host 1" }));
    await user.click(screen.getByRole("button", { name: "Remove host 1" }));
    expect(problems(), "a list without a host should be rejected").toContain("sandbox_no_host");
  });

  test("S24: shows all hosts that a server may reach", () => {
    const hosts = ["example.com", "*.example.org:8443", "xn--bcher-kva.example"];
    render(SandboxReach, { plan: { ...plan, network: { preset: "named_hosts", hosts } } });
    for (const host of hosts) expect(screen.getByText(host), host).toBeVisible();
    expect(screen.getByText(/Only these hosts/), "the restriction should be stated").toBeVisible();
  });

  test("names the network like the settings, and leaves out an empty list of folders", () => {
    const { container } = render(SandboxReach, {
      plan: { ...plan, folders: [], network: { preset: "files_only" } },
    });
    expect(screen.getByText("No network")).toBeVisible();
    const empty = [...container.querySelectorAll("ul")].filter((list) => !list.children.length);
    expect(empty.filter((list) => !list.closest("details")).length).toBe(0);
  });

  test("validates hosts like the Rust host", () => {
    const valid = ["example.com", "localhost:3000", "*.example.com", "10.0.0.7", "[::1]:80", "::1"];
    for (const host of [...valid, "bücher.example", " a.example "]) {
      expect(isHostPattern(host), host).toBe(true);
    }
    const invalid = ["", "*", "*.com", "*.*.example.com", "a*.example.com", "*.10.0.0.1", "a b"];
    const address = ["https://example.com", "example.com/", "u@example.com", "a..b", "[::1"];
    const port = ["example.com:", "example.com:0", "example.com:65536", "example.com:http"];
    for (const host of [...invalid, ...address, ...port])
      expect(isHostPattern(host), host).toBe(false);
  });
});

test.each([
  ["that runs", { ...sandboxed, sandboxMechanism: "bubblewrap" }, "on, by bubblewrap"],
  ["that is stopped", { ...sandboxed, state: { is: "stopped" } as const }, "on when it runs"],
  ["without one", {}, "off; when it runs, it can access everything that you can"],
])("the overview shows the sandbox of a server: one %s", async (_, changes, text) => {
  const server = sampleServer(changes);
  await startFakeHost({}, { servers: [server] });
  render(Overview, { server });
  expect(screen.getByText("Sandbox").nextElementSibling).toHaveTextContent(text);
});

describe("the limits tab", () => {
  test("shows the access, the sandbox mechanism, and the usage of each limit", async () => {
    const server = sampleServer({ ...sandboxed, sandboxMechanism: "bubblewrap" });
    const answers = {
      read_limits_usage: () => used,
      describe_sandbox: () => ({ plan, problem: null }),
    };
    await startFakeHost(answers, { servers: [server] });
    const { container } = render(Limits, { server });
    expect(
      await screen.findByText(/runs in a sandbox \(bubblewrap\)/),
      "the sandbox should be shown",
    ).toBeVisible();
    for (const path of ["/home/ann/in", "/home/ann/out", plan.program[0] ?? ""]) {
      expect(screen.getByText(path), path).toBeVisible();
    }
    const row = screen.getByRole("row", { name: /Pending requests/ });
    expect(row, "the usage, the limit and the refused calls should be shown").toHaveTextContent(
      "10101,490 refused",
    );
    const memory = screen.getByRole("row", { name: /^Memory/ });
    expect(memory, "S37: the limit that ended the server should be shown").toHaveTextContent(
      "server stopped",
    );
    const processor = screen.getByRole("row", { name: /^Processor time/ });
    expect(processor, "S37: the processor time should be in minutes").toHaveTextContent("1.530");
    expect(
      screen.getByText(/512 processes and threads/),
      "S37: the limits of the system should be shown",
    ).toBeVisible();
    expect(await axeProblems(container), "axe should find no violations").toEqual([]);
  });

  test("explains why a sandbox can't be set up", async () => {
    const server = sampleServer({ ...sandboxed, state: { is: "stopped" } });
    const problem = "no sandbox can be set up here: bubblewrap is not installed";
    const answers = {
      read_limits_usage: () => used,
      describe_sandbox: () => ({ plan: null, problem }),
    };
    await startFakeHost(answers, { servers: [server] });
    render(Limits, { server });
    expect(await screen.findByText(problem), "the cause should be shown").toBeVisible();
    expect(
      screen.getByText(/so the server does not start/),
      "the consequence should be shown",
    ).toBeVisible();
  });

  test("states that a server without a sandbox can access everything", async () => {
    const server = sampleServer();
    const host = await startFakeHost({ read_limits_usage: () => used }, { servers: [server] });
    render(Limits, { server });
    expect(
      screen.getByText(/can access everything that you can/),
      "the missing sandbox should be mentioned",
    ).toBeVisible();
    expect(host.requests("describe_sandbox"), "the sandbox should not be read").toEqual([]);
  });
});

test("changes limits one by one, and resets them together", async () => {
  const limits = {
    ...{ calls: 256, questions: 10, questionsPerMinute: 180, notificationsPerSecond: 1000 },
    ...{ bytesPerMinute: 1_073_741_824, messageBytes: 16_777_216, keptBytes: 8_388_608 },
    ...{ processes: 512, memoryBytes: 4_294_967_296 },
    ...{ homeBytes: 2_147_483_648, processorSeconds: 1800 },
  };
  const changes: unknown[] = [];
  render(LimitsFields, { limits, onchange: (change) => changes.push(change) });
  const message = screen.getByRole("spinbutton", { name: "Largest message (MB)" });
  expect(message, "the size should be in megabytes").toHaveValue(16.8);
  await user.clear(message);
  await user.type(message, "4");
  await user.tab();
  expect(changes, "only this limit should be changed").toEqual([
    { ...limits, messageBytes: 4_000_000 },
  ]);
  const calls = screen.getByRole("spinbutton", { name: "Calls in progress" });
  await user.clear(calls);
  await user.tab();
  expect(calls, "an invalid number should be reverted").toHaveValue(256);
  await user.click(screen.getByRole("button", { name: "Restore defaults" }));
  expect(changes.at(-1), "the limits should be reset").toBeUndefined();
});
