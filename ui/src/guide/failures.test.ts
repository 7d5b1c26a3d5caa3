// Renders every failure that the window names, with its cause and button, and writes the guide's table of failures
// from the same records.
import { readFileSync, writeFileSync } from "node:fs";

import { cleanup, render, screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, test } from "vitest";

import type {
  BlockedPath,
  CallFailureCode,
  CallRefusal,
  ConversationItem,
  FailureReason,
  ModelErrorCode,
  ProposalRefusal,
  SandboxProblem,
  Server,
  SignInFailure,
  StartRefusal,
} from "$lib/api/generated";
import type { FailureTexts } from "$lib/failure-texts";
import { locale } from "$lib/state/locale.svelte";
import { sampleConversation, sampleServer, startFakeHost } from "$lib/testing/fake-host";

import ConversationView from "../conversation/ConversationView.svelte";
import { MODEL_ACTIONS, MODEL_FAILURES, NO_MODEL_FAILURE } from "../models/failures";
import { m } from "../paraglide/messages";
import { overwriteGetLocale } from "../paraglide/runtime";
import ServerFailure from "../servers/ServerFailure.svelte";
import {
  BLOCKED_PATH_FAILURES,
  DENIED_BY_RULE,
  PROPOSED_FOLDER_FAILURE,
  LOCAL_FAILURES,
  REMOTE_FAILURES,
  SANDBOX_FAILURES,
  SERVER_ACTIONS,
  SILENT_EXIT_FAILURE,
  WAITING_STATES,
} from "../servers/failures";
import { explainMissingCapability } from "../servers/missing-capability";
import Reconnecting from "../servers/Reconnecting.svelte";
import { authorizations } from "../sign-in/authorizations.svelte";
import { SIGN_IN_ACTIONS, SIGN_IN_ENDED, SIGN_IN_FAILURES } from "../sign-in/failures";
import { sampleAccount, sampleAuthorization, serverUrl } from "../sign-in/fixtures";
import NeedsSignIn from "../sign-in/NeedsSignIn.svelte";
import SignInTab from "../sign-in/SignInTab.svelte";
import { CALL_ACTIONS, CALL_FAILURES, CALL_REFUSALS } from "../tools/failures";
import { runTool } from "../tools/tool-run.svelte";
import RunView from "../tools/RunView.svelte";

const LANGUAGES = ["en", "zh"] as const;
/** Set to write the table to the guide. Otherwise the test compares it with the guide. */
const WRITES = process.env.UPDATE_GUIDE === "1";

interface Row {
  /** Error code of the failure. The test is named after it. */
  code: string;
  cause: () => string;
  fix: () => string;
  button: () => string;
  show: () => unknown;
}

afterEach(() => cleanup());

/** Returns the table rows for a record of failures. */
function rows<Code extends string, Action extends string>(
  failures: Record<Code, FailureTexts<Action>>,
  labels: Record<Action, () => string>,
  show: (code: Code) => unknown,
): Row[] {
  return (Object.entries(failures) as [Code, FailureTexts<Action>][]).map(
    ([code, { cause, fix, action }]) => ({
      ...{ code, cause, fix, button: labels[action] },
      show: () => show(code),
    }),
  );
}

const remote: Partial<Server> = {
  config: {
    ...{ type: "http", url: serverUrl.url, headers: [], kind: null, auth: null, revision: null },
  },
  ...{ commandLine: serverUrl.url, url: serverUrl, transport: "streamable-http", pid: null },
};
const sandboxed: Partial<Server> = {
  config: {
    ...{ type: "stdio", command: "node", args: ["/w/app.js"], env: {}, cwd: null, revision: null },
    sandbox: { folders: [], network: { preset: "files_only" } },
  },
};

function failed(
  changes: Partial<Server>,
  reason: FailureReason,
  more: {
    sandbox?: SandboxProblem;
    blocked?: BlockedPath[];
    refusal?: StartRefusal;
    stderr?: string[];
  } = {},
) {
  const state = { is: "failed" as const, reason, message: "what the system says" };
  const failure = { ...state, stderr: ["a line"], searchedFolders: [], hint: null, ...more };
  render(ServerFailure, { server: sampleServer({ ...changes, state: failure }), failure });
}

/** Returns the rows of a start that a rule denies. */
const deniedByRule = (changes: Partial<Server>) =>
  rows({ denied_by_rule: DENIED_BY_RULE }, SERVER_ACTIONS, (refusal) =>
    failed(changes, "refused", { refusal }),
  );

function waits(changes: Partial<Server>) {
  const retry = { is: "reconnecting" as const, attempt: 1, at: Date.now() + 5000, cause: "gone" };
  render(Reconnecting, { server: sampleServer({ ...changes, state: retry }), retry });
}

function needsSignIn() {
  const needed = { is: "needs_sign_in" as const, cause: "401", signingIn: false };
  render(NeedsSignIn, { server: sampleServer({ ...remote, state: needed }), needed });
}

