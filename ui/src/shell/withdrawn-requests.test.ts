import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { afterEach, expect, it } from "vitest";

import type { ConsentRequest, ConsentRequestOutcome } from "$lib/api/generated";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import { consentRequest, toolBody } from "../consent/fixtures";
import WithdrawnRequests from "./WithdrawnRequests.svelte";

afterEach(() => cleanup());

const TITLE = "files stopped waiting for your answer";
const folders: ConsentRequest = consentRequest({ kind: "roots" }, { origin: { by: "server" } });

async function closed(request: ConsentRequest, outcome: ConsentRequestOutcome) {
  const host = await startFakeHost({}, { servers: [sampleServer({ state: { is: "ready" } })] });
  render(WithdrawnRequests);
  host.send({ type: "consent_request_changed", consentRequest: request });
  host.send({ type: "consent_request_closed", id: request.id, outcome });
  await tick();
  return host;
}

it("shows a request that the server withdrew until it is dismissed", async () => {
  const host = await closed(folders, "withdrawn");
  expect(screen.getByText(TITLE)).toBeVisible();
  expect(screen.getByText("files asks for your folders"), "it should be named").toBeVisible();
  const again = { ...folders, id: "q2" };
  host.send({ type: "consent_request_changed", consentRequest: again });
  host.send({ type: "consent_request_closed", id: "q2", outcome: "withdrawn" });
  await tick();
  expect(screen.getAllByText(TITLE), "each server should have one note").toHaveLength(1);
  await fireEvent.click(screen.getByRole("button", { name: "Close the notice about files" }));
  expect(screen.queryByText(TITLE), "the note should be closed").toBeNull();
});

it("shows nothing about a request that the user decided", async () => {
  await closed(folders, "denied");
  expect(screen.queryByText(TITLE)).toBeNull();
});

it("shows nothing about a call of the user", async () => {
  await closed(consentRequest(toolBody({})), "withdrawn");
  expect(screen.queryByText(TITLE)).toBeNull();
});

it("shows nothing if the server stopped", async () => {
  const host = await closed(folders, "withdrawn");
  expect(screen.getByText(TITLE)).toBeVisible();
  host.send({ type: "server_changed", server: sampleServer({ state: { is: "stopped" } }) });
  await tick();
  expect(screen.queryByText(TITLE)).toBeNull();
});
