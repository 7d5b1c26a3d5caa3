import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";

import type {
  AuditEntry,
  AuditVerdict,
  Grant,
  SecretsStatus,
  ServerConfig,
} from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { choose } from "$lib/testing/choose";
import { sampleServer, startFake } from "$lib/testing/fake";
import { settled } from "$lib/testing/settled";

import { noRules } from "../rules/fixtures";

import { Audit, PAGE } from "./audit.svelte";
import AuditView from "./AuditView.svelte";
import RulesView from "./RulesView.svelte";
import SettingsView from "./SettingsView.svelte";

afterEach(() => cleanup());

function entry(number: number, changes: Partial<AuditEntry> = {}): AuditEntry {
  return {
    number,
    at: 1_785_000_000_000 + number,
    asker: "user",
    server: "files",
    kind: "tool",
    subject: `tool ${number}`,
    content: '{"path":"/tmp"}',
    contentBytes: null,
    decision: "allowed",
    scope: "once",
    by: "user",
    rule: "tools-ask",
    conversation: null,
    hash: `h${number}`,
    imported: false,
    ...changes,
  };
}

/** A log of so many decisions, read a page at a time. */
function log(count: number) {
  const all = Array.from({ length: count }, (_, i) => entry(count - i));
  return {
    all,
    audit: ({ limit, before }: { limit: number; before: number | null }) => {
      const from = all.filter((e) => before === null || e.number < before);
      return { entries: from.slice(0, limit), more: from.length > limit };
    },
  };
}