function blocked(proposal: BlockedPath["proposal"]) {
  failed(sandboxed, "exited_early", { blocked: [{ path: "/x/y", namedBy: "server", proposal }] });
}

async function signIn(known: ReturnType<typeof sampleAuthorization>) {
  const server = sampleServer(remote);
  await startFakeHost({ read_authorization: () => known }, { servers: [server] });
  await authorizations.read(server.name);
  render(SignInTab, { server });
}

async function called(
  code: CallFailureCode,
  more: { refusal?: CallRefusal; data?: unknown } = {},
  name = "files",
) {
  const failure = { code, message: "what the host says", ...more };
  await startFakeHost(
    { call_tool: () => Promise.reject(failure) },
    { servers: [sampleServer({ name, state: { is: "stopped" } })] },
  );
  const run = runTool({ server: name, tool: "read", arguments: {} });
  await run.ended;
  render(RunView, { run, onrepeat: () => undefined });
}

function refused(is: CallRefusal["is"]) {
  const rule = { is: "denied_by_rule", rule: "rule 3" } as const;
  return called("refused", { refusal: is === "denied_by_rule" ? rule : ({ is } as CallRefusal) });
}

/** Returns the row of a call that failed because sampling is off for its server. */
function samplingOff(code: string, sampling: object): Row {
  const data = { rpcCode: -32021, rpcData: { requiredCapabilities: { sampling } } };
  const explained = () => {
    const explanation = explainMissingCapability({ code: "server", message: "", data }, "demo");
    if (explanation === null) throw new Error("the missing capability is not explained");
    return explanation;
  };
  return {
    code,
    cause: () => explained().title,
    fix: () => explained().text,
    button: () => explained().action.label,
    show: () => called("server", { data }, "demo"),
  };
}

/** Requests an answer in a conversation without a model. */
async function asked() {
  const user = userEvent.setup();
  const message: ConversationItem = {
    ...{ id: "m1", at: 1 },
    body: { kind: "message", role: "user", content: [{ type: "text", text: "hi" }], prompt: null },
  };
  const failure = { code: "no_model", message: "what the host says" };
  await startFakeHost({
    read_conversation: () => sampleConversation({ items: [message] }),
    edit_message: () => Promise.reject(failure),
  });
  render(ConversationView, { id: "c1" });
  await user.click(await screen.findByRole("button", { name: "Edit and send again" }));
  const [send] = screen.getAllByRole("button", { name: "Send" });
  await user.click(send ?? document.body);
  await screen.findByRole("alert");
}

async function answered(code: ModelErrorCode) {
  const model = { provider: "lab", model: "small" };
  const message: ConversationItem = {
    ...{ id: "m1", at: 1 },
    body: { kind: "message", role: "user", content: [{ type: "text", text: "hi" }], prompt: null },
  };
  const reply: ConversationItem = {
    ...{ id: "a1", parent: "m1", at: 2 },
    body: {
      ...{ kind: "reply", model, parts: [], stop: null, cost: null, firstAfter: null, took: 0 },
      usage: { input: null, output: null, cachedInput: null, thinking: null },
      error: { code, message: "what the provider says" },
    },
  };
  const conversation = sampleConversation({ items: [message, reply] });
  await startFakeHost({ read_conversation: () => conversation });
  render(ConversationView, { id: "c1" });
  await screen.findByRole("alert");
}

const SECTIONS: { title: () => string; rows: Row[] }[] = [
  {
    title: m.guide_failures_local,
    rows: [
      ...rows(LOCAL_FAILURES, SERVER_ACTIONS, (reason) => failed({}, reason)),
      ...rows({ silent_exit: SILENT_EXIT_FAILURE }, SERVER_ACTIONS, () =>
        failed({}, "exited_early", { stderr: [] }),
      ),
      ...deniedByRule({}),
      ...rows({ ended: WAITING_STATES.ended }, SERVER_ACTIONS, () => waits({})),
    ],
  },
  {
    title: m.guide_failures_remote,
    rows: [
      ...rows(REMOTE_FAILURES, SERVER_ACTIONS, (reason) => failed(remote, reason)),
      ...deniedByRule(remote),
      ...rows({ dropped: WAITING_STATES.dropped }, SERVER_ACTIONS, () => waits(remote)),
      ...rows({ sign_in: WAITING_STATES.sign_in }, SERVER_ACTIONS, needsSignIn),
    ],
  },
  {
    title: m.guide_failures_sandbox,
    rows: [
      ...rows(SANDBOX_FAILURES, SERVER_ACTIONS, (sandbox) =>
        failed(sandboxed, "could_not_start", { sandbox }),
      ),
      {
        ...PROPOSED_FOLDER_FAILURE,
        code: "offered",
        button: PROPOSED_FOLDER_FAILURE.buttonLabel,
        show: () => blocked({ is: "folder", folder: "/x", names: ["y"], count: 1 }),
      },
      ...rows(BLOCKED_PATH_FAILURES, SERVER_ACTIONS, (reason: ProposalRefusal) =>
        blocked({ is: "none", reason }),
      ),
    ],
  },
  {
    title: m.guide_failures_signin,
    rows: [
      ...rows(SIGN_IN_FAILURES, SIGN_IN_ACTIONS, (failure: SignInFailure) =>
        signIn(sampleAuthorization({ failureMessage: "what the host says", failure })),
      ),
      ...rows({ ended: SIGN_IN_ENDED }, SIGN_IN_ACTIONS, () =>
        signIn(
          sampleAuthorization({
            account: sampleAccount({ reauthenticationReason: "it expired" }),
          }),
        ),
      ),
    ],
  },
  {
    title: m.guide_failures_calls,
    rows: [
      ...rows(CALL_FAILURES, CALL_ACTIONS, (code) => called(code)),
      ...rows(CALL_REFUSALS, CALL_ACTIONS, refused),
      samplingOff("sampling_off", {}),
      samplingOff("sampling_with_tools_off", { tools: {} }),
    ],
  },
  {
    title: m.guide_failures_models,
    rows: [
      {
        ...NO_MODEL_FAILURE,
        code: "no_model",
        button: NO_MODEL_FAILURE.buttonLabel,
        show: asked,
      },
      ...rows(MODEL_FAILURES, MODEL_ACTIONS, answered),
    ],
  },
];

