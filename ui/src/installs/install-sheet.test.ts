import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import type {
  InstallDraft,
  InstallOffer,
  InstallPreview,
  SecretStorageReport,
} from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { startFakeHost } from "$lib/testing/fake-host";

import { bundleOffer, sampleInput, sampleOffer, samplePlan, samplePreview } from "./fixtures";
import InstallSheet from "./InstallSheet.svelte";
import { installSheet } from "./install-sheet.svelte";

const user = userEvent.setup();
afterEach(() => cleanup());

const offerOf = (...inputs: ReturnType<typeof sampleInput>[]) =>
  sampleOffer({ plan: samplePlan({ inputs }) });

async function open(offer: InstallOffer, answers: Parameters<typeof startFakeHost>[0] = {}) {
  const host = await startFakeHost({
    plan_install: () => offer,
    preview_install: () => samplePreview(),
    ...answers,
  });
  void installSheet.open(offer.source);
  render(InstallSheet);
  await screen.findByRole("heading", { name: "Source" });
  return host;
}

const add = () => screen.getByRole("button", { name: "Add server" });
const ready = () => waitFor(() => expect(add()).not.toHaveAttribute("aria-busy"));

test("stays open while a server is being added, and links to the added server", async () => {
  let finish: (report: SecretStorageReport) => void = () => undefined;
  await open(offerOf(), {
    install_server: () => new Promise((resolve) => (finish = resolve)),
  });
  await ready();
  await user.click(add());
  expect(screen.getByRole("button", { name: "Cancel" })).toBeDisabled();
  await user.keyboard("{Escape}");
  await user.click(screen.getByRole("button", { name: "Close" }));
  installSheet.openFile();
  void installSheet.open(bundleOffer().source);
  expect(installSheet.isOpen, "the sheet should stay open").toBe(true);
  expect(installSheet.asksForFile, "the sheet should not be replaced").toBe(false);
  expect(installSheet.form?.busy).toBe(true);
  // The next preview has another name than the server that is being added.
  await user.type(screen.getByRole("textbox", { name: "Name" }), "2");
  await waitFor(() => expect(installSheet.form?.previewed?.draft.name).toBe("notes2"));
  finish({ onlyThisRun: null });
  await waitFor(() => expect(installSheet.isOpen).toBe(false));
  expect(router.current).toMatchObject({ at: "server", name: "notes" });
});

test("reads a changed setup again, and keeps the values that still match", async () => {
  const token = sampleInput("token", { secret: true });
  const before = offerOf(token, sampleInput("dir"), sampleInput("old"));
  const after = offerOf(
    { ...token, secret: false },
    sampleInput("dir"),
    sampleInput("new", { required: true }),
  );
  after.plan?.exposedSecrets.push("new");
  let offer = before;
  const host = await open(before, {
    plan_install: () => offer,
    preview_install: () => ({
      ...samplePreview(),
      ...(offer === after && { inputProblems: { new: "missing" }, hash: null }),
    }),
    install_server: () => {
      offer = after;
      throw { code: "stale", message: "it is not what was shown" };
    },
  });
  await ready();
  const name = screen.getByRole("textbox", { name: "Name" });
  await user.type(name, "2");
  await user.type(screen.getByLabelText("token (optional)"), "s3cret");
  await user.type(screen.getByLabelText("dir (optional)"), "/a");
  await user.type(screen.getByLabelText("old (optional)"), "x");
  await ready();
  await user.click(add());
  const fresh = await screen.findByLabelText("new");
  await ready();
  expect(screen.getByText(/The setup changed/)).toBeVisible();
  expect(fresh, "a missing value should be marked").toHaveAttribute("aria-invalid", "true");
  expect(screen.queryByLabelText("old (optional)")).toBeNull();
  expect(
    screen.queryByText(/stored in the keychain/),
    "a value that is not secret any more should not be marked as secret",
  ).toBeNull();
  expect(host.requests("plan_install")).toEqual([before.source, before.source]);
  expect(host.requests("preview_install").at(-1)).toMatchObject({
    name: "notes2",
    values: { dir: ["/a"] },
  });
  expect(
    host.requests("preview_install").at(-1)?.values,
    "only matching values should be kept",
  ).toEqual({ dir: ["/a"] });
});

test("enables the sandbox of a server that had none before", async () => {
  const before = sampleOffer({
    plan: samplePlan({ inputs: [], sandbox: null, containment: { is: "remote" } }),
  });
  const host = await open(before, {
    install_server: () => {
      host.answers.plan_install = () => offerOf();
      throw { code: "stale", message: "it is not what was shown" };
    },
  });
  await ready();
  await user.click(add());
  expect(await screen.findByRole("checkbox", { name: "Run it in a sandbox" })).toBeChecked();
});

test("shows a change after which nothing can be installed", async () => {
  const host = await open(offerOf(), {
    install_server: () => {
      host.answers.plan_install = () => sampleOffer({ plan: null, problem: "it was deleted" });
      throw { code: "stale", message: "it is not what was shown" };
    },
  });
  await ready();
  await user.click(add());
  expect(await screen.findByText("it was deleted")).toBeVisible();
  expect(screen.getByText(/The setup changed/)).toBeVisible();
  expect(screen.queryByRole("button", { name: "Add server" })).toBeNull();
});

test("sends false for an unticked required box", async () => {
  const host = await open(offerOf(sampleInput("on", { kind: "boolean", required: true })));
  await ready();
  expect(host.requests("preview_install").at(-1)?.values).toEqual({ on: ["false"] });
});

