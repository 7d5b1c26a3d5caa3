import { expect, test } from "vitest";

import type { ModelProvider } from "$lib/api/generated";

import { chatModels } from "./chat-models";

test("models that compute embeddings are not offered for conversations", () => {
  const kept = ["gpt-4o", "llama3.2:1b", "embers-7b", "mistral-large"];
  const others = [
    ...["text-embedding-3-small", "nomic-embed-text:latest", "mxbai-embed-large"],
    ...["models/embedding-001", "mistral-embed", "Qwen3-Embedding-8B"],
  ];
  const models = [...kept, ...others].map((id) => ({ id }));
  const provider = { models } as ModelProvider;
  expect(chatModels(provider).map(({ id }) => id)).toEqual(kept);
});