/** Returns the note or alert that contains this title. */
function around(title: string): HTMLElement {
  const [found] = screen
    .getAllByText((_, element) => element?.textContent.includes(title) === true)
    .map((element) => element.closest<HTMLElement>(".note, [role=alert]"))
    .filter((element) => element !== null);
  if (!found) throw new Error(`there is no note ${title}`);
  return found;
}

describe.each(SECTIONS)("failures of $title.name", ({ rows }) => {
  test.each(rows)("$code shows its cause, remedy and button", async (row) => {
    await row.show();
    const note = around(row.cause());
    expect(note, "the cause should be shown").toHaveTextContent(row.cause());
    expect(note, "the remedy should be shown").toHaveTextContent(row.fix());
    expect(
      within(note).getByRole("button", { name: row.button() }),
      "the button should be shown",
    ).toBeVisible();
  });
});

test.each(Object.keys(MODEL_FAILURES) as ModelErrorCode[])(
  "an answer that failed with %s can be requested again",
  async (code) => {
    await answered(code);
    const buttons = within(screen.getByRole("alert")).getAllByRole("button");
    const labels = buttons.map((button) => button.textContent.trim());
    expect(labels[0], "the specific button should be first").toBe(
      MODEL_ACTIONS[MODEL_FAILURES[code].action](),
    );
    expect(labels.slice(0, 2), "Answer again should be the first or second button").toContain(
      "Answer again",
    );
  },
);

/** Builds the guide's section with the tables of failures in this language. */
function section(language: (typeof LANGUAGES)[number]): string {
  overwriteGetLocale(() => language);
  try {
    const cell = (text: string) => text.replaceAll("|", "\\|");
    const tables = SECTIONS.map(({ title, rows }) =>
      [
        `### ${title()}`,
        "",
        `| ${m.guide_failures_cause()} | ${m.guide_failures_fix()} | ${m.guide_failures_button()} |`,
        "| --- | --- | --- |",
        ...rows.map(({ cause, fix, button }) => {
          const words = cause().replace(/[.。]$/, "");
          return `| ${cell(words)} | ${cell(fix())} | **${cell(button())}** |`;
        }),
      ].join("\n"),
    );
    return [`## ${m.guide_failures()}`, m.guide_failures_text(), ...tables].join("\n\n") + "\n";
  } finally {
    overwriteGetLocale(locale);
  }
}

describe.each(LANGUAGES)("the failure table in %s", (language) => {
  test("matches the guide", () => {
    const file = `guide/${language}/troubleshooting.md`;
    const text = readFileSync(file, "utf8").replaceAll("\r\n", "\n");
    const written = section(language);
    const heading = written.slice(0, written.indexOf("\n") + 1);
    const start = text.indexOf(heading);
    const before = start < 0 ? `${text.trimEnd()}\n\n` : text.slice(0, start);
    if (WRITES) writeFileSync(file, before + written);
    else
      expect(
        text,
        "the table should be current; npx vitest run src/guide with UPDATE_GUIDE=1 writes it",
      ).toBe(before + written);
  });

  test("is in this language", () => {
    overwriteGetLocale(() => language);
    try {
      const cells = SECTIONS.flatMap(({ rows }) => rows).flatMap(({ cause, fix, button }) => [
        ...[cause(), fix(), button()],
      ]);
      const foreign = cells.filter((text) => /[\u4e00-\u9fff]/.test(text) !== (language === "zh"));
      expect(foreign).toEqual([]);
    } finally {
      overwriteGetLocale(locale);
    }
  });
});
