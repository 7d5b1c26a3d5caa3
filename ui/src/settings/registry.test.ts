import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import type { RegistryReport } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { startFakeHost } from "$lib/testing/fake-host";

import RegistrySection from "./RegistrySection.svelte";

const user = userEvent.setup();
afterEach(() => cleanup());

const ADDRESS = "https://registry.example";
const custom: RegistryReport = {
  ...{ address: ADDRESS, official: false, named: false },
  header: "Authorization",
};

test("uses the official registry until a URL is set, with an optional header", async () => {
  let report: RegistryReport | null = null;
  const official = "https://registry.modelcontextprotocol.io";
  const host = await startFakeHost({
    read_registry_setting: () =>
      report ?? { address: official, official: true, named: false, header: null },
    set_registry: () => {
      report = custom;
      return { onlyThisRun: null };
    },
  });
  render(RegistrySection);
  expect(await screen.findByText("Using the official registry:")).toHaveTextContent(official);
  expect(screen.queryByRole("button", { name: "Use the official registry" })).toBeNull();
  const use = screen.getByRole("button", { name: "Use this registry" });
  expect(use, "the button should be disabled without a URL").toBeDisabled();
  await user.type(screen.getByLabelText("Address of another registry"), ` ${ADDRESS}`);
  await user.type(screen.getByLabelText("Header (optional)"), "Authorization");
  const value = screen.getByLabelText("Header value");
  expect(value).toHaveAttribute("type", "password");
  await user.type(value, "Bearer t0ken");
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(use);
  expect(host.requests("set_registry")).toEqual([
    { address: ADDRESS, header: { name: "Authorization", value: "Bearer t0ken" } },
  ]);
  expect(await screen.findByText("Using this registry:")).toHaveTextContent(ADDRESS);
  expect(screen.getByText("Saved.")).toBeVisible();
  expect(screen.getByLabelText("Header value"), "the header value should be cleared").toHaveValue(
    "",
  );
});

test("stores no header value for another URL, and restores the official one with a click", async () => {
  const host = await startFakeHost({
    read_registry_setting: () => custom,
    set_registry: () => ({ onlyThisRun: null }),
  });
  render(RegistrySection);
  await user.click(await screen.findByRole("button", { name: "Use this registry" }));
  await user.click(screen.getByRole("button", { name: "Use the official registry" }));
  expect(host.requests("set_registry")).toEqual([
    { address: ADDRESS, header: { name: "Authorization", value: null } },
    { address: null, header: null },
  ]);
});

test("explains an invalid URL, and keeps it in the field", async () => {
  const message = "it is not encrypted; only a registry on this computer may have http://";
  await startFakeHost({
    set_registry: () => Promise.reject({ code: "bad_request", message }),
  });
  render(RegistrySection);
  const address = screen.getByLabelText("Address of another registry");
  await user.type(address, "http://registry.example");
  await user.click(screen.getByRole("button", { name: "Use this registry" }));
  expect(await screen.findByText(message)).toBeVisible();
  expect(address).toHaveValue("http://registry.example");
});

test("can't be changed if the environment sets the registry", async () => {
  await startFakeHost({ read_registry_setting: () => ({ ...custom, named: true, header: null }) });
  render(RegistrySection);
  expect(await screen.findByText(/DRAWBRIDGE_REGISTRY sets this registry/)).toBeVisible();
  await waitFor(() => expect(screen.queryByRole("textbox")).toBeNull());
});
