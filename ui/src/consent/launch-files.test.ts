import { fireEvent, screen } from "@testing-library/svelte";
import { describe, expect, it } from "vitest";

import type { LaunchFile, ConsentRequestBody } from "$lib/api/generated";

import { consentRequest, startServerBody } from "./fixtures";
import {
  installFakeHostForEachTest,
  accessibilityProblems,
  renderRequests,
} from "./test-harness.svelte";

installFakeHostForEachTest();

const HASH = "0123456789abcdef".repeat(4);
const program: LaunchFile = {
  path: "/usr/bin/node",
  leadsTo: "/usr/lib/node",
  bytes: 1_234_567,
  hash: HASH,
  role: "program",
  changed: false,
};
const script: LaunchFile = {
  path: "/home/ann/server\u202e.js",
  leadsTo: null,
  bytes: 12,
  hash: null,
  role: "argument",
  changed: false,
};

function startBody(files: LaunchFile[]): ConsentRequestBody {
  return { ...startServerBody, files } as ConsentRequestBody;
}

describe("S06: the files that the approval of a start covers", () => {
  it("are collapsed to one line", async () => {
    renderRequests(consentRequest(startBody([program, script])));
    const line = screen.getByText("2 files decide what runs");
    expect(line.closest("details")?.open, "the list should be collapsed").toBe(false);
    expect(await accessibilityProblems(), "axe should find no violations").toEqual([]);
  });

  it("are listed with their size, hash and reason", () => {
    renderRequests(consentRequest(startBody([program, script])));
    expect(
      screen.getByText("/usr/lib/node"),
      "the target of a link should be shown",
    ).toBeInTheDocument();
    expect(screen.getByTitle(HASH).textContent, "the hash should be shown").toBe(
      "SHA-256 0123456789abcdef…",
    );
    expect(document.body.textContent, "the reason should be shown").toContain(
      "named in the arguments",
    );
    expect(document.body.textContent, "a file without a hash should be marked").toContain(
      "identified by size and dates",
    );
    expect(document.body.textContent, "hidden characters should be replaced").not.toContain(
      "\u202e",
    );
  });

  it("are expanded if a file changed", () => {
    renderRequests(consentRequest(startBody([program, { ...script, changed: true }])));
    expect(screen.getByText("1 changed since you approved it")).toBeVisible();
    expect(screen.getByText("Changed"), "the changed file should be marked").toBeVisible();
    expect(screen.getByText("2 files decide what runs").closest("details")?.open).toBe(true);
  });

  it("E31: stay expanded when the request is updated", async () => {
    const { set } = renderRequests(consentRequest(startBody([program])));
    const list = screen.getByText("1 file decides what runs").closest("details")!;
    list.open = true;
    await fireEvent(list, new Event("toggle"));
    set(consentRequest(startBody([program, script])));
    await screen.findByText("2 files decide what runs");
    expect(list.open, "the list should stay expanded with another file").toBe(true);
  });

  it("are omitted if there are none", () => {
    renderRequests(consentRequest(startServerBody));
    expect(screen.queryByText(/decides? what runs/)).toBeNull();
  });
});
