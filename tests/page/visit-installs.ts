// Visits the registry, the install sheet, and the page of an installed server with a newer version.
import { expect, type Page } from "@playwright/test";

import type { DevHost } from "./dev-host";
import { visit } from "./fixtures";
import { type Entry, entry } from "./registry.mjs";
import type { OnView } from "./visit-views";

const NAME = "io.github.alice/notes";
const SECRET = { name: "NOTES_KEY", description: "From your account", isRequired: true, isSecret: true };

function notes(version: string, listing: Record<string, unknown> = {}): Entry {
  const server = {
    ...{ name: NAME, version, title: "Notes", description: "Keeps notes where you can find them" },
    repository: { url: "https://github.com/alice/notes", source: "github" },
    packages: [
      {
        ...{ registryType: "npm", identifier: "@alice/notes", version, transport: { type: "stdio" } },
        environmentVariables: [SECRET],
      },
    ],
  };
  return entry(server, listing);
}

/** Registry entries of two versions of a server, the older of which is deprecated. */
export const NEWER_AND_OLD = [
  notes("1.3.0"),
  notes("1.2.0", { status: "deprecated", statusMessage: "Use 1.3, which keeps them in order", isLatest: false }),
];

/** Installs the older version through the API. */
export async function installOld(host: DevHost, secret: string): Promise<void> {
  const target = { kind: "package", number: 1 };
  const source = { from: "registry", name: NAME, version: "1.2.0", target };
  const draft = { source, name: "notes", values: { NOTES_KEY: [secret] } };
  const { hash } = (await host.call("preview_install", draft)) as { hash: string };
  await host.call("install_server", { draft, hash });
}

export async function visitInstalls(app: Page, host: DevHost, onView: OnView): Promise<void> {
  await visit(app, "#/registry");
  const main = app.getByRole("main");
  await expect(main.getByRole("article")).toHaveCount(1);
  await onView("registry");
  await main.getByRole("article").getByRole("link").click();
  await expect(main.getByRole("heading", { level: 1 })).toHaveText(NAME);
  await onView("registry-server");
  await main.getByRole("group", { name: /@alice\/notes/ }).getByRole("button").click();
  await expect(app.getByRole("dialog").getByTestId("exactly")).toBeVisible();
  await onView("install-sheet");
  await app.keyboard.press("Escape");
  await expect(app.getByRole("dialog")).toHaveCount(0);
  await installOld(host, "s3cret-0123456789");
  await visit(app, "#/server/notes/overview");
  const newer = main.getByRole("group").filter({ hasText: "1.2.0 → 1.3.0" });
  await expect(newer).toBeVisible();
  await onView("installed-server");
  await newer.getByRole("button").click();
  await expect(app.getByRole("dialog").getByTestId("changes")).toContainText("@alice/notes@1.3.0");
  await onView("upgrade-sheet");
  await app.keyboard.press("Escape");
}