describe("the audit log", () => {
  it("is read page by page, and new decisions come on top", async () => {
    const { all, audit: answer } = log(PAGE + 20);
    await startFake({ audit: answer });
    const audit = new Audit();
    await audit.newest();
    expect(audit.entries.length, "one page first").toBe(PAGE);
    await audit.older();
    expect(audit.entries.length, "then the rest").toBe(PAGE + 20);
    expect(audit.canReadOlder, "there is no more").toBe(false);
    all.unshift(entry(PAGE + 21));
    await audit.newest();
    expect(
      audit.entries.map((e) => e.number),
      "the new one first, none twice, none lost",
    ).toEqual(all.map((e) => e.number));
  });

  it("starts over when more than a page is new", async () => {
    const { all, audit: answer } = log(10);
    await startFake({ audit: answer });
    const audit = new Audit();
    await audit.newest();
    for (let n = 11; n <= 300; n++) all.unshift(entry(n));
    await audit.newest();
    expect(audit.entries.length, "no gap is left in the middle").toBe(PAGE);
    expect(audit.more, "the older ones can be read").toBe(true);
  });

  it("is filtered where it lies, not where it is shown", async () => {
    const host = await startFake({
      audit: ({ search, decision }) => {
        const all = [
          entry(2, { server: "weather", decision: "denied" }),
          entry(1, { subject: "write_file" }),
        ];
        const fits = (e: AuditEntry) =>
          (search === null || `${e.server} ${e.subject}`.includes(search.toLowerCase())) &&
          (decision === null || e.decision === decision);
        return { entries: all.filter(fits), more: false };
      },
    });
    render(AuditView);
    await screen.findByText("write_file");
    await fireEvent.input(screen.getByRole("searchbox"), { target: { value: "WEATHER" } });
    await waitFor(() =>
      expect(screen.queryByText("write_file"), "only the matching server").toBeNull(),
    );
    await fireEvent.input(screen.getByRole("searchbox"), { target: { value: "nothing like it" } });
    expect(await screen.findByText("No decision matches"), "it is said").toBeInTheDocument();
    await fireEvent.click(screen.getByRole("button", { name: "Clear the filters" }));
    await screen.findByText("write_file");
    await choose(screen.getByRole("combobox", { name: "Decision" }), "denied");
    await waitFor(() =>
      expect(screen.getAllByRole("row").length, "the heading and one decision").toBe(2),
    );
    await choose(screen.getByRole("combobox", { name: "When" }), "week");
    const last = host.requests("audit").at(-1);
    expect(last?.since, "a week ago").toBeLessThan(Date.now() - 6 * 24 * 3600 * 1000);
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
  });

  it("does not take an answer to another filter for this one's", async () => {
    const answers: ((page: { entries: AuditEntry[]; more: boolean }) => void)[] = [];
    await startFake({ audit: () => new Promise((resolve) => answers.push(resolve)) });
    const audit = new Audit();
    const first = audit.newest();
    const second = audit.look({ server: "weather" });
    await waitFor(() => expect(answers.length, "one is asked at a time").toBe(1));
    answers[0]?.({ entries: [entry(9)], more: false });
    await waitFor(() => expect(answers.length, "then the other").toBe(2));
    expect(audit.entries, "the late answer is left out").toEqual([]);
    answers[1]?.({ entries: [entry(5, { server: "weather" })], more: false });
    await Promise.all([first, second]);
    expect(
      audit.entries.map((e) => e.number),
      "only what fits",
    ).toEqual([5]);
  });

  it("opens a decision to all that is written down of it", async () => {
    await startFake({
      audit: () => ({
        entries: [
          entry(3, { content: "a\u202eb", contentBytes: 50_000, rule: "rule 3", asker: "model" }),
          entry(2, { content: null }),
          entry(1, { imported: true }),
        ],
        more: false,
      }),
    });
    render(AuditView);
    const details = await screen.findByRole("button", { name: "Details of decision 3" });
    expect(details, "closed at first").toHaveAttribute("aria-expanded", "false");
    await fireEvent.click(details);
    expect(screen.getByText("rule 3"), "the rule").toBeVisible();
    expect(screen.getByText("a model"), "who asked").toBeVisible();
    expect(screen.getByText(/The beginning of 50 kB/), "that it is cut").toBeVisible();
    expect(document.body.textContent, "X12: hidden characters are named").not.toContain("\u202e");
    await fireEvent.click(screen.getByRole("button", { name: "Details of decision 2" }));
    expect(screen.getByText("Only the hash is written down."), "or that it is not").toBeVisible();
    await fireEvent.click(screen.getByRole("button", { name: "Details of decision 1" }));
    expect(screen.getByText(/older version, which had no chain/), "where it is from").toBeVisible();
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
  });

  it("is checked, and it is said what was found", async () => {
    const whole: AuditVerdict = {
      ...{ whole: true, entries: 12, first: 1, last: 12, removed: null, more: 0 },
      seal: { state: "holds", number: 12 },
      findings: [],
      ...{ proved: true, unproved: [] },
    };
    let verdict = whole;
    await startFake({
      audit: () => ({ entries: [entry(1)], more: false }),
      verify_audit: () => verdict,
      export_audit: () => ({ path: "/tmp/audit.jsonl" }),
    });
    render(AuditView);
    const check = await screen.findByRole("button", { name: "Check the log" });
    await fireEvent.click(check);
    expect(await screen.findByText("Nothing was changed or removed")).toBeVisible();
    expect(screen.getByText(/sealed with the key/), "and that it is sealed").toBeVisible();
    verdict = { ...whole, proved: false, unproved: [{ from: 3, to: 7 }] };
    await fireEvent.click(check);
    expect(
      await screen.findByText("The links fit, but nothing proves who wrote it"),
      "a log that anybody could have written is not said to be in order",
    ).toBeVisible();
    expect(screen.getByText("3 to 7 stood there without a seal"), "and where").toBeVisible();
    const inOrder = screen.queryByText("Nothing was changed or removed");
    expect(inOrder, "which it is not said to be").toBeNull();
    verdict = {
      ...{ ...whole, whole: false, proved: false, more: 3 },
      seal: { state: "broken" },
      findings: [
        { what: "changed", number: 5, to: null, detail: null },
        { what: "cut_off", number: 9, to: 12, detail: null },
        { what: "noted", number: 7, to: null, detail: "the seal was removed" },
      ],
    };
    await fireEvent.click(check);
    expect(await screen.findByText("The log is not as it was written")).toBeVisible();
    expect(screen.getByText(/Decision 5 was changed/), "where").toBeVisible();
    expect(screen.getByText(/Cut off at the end: 9 to 12/), "how much").toBeVisible();
    expect(screen.getByText("the seal was removed"), "what was noted").toBeVisible();
    expect(screen.getByText("and 3 more"), "what is not listed").toBeVisible();
    await fireEvent.click(screen.getByRole("button", { name: "Export…" }));
    expect(await screen.findByText("Saved as /tmp/audit.jsonl")).toBeVisible();
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
  });

  it("says what to expect where there is nothing", async () => {
    await startFake({ audit: () => ({ entries: [], more: false }) });
    render(AuditView);
    expect(await screen.findByText("No decisions yet"), "an empty state").toBeInTheDocument();
  });

  it("says why it can't be read, and tries again", async () => {
    let broken = true;
    await startFake({
      audit: () => {
        if (broken) throw { code: "system", message: "disk full" };
        return { entries: [entry(1)], more: false };
      },
    });
    render(AuditView);
    expect(await screen.findByText("disk full"), "the cause").toBeInTheDocument();
    broken = false;
    await fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("tool 1"), "read at last").toBeInTheDocument();
  });
});

