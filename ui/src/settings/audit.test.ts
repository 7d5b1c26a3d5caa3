import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";

import type { AuditEntry, AuditVerdict } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { selectOption } from "$lib/testing/select-option";
import { startFakeHost } from "$lib/testing/fake-host";

import { AuditLog, ENTRIES_PER_READ } from "./audit.svelte";
import AuditView from "./AuditView.svelte";

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

/** Creates a fake host with a log of this many decisions, which are read page by page. */
function log(count: number) {
  const all = Array.from({ length: count }, (_, i) => entry(count - i));
  return {
    all,
    read_audit_log: ({ limit, before }: { limit: number; before: number | null }) => {
      const from = all.filter((e) => before === null || e.number < before);
      return { entries: from.slice(0, limit), more: from.length > limit };
    },
  };
}

describe("the audit log", () => {
  it("is read page by page, with new decisions on top", async () => {
    const { all, read_audit_log: answer } = log(ENTRIES_PER_READ + 20);
    await startFakeHost({ read_audit_log: answer });
    const audit = new AuditLog();
    await audit.newest();
    expect(audit.entries.length, "one page should be read first").toBe(ENTRIES_PER_READ);
    await audit.older();
    expect(audit.entries.length, "the rest should be read on request").toBe(ENTRIES_PER_READ + 20);
    expect(audit.canReadOlder, "there should be no further page").toBe(false);
    all.unshift(entry(ENTRIES_PER_READ + 21));
    await audit.newest();
    expect(
      audit.entries.map((e) => e.number),
      "the new decision should be first, and each decision listed once",
    ).toEqual(all.map((e) => e.number));
  });

  it("starts over when more than a page is new", async () => {
    const { all, read_audit_log: answer } = log(10);
    await startFakeHost({ read_audit_log: answer });
    const audit = new AuditLog();
    await audit.newest();
    for (let n = 11; n <= 300; n++) all.unshift(entry(n));
    await audit.newest();
    expect(audit.entries.length, "there should be no gap between the pages").toBe(ENTRIES_PER_READ);
    expect(audit.more, "older decisions should be readable").toBe(true);
  });

  it("is filtered by the host", async () => {
    const host = await startFakeHost({
      read_audit_log: ({ search, decision }) => {
        const all = [
          entry(2, { server: "weather", decision: "denied" }),
          entry(1, { subject: "write_file" }),
        ];
        const matches = (e: AuditEntry) =>
          (search === null || `${e.server} ${e.subject}`.includes(search.toLowerCase())) &&
          (decision === null || e.decision === decision);
        return { entries: all.filter(matches), more: false };
      },
    });
    render(AuditView);
    await screen.findByText("write_file");
    await fireEvent.input(screen.getByRole("searchbox"), { target: { value: "WEATHER" } });
    await waitFor(() =>
      expect(
        screen.queryByText("write_file"),
        "only decisions of the selected server should be listed",
      ).toBeNull(),
    );
    await fireEvent.input(screen.getByRole("searchbox"), { target: { value: "nothing like it" } });
    expect(
      await screen.findByText("No decision matches"),
      "the empty result should be shown",
    ).toBeInTheDocument();
    await fireEvent.click(screen.getByRole("button", { name: "Clear the filters" }));
    await screen.findByText("write_file");
    await selectOption(screen.getByRole("combobox", { name: "Decision" }), "denied");
    await waitFor(() =>
      expect(
        screen.getAllByRole("row").length,
        "the heading and one decision should be listed",
      ).toBe(2),
    );
    await selectOption(screen.getByRole("combobox", { name: "Period" }), "week");
    const last = host.requests("read_audit_log").at(-1);
    expect(last?.since, "the period should be a week").toBeLessThan(
      Date.now() - 6 * 24 * 3600 * 1000,
    );
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("drops a response for an old filter", async () => {
    const answers: ((page: { entries: AuditEntry[]; more: boolean }) => void)[] = [];
    await startFakeHost({ read_audit_log: () => new Promise((resolve) => answers.push(resolve)) });
    const audit = new AuditLog();
    const first = audit.newest();
    const second = audit.setFilter({ server: "weather" });
    await waitFor(() => expect(answers.length, "one read should run at a time").toBe(1));
    answers[0]?.({ entries: [entry(9)], more: false });
    await waitFor(() => expect(answers.length, "the other read should follow").toBe(2));
    expect(audit.entries, "the late response should be ignored").toEqual([]);
    answers[1]?.({ entries: [entry(5, { server: "weather" })], more: false });
    await Promise.all([first, second]);
    expect(
      audit.entries.map((e) => e.number),
      "only matching decisions should be listed",
    ).toEqual([5]);
  });

  it("expands a decision to all recorded data", async () => {
    await startFakeHost({
      read_audit_log: () => ({
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
    expect(details, "the decision should be collapsed at first").toHaveAttribute(
      "aria-expanded",
      "false",
    );
    await fireEvent.click(details);
    expect(screen.getByText("rule 3"), "the rule should be shown").toBeVisible();
    expect(screen.getByText("a model"), "the origin should be shown").toBeVisible();
    expect(
      screen.getByText(/First part of 50 kB/),
      "the shortening should be mentioned",
    ).toBeVisible();
    expect(document.body.textContent, "X12: hidden characters should be named").not.toContain(
      "\u202e",
    );
    await fireEvent.click(screen.getByRole("button", { name: "Details of decision 2" }));
    expect(
      screen.getByText("Only the hash was stored."),
      "missing content should be mentioned",
    ).toBeVisible();
    await fireEvent.click(screen.getByRole("button", { name: "Details of decision 1" }));
    expect(
      screen.getByText(/older version, whose log had no chain/),
      "the older version should be mentioned",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("is verified, and the result shown", async () => {
    const intact: AuditVerdict = {
      ...{ whole: true, entries: 12, first: 1, last: 12, removed: null, more: 0 },
      seal: { state: "holds", number: 12 },
      findings: [],
      ...{ proved: true, unproved: [] },
    };
    let verdict = intact;
    await startFakeHost({
      read_audit_log: () => ({ entries: [entry(1)], more: false }),
      verify_audit_log: () => verdict,
      export_audit_log: () => ({ path: "/tmp/audit.jsonl" }),
    });
    render(AuditView);
    const check = await screen.findByRole("button", { name: "Check the log" });
    await fireEvent.click(check);
    expect(await screen.findByText("Nothing was changed or removed")).toBeVisible();
    expect(screen.getByText(/sealed with the key/), "the seal should be mentioned").toBeVisible();
    verdict = { ...intact, proved: false, unproved: [{ from: 3, to: 7 }] };
    await fireEvent.click(check);
    expect(
      await screen.findByText("The links are valid, but nothing proves who wrote the log"),
      "an unsealed log should not be reported as valid",
    ).toBeVisible();
    expect(
      screen.getByText("3 to 7 were found without a seal"),
      "the unsealed decisions should be listed",
    ).toBeVisible();
    const inOrder = screen.queryByText("Nothing was changed or removed");
    expect(inOrder, "the log should not be reported as unchanged").toBeNull();
    verdict = {
      ...{ ...intact, whole: false, proved: false, more: 3 },
      seal: { state: "broken" },
      findings: [
        { what: "changed", number: 5, to: null, detail: null },
        { what: "cut_off", number: 9, to: 12, detail: null },
        { what: "noted", number: 7, to: null, detail: "the seal was removed" },
      ],
    };
    await fireEvent.click(check);
    expect(await screen.findByText("The log is damaged or was changed")).toBeVisible();
    expect(
      screen.getByText(/Decision 5 was changed/),
      "the changed decision should be named",
    ).toBeVisible();
    expect(
      screen.getByText(/Cut off at the end: 9 to 12/),
      "the removed decisions should be listed",
    ).toBeVisible();
    expect(
      screen.getByText("the seal was removed"),
      "the recorded events should be listed",
    ).toBeVisible();
    expect(
      screen.getByText("and 3 more"),
      "the number of further events should be shown",
    ).toBeVisible();
    await fireEvent.click(screen.getByRole("button", { name: "Export…" }));
    expect(await screen.findByText("Saved as /tmp/audit.jsonl")).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("shows an empty state", async () => {
    await startFakeHost({ read_audit_log: () => ({ entries: [], more: false }) });
    render(AuditView);
    expect(
      await screen.findByText("No decisions yet"),
      "the empty state should be shown",
    ).toBeInTheDocument();
  });

  it("shows a read failure, and retries", async () => {
    let broken = true;
    await startFakeHost({
      read_audit_log: () => {
        if (broken) throw { code: "system", message: "disk full" };
        return { entries: [entry(1)], more: false };
      },
    });
    render(AuditView);
    expect(await screen.findByText("disk full"), "the cause should be shown").toBeInTheDocument();
    broken = false;
    await fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("tool 1"), "the decisions should be read").toBeInTheDocument();
  });
});
