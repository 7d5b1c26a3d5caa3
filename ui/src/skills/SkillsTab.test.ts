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
      skills: ({ server }) => ({ server, skills: [skill], notes }),
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
  expect(router.current, "opened").toMatchObject({ tab: "skills", item: URI });
  await rerender({ server, item: URI });
  const files = screen.getByRole("list", { name: "Files" });
  expect(
    within(files)
      .getAllByRole("button")
      .map((file) => file.textContent.trim()),
    "by their paths",
  ).toEqual(["SKILL.md", "references/rules.md"]);
  expect(screen.getByText(/Written by port/), "whose instructions they are").toBeInTheDocument();
  expect(host.requests("read_skill"), "nothing is read before it is asked for").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(await screen.findByText("Plan it"), "as Markdown").toBeVisible();
  const head = screen.getByText(/name: plan-passage/, { selector: "pre" });
  expect(head.textContent, "its header apart").toBe("name: plan-passage\ndescription: Plans");
  expect(host.requests("read_skill"), "by its URI").toMatchObject([
    { server: server.name, skill: URI, shown: "e3b0", file: null },
  ]);
  await user.click(within(files).getByRole("button", { name: "references/rules.md" }));
  expect(await screen.findByText("Rules"), "a file of it").toBeVisible();
  expect(host.requests("read_skill")[1], "by its own").toMatchObject({
    file: `${ROOT}/references/rules.md`,
  });
  expect(await axeProblems(), "axe finds nothing").toEqual([]);
});

test("attaches a skill to the selected conversation", async () => {
  const user = userEvent.setup();
  render(SkillsTab, { server, item: URI });
  await user.click(await screen.findByRole("button", { name: "Attach…" }));
  await user.click(await screen.findByRole("option", { name: /Trip/ }));
  expect(host.requests("append_items")[0]?.items[0]?.body, "as a skill, with its text").toEqual({
    ...{ kind: "attachment", server: server.name, uri: URI, name: "plan-passage", skill: true },
    contents: [{ uri: URI, mimeType: "text/markdown", text: TEXT, blob: null }],
  });
  expect(router.current, "and goes there").toEqual({ at: "conversation", id: "c1" });
});

test("explains why a skill is omitted or can't be read", async () => {
  const user = userEvent.setup();
  const note = "skill://other/SKILL.md can't be used: its URI is wrong";
  notes = [note, note];
  host.answers.read_skill = () => {
    throw { code: "bad_answer", message: "port: its SHA-256 is another than the one listed" };
  };
  render(SkillsTab, { server, item: URI });
  expect(await screen.findAllByText(/skill:\/\/other/), "also two that are equal").toHaveLength(2);
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(await screen.findByText(/its SHA-256 is another/), "not as listed").toBeInTheDocument();
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
  expect(await screen.findAllByText("U+202E"), "in the list and beside it").toHaveLength(2);
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(await screen.findByText(/U\+001B/), "in its text").toBeInTheDocument();
  expect(container.textContent, "nothing acts").not.toMatch(/[\u202e]|\p{Cc}\[2J/u);
  expect(container.textContent.length, "the rest is opened on demand").toBeLessThan(size / 2);
});

test("lists the skills again after an announced change, and keeps unchanged open ones", async () => {
  const user = userEvent.setup();
  const lists = () => host.requests("skills").length;
  const announce = () => host.send({ type: "catalog_changed", server: server.name });
  const { unmount } = render(SkillsTab, { server, item: URI });
  await user.click(await screen.findByRole("button", { name: "Read" }));
  expect(await screen.findByText("Plan it")).toBeVisible();
  const other = { ...skill, uri: "skill://port/moor/SKILL.md", name: "moor" };
  host.answers.skills = ({ server }) => ({
    server,
    skills: [structuredClone(skill), other],
    notes,
  });
  announce();
  expect(await screen.findByRole("option", { name: /moor/ }), "the new one is there").toBeVisible();
  expect(screen.getByText("Plan it"), "what is read stays, as it did not change").toBeVisible();
  const files = skill.files?.map((file) => ({ ...file, sha256: "0c".repeat(32) })) ?? null;
  skill = { ...skill, files };
  announce();
  await waitFor(() => expect(screen.queryByText("Plan it"), "no more, as it changed").toBeNull());
  expect(lists(), "once at first, and once for each announcement").toBe(3);
  unmount();
  announce();
  announce();
  expect(lists(), "nobody looks, so the server is not asked").toBe(3);
  render(SkillsTab, { server, item: undefined });
  await waitFor(() => expect(lists(), "until somebody does").toBe(4));
});

test("is shown only for a server with skills", async () => {
  render(ServerPage, { name: server.name, tab: "overview", item: undefined });
  expect(await screen.findByRole("tab", { name: /Skills/ }), "it does").toBeInTheDocument();
  host.send({ type: "server_changed", server: { ...server, capabilities: ["resources"] } });
  const tab = () => screen.queryByRole("tab", { name: /Skills/ });
  await waitFor(() => expect(tab(), "no more").toBeNull());
  skillLists.request(server.name);
  expect(host.requests("skills"), "and it is not asked").toEqual([]);
});
