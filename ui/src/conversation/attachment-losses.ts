// Describes what the model may not receive of the attached files, before anything is sent.
import type { Model, ModelProvider, ModelRef, Models } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";

import { conversionLabel } from "../models/model-labels";
import { m } from "../paraglide/messages";
import type { AttachmentSummary, FileKind } from "./attachments.svelte";

/** Picture types that every provider with picture input accepts (`models/src/wire_capabilities.rs`). */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function attachmentLosses(
  attached: readonly AttachmentSummary[],
  models: Models | null,
  chosen: ModelRef | null,
): string[] {
  const provider = models?.providers.find(({ id }) => id === chosen?.provider);
  if (!provider || !chosen) return [];
  const model = provider.models.find(({ id }) => id === chosen.model);
  const words = attached.flatMap((one) => {
    const word = attachmentLoss(one, provider, model, visibleText(model?.name || chosen.model));
    return word === null ? [] : [word];
  });
  return [...new Set(words)];
}

const LOSS_LABELS = {
  image: m.conversation_no_images,
  audio: m.conversation_no_audio,
  file: m.conversation_no_files,
};

function attachmentLoss(
  { name, mimeType, kind }: AttachmentSummary,
  provider: ModelProvider,
  model: Model | undefined,
  called: string,
): string | null {
  if (kind !== "text" && acceptsKind(kind, model) === false)
    return LOSS_LABELS[kind]({ model: called });
  if (kind === "text" || (kind === "image" && PICTURES.includes(mimeType.toLowerCase())))
    return null;
  const then = provider.losses.find(({ feature }) => feature === kind)?.conversion ?? "refuse";
  return m.conversation_may_not_carry({
    ...{ provider: visibleText(provider.name), name: visibleText(name) },
    ...{ type: visibleText(mimeType), then: conversionLabel(then) },
  });
}

/** Returns `true` if the model accepts files of this kind, or `null` if that is unknown. */
function acceptsKind(kind: Exclude<FileKind, "text">, model: Model | undefined): boolean | null {
  if (!model) return null;
  return kind === "image" ? model.images : kind === "audio" ? model.audio : model.files;
}
