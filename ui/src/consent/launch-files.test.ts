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

function start(files: LaunchFile[]): ConsentRequestBody {
  return { ...startServerBody, files } as ConsentRequestBody;
}

describe("S06: the files that the approval of a start is over", () => {
  it("fold to one line", async () => {
    renderRequests(consentRequest(start([program, script])));
    const line = screen.getByText("2 files decide what runs");
    expect(line.closest("details")?.open, "folded").toBe(false);
    expect(await accessibilityProblems(), "axe finds nothing").toEqual([]);
  });

  it("are listed with their size, hash and reason", () => {
    renderRequests(consentRequest(start([program, script])));
    expect(screen.getByText("/usr/lib/node"), "where a link leads").toBeInTheDocument();
    expect(screen.getByTitle(HASH).textContent, "the hash").toBe("SHA-256 0123456789abcdef…");
    expect(document.body.textContent, "why").toContain("named in the arguments");
    expect(document.body.textContent, "no hash").toContain("identified by size and dates");
    expect(document.body.textContent, "hidden characters show").not.toContain("\u202e");
  });

  it("open by themselves once one changed", () => {
    renderRequests(consentRequest(start([program, { ...script, changed: true }])));
    expect(screen.getByText("1 changed since you approved it")).toBeVisible();
    expect(screen.getByText("Changed"), "which one").toBeVisible();
    expect(screen.getByText("2 files decide what runs").closest("details")?.open).toBe(true);
  });

  it("stay open as the user opened them when the request is updated", async () => {
    const { set } = renderRequests(consentRequest(start([program])));
    const list = screen.getByText("1 file decides what runs").closest("details")!;
    list.open = true;
    await fireEvent(list, new Event("toggle"));
    set(consentRequest(start([program, script])));
    await screen.findByText("2 files decide what runs");
    expect(list.open, "with one more file in it").toBe(true);
  });

  it("are not mentioned where there are none", () => {
    renderRequests(consentRequest(startServerBody));
    expect(screen.queryByText(/decides? what runs/)).toBeNull();
  });
});
