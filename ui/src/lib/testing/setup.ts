// Test files share one page. Before each test, its state is reset to that of a loaded page.
import "@testing-library/jest-dom/vitest";
import { configure } from "@testing-library/svelte";
import { afterEach, beforeEach, vi } from "vitest";

import { resetPageState } from "$lib/page-state";

// The same for nested waits within a test.
configure({ asyncUtilTimeout: 15_000 });

beforeEach(() => {
  for (const element of [document.documentElement, document.body]) {
    for (const name of element.getAttributeNames()) element.removeAttribute(name);
  }
  document.body.replaceChildren();
  localStorage.clear();
  history.replaceState(null, "", location.pathname);
  resetPageState();
});

afterEach(() => void vi.useRealTimers());