describe("the window's sandbox", () => {
  it("is not mentioned where the system's web view sees to it", async () => {
    await startFake();
    render(SettingsView);
    await screen.findByRole("heading", { name: "Where things lie" });
    expect(screen.queryByRole("heading", { name: "Sandbox of this window" })).toBeNull();
  });

  it("is said to be on", async () => {
    (await startFake()).sandbox = { is: "on" };
    render(SettingsView);
    expect(await screen.findByText(/^On\. The process that draws this window/)).toBeVisible();
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
  });

  it("is said to be off, with the reason and the system's words", async () => {
    const cause = "bwrap: setting up uid map: Permission denied";
    (await startFake()).sandbox = { is: "off", because: "no_namespaces", cause };
    render(SettingsView);
    expect(
      await screen.findByText("Off: a flaw in WebKitGTK could reach your files"),
    ).toBeVisible();
    expect(screen.getByText(/does not let Drawbridge create user namespaces/)).toBeVisible();
    expect(screen.getByText(cause), "what bubblewrap says").toBeVisible();
    expect(
      screen.queryByRole("button", { name: /next start/ }),
      "the next start tries anyway",
    ).toBeNull();
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
  });

  it("says that a blank window can't be remembered, and why", async () => {
    const host = await startFake();
    const cause = "/data/page-sandbox.json can't be written: No space left on device";
    host.sandbox = { is: "off", because: "no_memory", cause, unkept: cause };
    const { unmount } = render(SettingsView);
    expect(await screen.findByText(/does without the sandbox/)).toBeVisible();
    expect(screen.getAllByText(cause), "once").toHaveLength(1);
    unmount();
    host.sandbox = { is: "on", unkept: cause };
    render(SettingsView);
    expect(await screen.findByText(/may not outlast your session/)).toBeVisible();
    expect(screen.getByText(cause), "with the cause").toBeVisible();
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
  });

  it("can be tried again after the window stayed blank", async () => {
    const host = await startFake();
    host.sandbox = { is: "off", because: "no_page" };
    render(SettingsView);
    const retry = await screen.findByRole("button", { name: "Try again at the next start" });
    await fireEvent.click(retry);
    expect(await screen.findByText("The next start tries the sandbox again.")).toBeVisible();
    expect(host.sandboxRetries, "asked for once").toBe(1);
    expect(screen.queryByRole("button", { name: "Try again at the next start" })).toBeNull();
  });
});

describe("rules", () => {
  const grant = { server: "files", conversation: null, expiresAt: null };
  const grants: Grant[] = [
    { ...grant, id: "g1", tool: null, scope: "always", since: 1, restsOn: "abc" },
    { ...grant, id: "g2", tool: "write_file", scope: "session", since: 2, restsOn: "def" },
  ];

  it("lists every approval and takes one back after asking", async () => {
    let left = grants;
    const host = await startFake({
      policy: () => noRules,
      grants: () => ({ grants: left }),
      revoke_grant: ({ id }) => {
        left = left.filter((g) => g.id !== id);
        return {};
      },
    });
    render(RulesView);
    const row = (await screen.findByText("Tool write_file")).closest("tr") as HTMLElement;
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
    await fireEvent.click(within(row).getByRole("button"));
    expect(host.requests("revoke_grant"), "asked before it is done").toEqual([]);
    await fireEvent.click(await screen.findByRole("button", { name: "Take back" }));
    await waitFor(() =>
      expect(screen.queryByText("Tool write_file"), "gone from the list").toBeNull(),
    );
    expect(host.requests("revoke_grant"), "exactly this one").toEqual([{ id: "g2" }]);
  });

  it("says of a remote server that it is connected to", async () => {
    const config: ServerConfig = {
      ...{ type: "http", url: "https://mcp.example.com/", headers: [], kind: null, revision: null },
      auth: null,
    };
    await startFake(
      { policy: () => noRules, grants: () => ({ grants }) },
      { servers: [sampleServer({ config })] },
    );
    render(RulesView);
    expect(await screen.findByText("Connecting to the server"), "in words").toBeVisible();
    expect(screen.queryByText("Starting the server"), "nothing is started").toBeNull();
  });

  it("says so when everything asks", async () => {
    await startFake({ policy: () => noRules, grants: () => ({ grants: [] }) });
    render(RulesView);
    expect(await screen.findByText("Everything asks"), "an empty state").toBeInTheDocument();
  });
});

