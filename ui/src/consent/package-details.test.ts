import { screen } from "@testing-library/svelte";
import { describe, expect, it, vi } from "vitest";

import type { LoadedPackage, ConsentRequestBody, UnknownPackageReason } from "$lib/api/generated";

import { ARMING_DELAY_MS } from "./arming.svelte";
import { loadedPackage, consentRequest, startServerBody } from "./fixtures";
import {
  installFakeHostForEachTest,
  accessibilityProblems,
  renderRequests,
} from "./test-harness.svelte";

installFakeHostForEachTest();

const UNKNOWN_PACKAGE_REASONS: UnknownPackageReason[] = [
  "shell_line",
  "wrapped",
  "option",
  "specifier",
  "several",
  "no_package",
  "launcher",
  "variable",
  "project_settings",
  "local_copy",
  "off_search_path",
  "no_client",
  "no_network",
  "timed_out",
  "failed",
];

function startBody(changes: Partial<LoadedPackage>): ConsentRequestBody {
  return { ...startServerBody, package: { ...loadedPackage, ...changes } } as ConsentRequestBody;
}

describe("S25: the package that a launcher loads", () => {
  it("has a version and a hash, and shows the changes", async () => {
    const before = { version: "1.2.3", integrity: "sha512-b2xk", source: null };
    renderRequests(consentRequest(startBody({ before, unpinned: ["pandas"] })));
    expect(screen.getByText("sha512-bmV3"), "the hash should be shown").toBeVisible();
    expect(screen.getByText("sha512-b2xk"), "the approved hash should be shown").toBeVisible();
    expect(
      screen.getByText("Your settings specify no version."),
      "the specified version should be shown",
    ).toBeVisible();
    expect(screen.getByText("pandas"), "other loaded packages should be listed").toBeVisible();
    expect(
      document.querySelector("del")?.textContent,
      "the approved version should be marked",
    ).toBe("1.2.3");
    expect(document.querySelector("ins")?.textContent, "the new version should be marked").toBe(
      "1.2.4",
    );
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS);
    expect(await accessibilityProblems(), "axe should find no violations").toEqual([]);
  });

  it("causes a warning if the registry offers other files for the same version", () => {
    const before = { version: "1.2.4", integrity: "sha512-b2xk", source: null };
    renderRequests(consentRequest(startBody({ before, replaced: true })));
    expect(
      screen.getByText(/^The registry now offers different files for version 1.2.4/),
    ).toBeVisible();
  });

  it.each(UNKNOWN_PACKAGE_REASONS)("shows the reason if it is unknown: %s", (reason) => {
    renderRequests(
      consentRequest(startBody({ version: null, unknown: { reason, detail: "x\u202ey" } })),
    );
    expect(screen.getByText("Drawbridge can't determine which version runs.")).toBeVisible();
    const effect = "npx may load any version, now and at each later start.";
    expect(screen.getByText(effect), "the consequence should be shown").toBeVisible();
    expect(document.body.textContent, "hidden characters should be replaced").not.toContain(
      "\u202e",
    );
  });
});
