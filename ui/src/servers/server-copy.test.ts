// Menu items of a server that copy its settings and its link.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";

import type { ExportedServer, ExportOmissions, ServerExportForm } from "$lib/api/generated";
import { failures } from "$lib/state/failures.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import { showServerTab } from "./server-page-fixtures";
import ServerHeader from "./ServerHeader.svelte";

const user = userEvent.setup();

function exported(text: string, omissions: Partial<ExportOmissions> = {}): ExportedServer {
  const nothing = { name: null, secrets: [], removed: [], settings: [], localPaths: [] };
  return { text, omissions: { ...nothing, ...omissions } };
}

async function choose(item: string) {
  await user.click(screen.getByRole("button", { name: "More" }));
  await user.click(await screen.findByRole("menuitem", { name: item }));
}

describe("copying a server", () => {
  const forms: [string, ServerExportForm, string][] = [
    ["Copy settings as JSON", "mcp_servers", "Settings copied as JSON"],
    ["Copy settings as JSON for VS Code", "vs_code", "Settings copied as JSON for VS Code"],
    ["Copy “Add to Drawbridge” link", "link", "Link copied"],
    ["Copy “Add to Drawbridge” badge (Markdown)", "link_markdown", "Badge copied as Markdown"],
  ];

  test.each(forms)("%s puts the text of the host into the clipboard", async (item, form, title) => {
    const host = await showServerTab("overview", {}, { export_server: () => exported("the text") });
    await choose(item);
    expect(await screen.findByText(title)).toBeVisible();
    expect(screen.getByText("Nothing was omitted.")).toBeVisible();
    expect(host.requests("export_server")).toEqual([{ server: "files", form }]);
    expect(await navigator.clipboard.readText()).toBe("the text");
    await user.click(screen.getByRole("button", { name: "Close" }));
    expect(screen.queryByText(title), "the note should be closed").toBeNull();
  });

  test("names everything that is omitted", async () => {
    const omissions: ExportOmissions = {
      name: "my-files",
      secrets: ["API_KEY", "TO\u202eKEN"],
      removed: [{ is: "argument", number: 3 }, { is: "sign_in" }],
      settings: ["sandbox", "working_folder"],
      localPaths: ["/home/ann"],
    };
    await showServerTab("overview", {}, { export_server: () => exported("link", omissions) });
    await choose("Copy “Add to Drawbridge” link");
    expect(
      await screen.findByText(/because they are secrets: API_KEY, TO.*U\+202E.*KEN\. Whoever/),
      "hidden characters in names should be visible",
    ).toBeVisible();
    expect(screen.getByText(/no place for it in the copy: sandbox, working folder/)).toBeVisible();
    expect(screen.getByText(/^Named my-files in the link/)).toBeVisible();
    expect(screen.getByText(/only on this computer: \/home\/ann\./)).toBeVisible();
    expect(
      screen.getByText(/look like secrets: Argument 3, sign-in settings\. Whoever/),
    ).toBeVisible();
    expect(screen.queryByText("Nothing was omitted.")).toBeNull();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("shows the text for manual copying when the system refuses the clipboard", async () => {
    await showServerTab("overview", {}, { export_server: () => exported("the text") });
    const write = vi.spyOn(navigator.clipboard, "writeText").mockRejectedValue(new Error("no"));
    await choose("Copy settings as JSON");
    expect(await screen.findByText(/blocked access to the clipboard/)).toBeVisible();
    expect(screen.getByRole("textbox", { name: "Text to copy" })).toHaveValue("the text");
    expect(screen.queryByText("Settings copied as JSON")).toBeNull();
    write.mockRestore();
  });

  test.each(["link", "badge (Markdown)"])("shows why there can be no %s", async (item) => {
    const message = "no link can install this server: its address is not encrypted";
    await showServerTab(
      "overview",
      {},
      {
        export_server: () => {
          throw { code: "invalid", message };
        },
      },
    );
    await choose(`Copy “Add to Drawbridge” ${item}`);
    await waitFor(() => expect(failures.list[0]?.title).toBe("No link can add this server"));
    expect(failures.list[0]?.cause).toMatchObject({ message });
  });

  test("shows no note on the page of another server", async () => {
    await startFakeHost({ export_server: () => exported("x") });
    const { rerender } = render(ServerHeader, { server: sampleServer() });
    await choose("Copy settings as JSON");
    expect(await screen.findByText("Settings copied as JSON")).toBeVisible();
    await rerender({ server: sampleServer({ name: "git" }) });
    expect(screen.queryByText("Settings copied as JSON")).toBeNull();
  });
});
