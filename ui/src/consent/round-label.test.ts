import { expect, test } from "vitest";

import type { ConsentRequest } from "$lib/api/generated";

import { consentRequest, toolBody } from "./fixtures";
import { roundLabel } from "./round-label";

const requestInRound = (id: string, call: string, round: number | null = null): ConsentRequest =>
  consentRequest(toolBody({}), {
    id,
    round,
    origin: { by: "call", call, kind: "tool", name: "plan", conversation: null },
  });

test("a single first request has no label", () => {
  const one = requestInRound("1", "a", 1);
  expect(
    roundLabel(one, [one, requestInRound("2", "b", 3)]),
    "a request of another call should not be counted",
  ).toBeNull();
  const alone = consentRequest(toolBody({}), { round: 2 });
  expect(
    roundLabel(alone, [alone, alone]),
    "requests without a call should not be counted",
  ).toBeNull();
});

test("later rounds and other pending requests are counted", () => {
  const one = requestInRound("1", "a", 2);
  expect(roundLabel(one, [one]), "a later round should be counted").toBe("Round 2 of this call.");
  expect(
    roundLabel(one, [one, requestInRound("2", "a", 2)]),
    "other pending requests should be counted",
  ).toBe("Round 2 of this call. 1 more request from the same call is waiting.");
  const first = requestInRound("3", "a", 1);
  expect(
    roundLabel(first, [first, one, requestInRound("2", "a")]),
    "pending requests should be counted in the first round",
  ).toBe("2 more requests from the same call are waiting.");
});
