import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import type { Server, Skill } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import ServerPage from "../servers/ServerPage.svelte";

import { skillLists } from "./skills.svelte";
import SkillsTab from "./SkillsTab.svelte";

const ROOT = "skill://port/plan-passage";
const URI = `${ROOT}/SKILL.md`;
const TEXT = "---\nname: plan-passage\ndescription: Plans\n---\n\n# Plan it\n\nAsk first.";
let host: FakeHost;
let number = 0;
/** Server with a unique name for each test, because data of servers is retained. */
let server: Server;
let skill: Skill;
let notes: string[];

beforeEach(async () => {
  number += 1;
  server = sampleServer({
    name: `port${number}`,
    capabilities: ["resources", "extensions", "extensions.io.modelcontextprotocol/skills"],
  });
  skill = {
    ...{ uri: URI, name: "plan-passage", description: "Plans a passage" },
    files: [
      { uri: URI, sha256: "0a".repeat(32), size: 120 },
      { uri: `${ROOT}/references/rules.md`, sha256: "0b".repeat(32), size: 40 },
    ],
    others: { license: "MIT" },
    hash: "e3b0",
  };
  notes = [];
  host = await startFakeHost(
    {
      list_skills: ({ server }) => ({ server, skills: [skill], notes }),
      read_skill: ({ file }) => ({
        skill,
        contents: {
          ...{ uri: file ?? URI, mimeType: "text/markdown", blob: null },
          text: file === null ? TEXT : "# Rules",
        },
      }),
    },
    { servers: [server], conversations: [{ id: "c1", title: "Trip", updatedAt: 1 }] },
  );
});

