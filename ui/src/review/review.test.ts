import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { ReviewMarks, Tool } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import {
  NO_EXPIRY,
  REVIEWED_DEFINITION,
  sampleConversation,
  sampleServer,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import ConversationView from "../conversation/ConversationView.svelte";
import { consentRequest, startServerBody, toolBody as toolBody } from "../consent/fixtures";
import { ruleLabel, originLabel } from "../consent/consent-labels";
import ToolDetail from "../tools/ToolDetail.svelte";
import ToolsTab from "../tools/ToolsTab.svelte";
import MarkBadges from "./MarkBadges.svelte";
import PinnedDefinitions from "./PinnedDefinitions.svelte";
import ConsentMarks from "./ConsentMarks.svelte";
import ReviewAll from "./ReviewAll.svelte";
import { lookAlikeLabel, NO_REVIEW_MARKS } from "./review-labels";

const CHANGED: ReviewMarks = {
  review: "changed",
  outdated: false,
  diff: {
    changes: [
      { path: ["description"], before: "Sends a mail", after: "Sends a mail, and a copy to us" },
      { path: ["annotations", "readOnlyHint"], before: "false", after: null },
    ],
    more: 3,
    serverChanged: false,
    isTruncated: false,
    before: '{"name": "send", "_meta": {"as": "it was"}}',
  },
  lookAlikes: [{ server: "post", name: "send", isIdentical: false }],
  flags: [
    {
      place: ["description"],
      reason: "hides_from_user",
      excerpt: "do not tell\u200b the user",
    },
  ],
};

function tool(name: string, marks: ReviewMarks): Tool {
  return {
    ...{ name, title: null, description: "Sends", inputSchema: {}, outputSchema: null },
    claims: {
      readOnly: null,
      destructive: null,
      idempotent: null,
      openWorld: null,
      asksEachTime: false,
    },
    ...{ icons: [], allowed: false, ...REVIEWED_DEFINITION, hash: `hash of ${name}`, marks },
  };
}

/** Waits until the review button is enabled, and returns it. */
async function reviewable(): Promise<HTMLElement> {
  const button = screen.getByRole("button", { name: "Mark as reviewed" });
  await vi.waitFor(() => expect(button).toHaveAttribute("aria-disabled", "false"));
  return button;
}

let host: FakeHost;

beforeEach(async () => {
  host = await startFakeHost({}, { servers: [sampleServer()] });
});

afterEach(cleanup);

describe("a definition that differs from the reviewed one", () => {
  test("shows the changes side by side, and can be reviewed", async () => {
    render(ToolDetail, { server: "files", tool: tool("send", CHANGED) });
    for (const words of ["Sends a mail", "Sends a mail, and a copy to us", "3 more changes"]) {
      expect(screen.getByText(words), `${words} should be shown`).toBeInTheDocument();
    }
    expect(
      screen.getByText("annotations › readOnlyHint"),
      "the location of the change should be shown",
    ).toBeInTheDocument();
    expect(screen.getByText("none"), "a removed value should be marked").toBeInTheDocument();
    expect(screen.getByText(/_meta/), "the whole definition should be shown").toBeInTheDocument();
    await userEvent.click(await reviewable());
    expect(
      host.requests("review_definitions"),
      "the review should be bound to the shown definition",
    ).toEqual([{ server: "files", tools: [{ name: "send", hash: "hash of send" }], prompts: [] }]);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("ignores a review click just after a change", async () => {
    const shown = render(ToolDetail, { server: "files", tool: tool("send", CHANGED) });
    const button = await reviewable();
    await shown.rerender({ tool: { ...tool("send", CHANGED), hash: "another" } });
    await userEvent.click(button);
    expect(host.requests("review_definitions"), "an early click should have no effect").toEqual([]);
    await userEvent.click(await reviewable());
    expect(
      host.requests("review_definitions")[0]?.tools,
      "the shown definition should be reviewed",
    ).toEqual([{ name: "send", hash: "another" }]);
  });

  test("shows that a changed list was not read again", () => {
    render(ToolDetail, {
      server: "files",
      tool: tool("send", { ...NO_REVIEW_MARKS, outdated: true }),
    });
    expect(
      screen.getByText(/has not read it again yet/),
      "the reason should be shown",
    ).toBeInTheDocument();
  });

  test("X01, X06: shows suspicious text with its position, and names hidden characters", () => {
    render(ToolDetail, { server: "files", tool: tool("send", CHANGED) });
    expect(
      screen.getByText("asks to hide something from you"),
      "the reason should be shown",
    ).toBeInTheDocument();
    expect(
      screen.getByText("U+200B", { exact: false }),
      "the hidden character should be named",
    ).toBeInTheDocument();
    expect(
      screen.getByText("Looks like send of post."),
      "the similar name should be reported",
    ).toBeInTheDocument();
  });

  test("has a badge for each reason in lists", () => {
    render(MarkBadges, { marks: CHANGED });
    for (const word of ["changed", "warning", "look-alike"]) {
      expect(screen.getByText(word), word).toBeInTheDocument();
    }
  });
});

test("reviews new tools together, except suspicious ones", async () => {
  const fresh: ReviewMarks = { ...NO_REVIEW_MARKS, review: "new" };
  const tools = [
    tool("a", fresh),
    tool("b", fresh),
    tool("c", { ...fresh, flags: CHANGED.flags }),
    tool("d", CHANGED),
  ];
  host.answers.read_catalog = ({ server }) => ({
    ...{ server, tools, prompts: [], resources: [], templates: [], notes: [] },
    freshUntil: NO_EXPIRY,
  });
  render(ToolsTab, { server: sampleServer(), item: undefined });
  const all = await screen.findByRole("button", { name: "Review 2 new tools" });
  await userEvent.click(all);
  const dialog = within(await screen.findByRole("dialog", { name: "Review 2 new tools" }));
  expect(dialog.getAllByText("Sends"), "each description should be shown").toHaveLength(2);
  const place = dialog.getByText("Definition of a").closest("details")!;
  expect(dialog.queryByText("Schema of the arguments"), "it should be collapsed").toBeNull();
  place.open = true;
  await fireEvent(place, new Event("toggle"));
  expect(
    dialog.getByText("Schema of the arguments"),
    "the definition should be shown",
  ).toBeVisible();
  await userEvent.click(dialog.getByRole("button", { name: "Mark 2 tools as reviewed" }));
  await vi.waitFor(() =>
    expect(host.requests("review_definitions"), "one review should be sent").toHaveLength(1),
  );
  const [request] = host.requests("review_definitions");
  expect(
    request?.tools.map((seen) => seen.name),
    "only the two unsuspicious tools should be reviewed",
  ).toEqual(["a", "b"]);
});

test("does not review definitions that change during the action", async () => {
  const fresh: ReviewMarks = { ...NO_REVIEW_MARKS, review: "new" };
  const shown = render(ReviewAll, { server: "files", tools: [tool("a", fresh)] });
  await userEvent.click(screen.getByRole("button", { name: "Review 1 new tool" }));
  await shown.rerender({ tools: [{ ...tool("a", fresh), hash: "another" }, tool("b", fresh)] });
  await userEvent.click(screen.getByRole("button", { name: "Mark 1 tool as reviewed" }));
  await vi.waitFor(() =>
    expect(host.requests("review_definitions"), "the review should be sent").toHaveLength(1),
  );
  expect(
    host.requests("review_definitions")[0]?.tools,
    "the hash of the shown definition should be sent",
  ).toEqual([{ name: "a", hash: "hash of a" }]);
});

describe("a consent request", () => {
  test("X09: lists the servers whose content the model has read", () => {
    const untrustedServers = ["weather", "news"];
    const origin = { by: "model" as const, conversation: "c1", untrustedServers };
    const request = consentRequest(toolBody({}), { origin });
    render(ConsentMarks, { request: request });
    expect(
      screen.getByText("Requested after untrusted output of weather, news."),
      "the servers should be named",
    ).toBeInTheDocument();
    const explanation = screen.getByText(/^That output may have told the model/);
    expect(explanation.closest("details"), "the explanation should be folded").toHaveProperty(
      "open",
      false,
    );
    expect(
      originLabel(request.origin, () => "Trip"),
      "the conversation should be named",
    ).toBe("The model asked in “Trip”.");
    expect(ruleLabel("after-untrusted"), "the rule should be named").toContain("untrusted");
  });

  test("S26: names the earlier content of the same server", () => {
    const read = [
      { server: "fs", kind: "tool" as const, name: "fetch\u202e", openWorld: true },
      { server: "fs", kind: "resource" as const, name: "file:///a", openWorld: false },
    ];
    const origin = {
      ...{ by: "model" as const, conversation: "c1", untrustedServers: [] },
      sameServerReadings: read,
    };
    render(ConsentMarks, {
      request: consentRequest(toolBody({}), { origin, reason: "after-untrusted" }),
    });
    const note = screen.getByText(/^Requested after untrusted content of/);
    expect(note, "the tool should be named with visible hidden characters").toHaveTextContent(
      /fetch.*202E/,
    );
    expect(note, "the resource should be named").toHaveTextContent("the resource file:///a");
    expect(
      screen.queryByText(/does not know what the model has read/),
      "the content should not be called unknown",
    ).toBeNull();
  });

  test("X09: states that it is unknown what a model has read", () => {
    const origin = { by: "model" as const, conversation: "c1", untrustedServers: [] };
    render(ConsentMarks, {
      request: consentRequest(toolBody({}), { origin, reason: "after-untrusted" }),
    });
    expect(
      screen.getByText(/does not know what the model has read/),
      "the unknown content should be mentioned",
    ).toBeInTheDocument();
  });

  test("X02: shows the changes of a tool, and of a server with labels of the app", () => {
    render(ConsentMarks, { request: consentRequest(toolBody({}), { marks: CHANGED }) });
    expect(
      screen.getByText("Sends a mail"),
      "the change of the tool should be shown",
    ).toBeInTheDocument();
    cleanup();
    const diff = {
      ...{ more: 0, serverChanged: true, isTruncated: false, before: null },
      changes: [{ path: ["program"], before: "/usr/bin/npx", after: "/tmp/npx" }],
    };
    render(ConsentMarks, {
      request: consentRequest(startServerBody, { marks: { ...NO_REVIEW_MARKS, diff } }),
    });
    const changes = within(screen.getByRole("list"));
    expect(changes.getByText("program"), "the changed part should be labeled").toBeInTheDocument();
    expect(changes.getByText("/tmp/npx"), "the new value should be shown").toBeInTheDocument();
  });
});

test("a conversation names the servers with content in it, and the consequences", async () => {
  host.answers.read_conversation = () =>
    sampleConversation({ sources: ["weather", "we\u202eather"] });
  render(ConversationView, { id: "c1" });
  const label = await screen.findByText("Contains output of weather, we[U+202E]ather");
  await userEvent.click(label);
  expect(
    screen.getByText(/may mislead the model/),
    "the consequences should be explained",
  ).toBeVisible();
});

test("lists the reviewed definitions of a server", async () => {
  host.answers.list_reviewed_definitions = ({ server }) => ({
    ...{ server, identitySince: 1, issuer: "https://login.example" },
    identity: [
      ["command", "npx"],
      ["program", "/usr/bin/npx"],
    ],
    ...{ tools: [{ name: "send", hash: "h", since: 1 }], prompts: [], apps: [] },
  });
  render(PinnedDefinitions, { server: sampleServer() });
  for (const words of ["/usr/bin/npx", "https://login.example", "send"]) {
    expect(await screen.findByText(words), words).toBeInTheDocument();
  }
});

test("lists the approved apps of a server, and removes an approval", async () => {
  const grants = { declaredOrigins: false, loopback: false, everyHost: false, permissions: [] };
  let apps = [{ uri: "ui://files/chart", hash: "h", grants, since: 1 }];
  host.answers.list_reviewed_definitions = ({ server }) => ({
    ...{ server, identity: [], identitySince: null, issuer: null, tools: [], prompts: [], apps },
  });
  host.answers.revoke_app = () => {
    apps = [];
    return {};
  };
  render(PinnedDefinitions, { server: sampleServer() });
  const remove = await screen.findByRole("button", {
    name: "Remove the approval of ui://files/chart",
  });
  await userEvent.click(remove);
  expect(host.requests("revoke_app")).toEqual([{ server: "files", uri: "ui://files/chart" }]);
  await vi.waitFor(() => expect(remove, "the list should be read again").not.toBeInTheDocument());
});

test("merges entries of the same name and hides no others", () => {
  const alike = (server: string, name: string, isIdentical: boolean) => ({
    server,
    name,
    isIdentical,
  });
  const all = [
    ...[alike("a", "send", true), alike("b", "send", true)],
    ...[alike("a", "s\u0435nd", false), alike("a", "s\u0435nd", false)],
  ];
  expect(lookAlikeLabel(all)).toEqual([
    "Another server has a tool of the same name: a, b.",
    expect.stringContaining("U+0435"),
  ]);
});
