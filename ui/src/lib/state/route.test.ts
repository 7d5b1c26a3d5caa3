import { expect, test } from "vitest";

import { viewFromHash, viewToHash, type View } from "./route";

test.each<View>([
  { at: "welcome" },
  { at: "conversation", id: "c 1/2" },
  { at: "conversation", id: "c1", item: "a/b c" },
  { at: "server", name: "my files", tab: "overview" },
  { at: "server", name: "a/b#c?d", tab: "tools", item: "write_file" },
  { at: "server", name: "文件", tab: "resources", item: "file:///a b/%20" },
  { at: "add-server" },
  { at: "import" },
  { at: "import", project: "/home/ann/my work" },
  { at: "registry" },
  { at: "registry", name: "io.github.alice/notes" },
  { at: "guide" },
  { at: "guide", page: "sign-in" },
  { at: "settings" },
  { at: "audit" },
  { at: "rules" },
  { at: "models" },
  { at: "models", provider: "my lab/1" },
  { at: "tools" },
])("converts %o to a hash and back", (view) => {
  expect(viewFromHash(viewToHash(view)), "the view should be unchanged").toEqual(view);
});

test.each(["", "#", "#/nowhere", "#/server", "#/conversation/"])(
  "maps %s to the welcome",
  (hash) => {
    expect(viewFromHash(hash), "the welcome should be shown").toEqual({ at: "welcome" });
  },
);

test("maps an unknown tab to the overview, and keeps invalid escapes unchanged", () => {
  expect(viewFromHash("#/server/a/b"), "an unknown tab should be the overview").toEqual({
    at: "server",
    name: "a",
    tab: "overview",
  });
  expect(viewFromHash("#/conversation/%zz"), "an invalid escape should be unchanged").toEqual({
    at: "conversation",
    id: "%zz",
  });
});
