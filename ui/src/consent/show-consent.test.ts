// Opening the request that a call or server waits for.
import { cleanup, render, screen } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { ConsentRequest } from "$lib/api/generated";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import ConsentDialog from "./ConsentDialog.svelte";
import { consentRequest, startServerBody, toolBody, urlBody } from "./fixtures";
import {
  dialogController,
  inlineController,
  inlinePlacement,
  openApprovals,
  showConsentOfCall,
  showConsentOfServer,
} from "./index";

const requestOfCall = (id: string, call: string) =>
  consentRequest(toolBody({ path: `/${id}` }), { id, call, server: "files" });
const call = { id: "c1", server: "files" };

/** Renders the dialog with these requests, all of which were put aside. */
async function renderPutAside(requests: ConsentRequest[], muted = false) {
  const servers = [sampleServer({ name: "files", muted })];
  await startFakeHost({}, { servers, consentRequests: requests });
  render(ConsentDialog, { controller: dialogController });
  for (const request of requests) dialogController.queue.putAside(request);
  expect(dialogController.request, "no request should be shown").toBeNull();
}

const isListed = async () => (await screen.findByTestId("queue")) !== null;

beforeEach(() => (dialogController.queue.isListOpen = false));
afterEach(() => cleanup());

describe("the request of a call", () => {
  it("is shown if it is the only one of the call", async () => {
    await renderPutAside([requestOfCall("q1", "c1"), requestOfCall("q2", "c2")]);
    showConsentOfCall(call);
    expect(await screen.findByText("/q1")).toBeInTheDocument();
  });

  it("is listed with the others if there are several", async () => {
    await renderPutAside([requestOfCall("q1", "c1"), requestOfCall("q2", "c1")]);
    showConsentOfCall(call);
    expect(await isListed()).toBe(true);
  });

  it("is that of its server if the server names no call", async () => {
    await renderPutAside([
      consentRequest(urlBody, { id: "q1", server: "files" }),
      requestOfCall("q2", "c2"),
    ]);
    showConsentOfCall(call);
    expect(await screen.findByText("1 of 2")).toBeInTheDocument();
  });
});

it("shows the request to start a server, and no other of it", async () => {
  await renderPutAside([
    requestOfCall("q1", "c1"),
    consentRequest(startServerBody, { id: "q2", server: "files" }),
  ]);
  showConsentOfServer("files", ["start_server", "connect_server"]);
  expect(await screen.findByText("2 of 2")).toBeInTheDocument();
  showConsentOfServer("files", ["sign_in"]);
  expect(await isListed(), "the list should be shown if no request matches").toBe(true);
});

describe("Approvals", () => {
  it("opens the only request", async () => {
    await renderPutAside([requestOfCall("q1", "c1")]);
    openApprovals();
    expect(await screen.findByText("/q1")).toBeInTheDocument();
  });

  it("goes to the only request in its conversation", async () => {
    const origin = { by: "model" as const, conversation: "k1", untrustedServers: [] };
    await renderPutAside([{ ...requestOfCall("q1", "c1"), origin }]);
    const reveal = vi.fn();
    inlinePlacement.cards = { conversation: "k1", has: () => true, reveal };
    openApprovals();
    expect(inlineController.request?.id, "the request should be shown in its card").toBe("q1");
    expect(reveal, "its card should be in view").toHaveBeenCalledWith("c1");
    expect(dialogController.queue.isListOpen, "the list should not be opened").toBe(false);
    inlinePlacement.cards = null;
  });

  it("opens the list of several requests", async () => {
    await renderPutAside([requestOfCall("q1", "c1"), requestOfCall("q2", "c2")]);
    openApprovals();
    expect(await isListed()).toBe(true);
  });

  it("opens the list while a server is muted, and without requests", async () => {
    await renderPutAside([requestOfCall("q1", "c1")], true);
    openApprovals();
    expect(await isListed()).toBe(true);
    cleanup();
    dialogController.queue.isListOpen = false;
    await renderPutAside([]);
    openApprovals();
    expect(await isListed()).toBe(true);
  });
});