describe("settings", () => {
  it("are changed one by one and keep the others", async () => {
    const host = await startFake({ secrets_status: () => ({ is: "keychain" }) });
    render(SettingsView);
    await fireEvent.click(screen.getByRole("radio", { name: "Dark" }));
    expect(host.requests("set_settings"), "only the theme is another").toEqual([
      { ...host.snapshot.settings, theme: "dark" },
    ]);
    expect(screen.getByText(host.snapshot.paths.audit), "where the log lies").toBeInTheDocument();
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
  });

  it("say why they were not saved", async () => {
    await startFake({
      secrets_status: () => ({ is: "keychain" }),
      set_settings: () => {
        throw { code: "system", message: "disk full" };
      },
    });
    render(SettingsView);
    await fireEvent.click(screen.getByRole("checkbox", { name: /Tell me about a question/ }));
    expect((await screen.findByRole("alert")).textContent, "the cause").toContain("disk full");
  });

  it("hold as chosen while the events about them are late", async () => {
    const host = await startFake();
    const { settings } = host.snapshot;
    render(SettingsView);
    const dark = screen.getByRole("radio", { name: "Dark" });
    const chinese = screen.getByRole("radio", { name: "简体中文" });
    vi.useFakeTimers();
    await fireEvent.click(dark);
    await settled();
    expect(host.requests("set_settings").length, "it is saved").toBe(1);
    expect(dark, "the host's answer alone takes nothing back").toBeChecked();
    await fireEvent.click(chinese);
    await settled();
    expect(host.requests("set_settings")[1], "with the change before it").toEqual({
      ...{ ...settings, theme: "dark", language: "zh" },
    });
    host.send({ type: "settings_changed", settings: { ...settings, theme: "dark" } });
    await settled();
    expect(chinese, "the event about the first does not undo the second").toBeChecked();
    host.send({
      type: "settings_changed",
      settings: { ...settings, theme: "dark", language: "zh" },
    });
    host.send({ type: "settings_changed", settings });
    await settled();
    expect(dark, "what comes after them holds").not.toBeChecked();
    expect(chinese, "for each of them").not.toBeChecked();
  });

  it("go back to what holds when they were not saved", async () => {
    await startFake({
      set_settings: () => {
        throw { code: "system", message: "disk full" };
      },
    });
    render(SettingsView);
    await fireEvent.click(screen.getByRole("radio", { name: "Dark" }));
    await fireEvent.click(screen.getByRole("checkbox", { name: /Tell me about a question/ }));
    await screen.findByRole("alert");
    await waitFor(() =>
      expect(screen.getByRole("radio", { name: "Light" }), "the theme").toBeChecked(),
    );
    await waitFor(() =>
      expect(
        screen.getByRole("checkbox", { name: /Tell me about a question/ }),
        "the box",
      ).toBeChecked(),
    );
  });

  it.each([
    ["locked", /is locked/, /Unlock the keychain/],
    ["missing", /no keychain that answers/, /GNOME Keyring or KWallet/],
    ["broken", /can't be used/, /Put right what is said below/],
  ] as const)("say of a keychain that is %s what to do, and ask again", async (is, what, next) => {
    let status: SecretsStatus = { is, cause: "said by the system" };
    await startFake({ secrets_status: () => status });
    render(SettingsView);
    expect(await screen.findByText(what), "what is the matter").toBeVisible();
    expect(screen.getByText(next), "what to do").toHaveTextContent("when Drawbridge is closed");
    expect(screen.getByText("said by the system"), "the cause").toBeVisible();
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
    status = { is: "keychain" };
    await fireEvent.click(screen.getByRole("button", { name: "Ask again" }));
    expect(await screen.findByText(/^They are kept encrypted/), "it works now").toBeVisible();
    expect(screen.queryByText(what), "and no more is said").toBeNull();
  });

  it.each([
    ["encrypted", { is: "encrypted" }, /^Encrypted\./],
    ["plain", { is: "plain" }, /^Not encrypted\./],
    ["unreadable", { is: "unreadable", cause: "another key" }, /another key/],
  ] as const)("say of contents that are %s how they stand on the disk", async (_, at, words) => {
    await startFake({
      content_protection: () => ({ conversations: at, decisions: { is: "plain" } }),
    });
    render(SettingsView);
    const section = await screen.findByRole("region", {
      name: "Conversations and decisions on disk",
    });
    expect((await within(section).findAllByText(words))[0], "what is said").toBeVisible();
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
  });

  it("say why it is not known whether secrets are kept", async () => {
    await startFake({
      secrets_status: () => {
        throw { code: "internal", message: "the host is busy" };
      },
    });
    render(SettingsView);
    expect((await screen.findByRole("alert")).textContent, "why").toContain("the host is busy");
  });
});
