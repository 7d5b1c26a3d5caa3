import "@testing-library/jest-dom/vitest";
import { configure } from "@testing-library/svelte";

// The same for what is waited for within a test.
configure({ asyncUtilTimeout: 5_000 });