test("lists a skill with its files, and reads them when they are opened", async () => {
  const user = userEvent.setup();
  const { rerender } = render(SkillsTab, { server });
  await user.click(await screen.findByRole("option", { name: /plan-passage/ }));
  expect(router.current, "the skill should be opened").toMatchObject({ tab: "skills", item: URI });
  await rerender({ server, item: URI });
  const files = screen.getByRole("list", { name: "Files" });
  expect(
    within(files)
      .getAllByRole("button")
      .map((file) => file.textContent.trim()),
    "the files should be listed by their paths",
  ).toEqual(["SKILL.md", "references/rules.md"]);
  expect(
    screen.getByText(/Written by port/),
    "the author of the instructions should be named",
  ).toBeInTheDocument();
  expect(host.requests("read_skill"), "nothing should be read automatically").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(
    await screen.findByText("Plan it"),
    "the instructions should be rendered as Markdown",
  ).toBeVisible();
  const head = screen.getByText(/name: plan-passage/, { selector: "pre" });
  expect(head.textContent, "the front matter should be separate").toBe(
    "name: plan-passage\ndescription: Plans",
  );
  expect(host.requests("read_skill"), "the instructions should be read by URI").toMatchObject([
    { server: server.name, skill: URI, shownHash: "e3b0", file: null },
  ]);
  await user.click(within(files).getByRole("button", { name: "references/rules.md" }));
  expect(await screen.findByText("Rules"), "the file should be shown").toBeVisible();
  expect(host.requests("read_skill")[1], "the file should be read by its URI").toMatchObject({
    file: `${ROOT}/references/rules.md`,
  });
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("attaches a skill to the selected conversation", async () => {
  const user = userEvent.setup();
  render(SkillsTab, { server, item: URI });
  await user.click(await screen.findByRole("button", { name: "Attach…" }));
  await user.click(await screen.findByRole("option", { name: /Trip/ }));
  expect(
    host.requests("append_items")[0]?.items[0]?.body,
    "the skill should be attached with its text",
  ).toEqual({
    ...{ kind: "attachment", server: server.name, uri: URI, name: "plan-passage", skill: true },
    contents: [{ uri: URI, mimeType: "text/markdown", text: TEXT, blob: null }],
  });
  expect(router.current, "the conversation should be opened").toEqual({
    at: "conversation",
    id: "c1",
  });
});

test("explains why a skill is omitted or can't be read", async () => {
  const user = userEvent.setup();
  const note = "skill://other/SKILL.md can't be used: its URI is wrong";
  notes = [note, note];
  host.answers.read_skill = () => {
    throw { code: "bad_answer", message: "port: its SHA-256 is another than the one listed" };
  };
  render(SkillsTab, { server, item: URI });
  expect(
    await screen.findAllByText(/skill:\/\/other/),
    "two equal skills should be listed",
  ).toHaveLength(2);
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(
    await screen.findByText(/its SHA-256 is another/),
    "the changed hash should be reported",
  ).toBeInTheDocument();
});

test("makes hidden characters of a skill visible, and bounds its text", async () => {
  const user = userEvent.setup();
  const size = 4_000_000;
  skill = { ...skill, description: "Plans\u202e a passage", others: null };
  host.answers.read_skill = () => ({
    skill,
    contents: {
      ...{ uri: URI, mimeType: "text/markdown", blob: null },
      text: `---\nname: plan-passage\n---\nFirst\u202e line \u001b[2J\n\n${"word ".repeat(size / 5)}`,
    },
  });
  const { container } = render(SkillsTab, { server, item: URI });
  expect(
    await screen.findAllByText("U+202E"),
    "hidden characters should be named in the list and next to it",
  ).toHaveLength(2);
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(
    await screen.findByText(/U\+001B/),
    "hidden characters should be named in the text",
  ).toBeInTheDocument();
  expect(container.textContent, "no control character should remain").not.toMatch(
    /[\u202e]|\p{Cc}\[2J/u,
  );
  expect(container.textContent.length, "the rest should be rendered on demand").toBeLessThan(
    size / 2,
  );
});

test("lists the skills again after an announced change, and keeps unchanged open ones", async () => {
  const user = userEvent.setup();
  const lists = () => host.requests("list_skills").length;
  const announce = () => host.send({ type: "catalog_changed", server: server.name });
  const { unmount } = render(SkillsTab, { server, item: URI });
  await user.click(await screen.findByRole("button", { name: "Read" }));
  expect(await screen.findByText("Plan it")).toBeVisible();
  const other = { ...skill, uri: "skill://port/moor/SKILL.md", name: "moor" };
  host.answers.list_skills = ({ server }) => ({
    server,
    skills: [structuredClone(skill), other],
    notes,
  });
  announce();
  expect(
    await screen.findByRole("option", { name: /moor/ }),
    "the new skill should be listed",
  ).toBeVisible();
  expect(screen.getByText("Plan it"), "an unchanged skill should stay open").toBeVisible();
  const files = skill.files?.map((file) => ({ ...file, sha256: "0c".repeat(32) })) ?? null;
  skill = { ...skill, files };
  announce();
  await waitFor(() =>
    expect(screen.queryByText("Plan it"), "a changed skill should be closed").toBeNull(),
  );
  expect(lists(), "each announcement should cause one read").toBe(3);
  unmount();
  announce();
  announce();
  expect(lists(), "the skills should not be read while the tab is closed").toBe(3);
  render(SkillsTab, { server, item: undefined });
  await waitFor(() => expect(lists(), "the skills should be read once the tab is opened").toBe(4));
});

test("is shown only for a server with skills", async () => {
  render(ServerPage, { name: server.name, tab: "overview", item: undefined });
  expect(
    await screen.findByRole("tab", { name: /Skills/ }),
    "the tab should be shown",
  ).toBeInTheDocument();
  host.send({ type: "server_changed", server: { ...server, capabilities: ["resources"] } });
  const tab = () => screen.queryByRole("tab", { name: /Skills/ });
  await waitFor(() => expect(tab(), "the tab should be removed").toBeNull());
  skillLists.request(server.name);
  expect(host.requests("list_skills"), "the skills should not be read").toEqual([]);
});