test("shows the problem and description of a box", async () => {
  const input = sampleInput("on", { kind: "boolean", required: true, description: "Turns it on" });
  await open(offerOf(input), {
    preview_install: (): InstallPreview => ({
      ...{ problem: null, server: null, before: null, hash: null },
      inputProblems: { on: "not_a_boolean" },
    }),
  });
  await ready();
  await user.click(add());
  const box = screen.getByRole("checkbox", { name: "on" });
  expect(box).toHaveAttribute("aria-invalid", "true");
  expect(box).toHaveFocus();
  expect(box).toHaveAccessibleDescription("Enter true or false. Turns it on");
});

test("describes a field by the publisher's text, its hint and its problem", async () => {
  const description = "As the site shows it";
  await open(
    offerOf(
      sampleInput("key", { required: true, secret: true, description }),
      sampleInput("size", { choices: ["small", "large"], description }),
      sampleInput("dirs", { multiple: true, description }),
    ),
    {
      preview_install: (): InstallPreview => ({
        ...{ problem: null, server: null, before: null, hash: null },
        inputProblems: { key: "missing", size: "not_a_choice", dirs: "too_many" },
      }),
    },
  );
  await ready();
  expect(screen.getByLabelText("key")).toHaveAccessibleDescription(
    "As the site shows it A secret. It is stored in the keychain, not in the settings file.",
  );
  const [text, note] = [
    screen.getAllByText(description)[0],
    screen.getByText(/^A secret\. It is stored/),
  ];
  const order = text?.compareDocumentPosition(note) ?? 0;
  expect(
    order & Node.DOCUMENT_POSITION_FOLLOWING,
    "the description should precede the note on its storage",
  ).toBeTruthy();
  await user.click(add());
  expect(screen.getByLabelText("key")).toHaveAccessibleDescription(`Enter a value. ${description}`);
  const size = screen.getByRole("combobox", { name: "size (optional)" });
  expect(size).toHaveAccessibleDescription(`Choose one of the listed values. ${description}`);
  const dirs = screen.getByRole("group", { name: "dirs (optional)" });
  expect(dirs).toHaveAccessibleDescription(`There are too many values. ${description}`);
  expect(within(dirs).getByRole("textbox")).toHaveAttribute("aria-invalid", "true");
});

test("lists a repeated choice once", async () => {
  await open(offerOf(sampleInput("size", { choices: ["small", "", "small", "large"] })));
  const size = await screen.findByRole("combobox", { name: "size (optional)" });
  expect(
    within(size)
      .getAllByRole("option")
      .map(({ textContent }) => textContent),
  ).toEqual([...["Not set", "small", "large"]]);
});

test("requests one preview at a time, the last one for the current fields", async () => {
  const previews: { draft: InstallDraft; answer: (preview: InstallPreview) => void }[] = [];
  await open(offerOf(), {
    preview_install: (draft) => new Promise((answer) => previews.push({ draft, answer })),
  });
  const form = installSheet.form;
  await waitFor(() => expect(previews).toHaveLength(1));
  await user.type(screen.getByRole("textbox", { name: "Name" }), "2");
  void form?.preparePreview();
  void form?.preparePreview();
  expect(previews, "one preview should be requested at a time").toHaveLength(1);
  previews[0]?.answer(samplePreview("old"));
  await waitFor(() => expect(previews).toHaveLength(2));
  expect(form?.previewed, "an outdated preview should be dropped").toBeNull();
  expect(previews[1]?.draft.name).toBe("notes2");
  previews[1]?.answer(samplePreview("new"));
  await ready();
  expect(form?.previewed?.preview.hash).toBe("new");
  expect(previews, "one preview should be requested for both changes").toHaveLength(2);
});

test("clears an error once a field changes", async () => {
  await open(offerOf(), {
    install_server: () => {
      throw { code: "config", message: "there is a server of this name" };
    },
  });
  await ready();
  await user.click(add());
  await screen.findByText("there is a server of this name");
  await user.type(screen.getByRole("textbox", { name: "Name" }), "2");
  expect(screen.queryByText("there is a server of this name")).toBeNull();
});

test("accepts a decorated hash, and explains an invalid one", async () => {
  const sha256 = "5e".repeat(32);
  const host = await startFakeHost({
    plan_install: () => bundleOffer(),
    preview_install: () => samplePreview(),
  });
  installSheet.openFile();
  render(InstallSheet);
  await user.type(await screen.findByRole("textbox", { name: "File" }), "/notes.mcpb");
  const hash = screen.getByRole("textbox", { name: "SHA-256 (optional)" });
  await user.click(hash);
  await user.paste(`sha256:${sha256.slice(0, 60)}`);
  await user.click(screen.getByRole("button", { name: "Continue" }));
  expect(hash).toHaveAccessibleDescription(/64/);
  expect(hash).toHaveFocus();
  expect(host.requests("plan_install"), "the host should not be called").toEqual([]);
  await user.clear(hash);
  await user.paste(` sha256:${sha256.toUpperCase()} `);
  expect(hash).not.toHaveAttribute("aria-invalid");
  await user.click(screen.getByRole("button", { name: "Continue" }));
  await ready();
  expect(host.requests("plan_install")).toEqual([
    { from: "bundle", path: "/notes.mcpb", sha256: sha256.toUpperCase() },
  ]);
});
