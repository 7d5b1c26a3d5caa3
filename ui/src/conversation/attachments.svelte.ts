// Files that are attached to the message in the composer: picked, pasted or dropped. They are kept in memory while other
// conversations are open, until the page is closed.

import { formatBytes } from "$lib/format/bytes";
import { textBeginning, visibleText } from "$lib/format/text-safety";
import type { MessageAttachment } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";
import { languageTag } from "$lib/state/locale.svelte";
import { errorText } from "$lib/ui/error-title";

import { m } from "../paraglide/messages";

/** Maximum number of files per message. The host rejects more (`crates/chat/src/attachments.rs`). */
export const MAX_ATTACHMENTS = 20;
/**
 * Maximum total size of the files of a message, in bytes. Base64 encoding enlarges them by a third, to the limit of the
 * host.
 */
export const MAX_TOTAL_BYTES = 24 * 1024 * 1024;
/** Maximum size of a file, in bytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Maximum number of conversations whose files are retained. The least recently opened are dropped first. */
const MAX_CONVERSATIONS = 20;
const LONGEST_NAME = 200;

/** Properties of a file that determine if a model receives it. */
export interface AttachmentSummary {
  name: string;
  mimeType: string;
  kind: FileKind;
}

export interface AttachedFile extends AttachmentSummary {
  id: string;
  bytes: number;
  /** Bytes of the file in base64. */
  data: string;
}

/** Form in which a model receives a file. */
export type FileKind = "image" | "audio" | "text" | "file";

export class Attachments {
  all = $state.raw<readonly AttachedFile[]>([]);
  /** Reasons why files were not attached. */
  problems = $state.raw<readonly string[]>([]);
  /** Number of files that are being read. */
  reading = $state(0);

  /** Total size of the files. Not a derived value, which would go stale with the component that creates this object. */
  get bytes(): number {
    return this.all.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * Attaches the files that are within the limits, and records a reason for each other file. Returns the attached
   * files.
   */
  async add(files: readonly File[]): Promise<readonly AttachedFile[]> {
    this.problems = [];
    const added: AttachedFile[] = [];
    for (const file of files) {
      const problem = this.#problem(file);
      if (problem !== null) {
        this.problems = [...this.problems, problem];
        continue;
      }
      this.reading += 1;
      try {
        const read = await readAttachment(file);
        this.all = [...this.all, read];
        added.push(read);
      } catch (cause) {
        const reason = errorText(cause);
        const unread = m.conversation_file_unread({ name: nameOf(file), reason });
        this.problems = [...this.problems, unread];
      }
      this.reading -= 1;
    }
    return added;
  }

  remove(id: string): void {
    this.all = this.all.filter((one) => one.id !== id);
    this.problems = [];
  }

  /** Removes all files from the list and returns them for sending. */
  take(): readonly AttachedFile[] {
    const all = this.all;
    this.all = [];
    this.problems = [];
    return all;
  }

  /** Adds files back to the list that could not be sent. */
  restore(all: readonly AttachedFile[]): void {
    this.all = [...all, ...this.all];
  }

  #problem(file: File): string | null {
    const name = nameOf(file);
    const size = (bytes: number) => formatBytes(bytes, languageTag());
    if (file.size === 0) return m.conversation_file_empty({ name });
    if (this.all.length + this.reading >= MAX_ATTACHMENTS)
      return m.conversation_files_many({ name, most: MAX_ATTACHMENTS });
    if (file.size > MAX_FILE_BYTES)
      return m.conversation_file_large({ name, size: size(file.size), most: size(MAX_FILE_BYTES) });
    if (this.bytes + file.size > MAX_TOTAL_BYTES)
      return m.conversation_files_large({ name, most: size(MAX_TOTAL_BYTES) });
    return null;
  }
}

/** Attached files by conversation, most recently opened last. */
let byConversation: Map<string, Attachments>;
registerPageState(() => (byConversation = new Map()));

/** Returns the attached files of a conversation. They are retained in memory while other conversations are open. */
export function attachmentsOf(conversation: string): Attachments {
  const attachments = byConversation.get(conversation) ?? new Attachments();
  attachments.problems = [];
  byConversation.delete(conversation);
  byConversation.set(conversation, attachments);
  const there = new Set(app.conversations.map(({ id }) => id));
  for (const [id, { all, reading }] of byConversation) {
    const isUnused = (all.length === 0 && reading === 0) || !there.has(id);
    if (id !== conversation && (isUnused || byConversation.size > MAX_CONVERSATIONS))
      byConversation.delete(id);
  }
  return attachments;
}

/** Converts a file to the form in which it is sent. */
export function toMessageAttachment({ name, mimeType, data }: AttachedFile): MessageAttachment {
  return { type: "file", name, mimeType, data };
}

function nameOf(file: File): string {
  return visibleText(textBeginning(file.name, LONGEST_NAME, 1));
}

async function readAttachment(file: File): Promise<AttachedFile> {
  const mimeType = file.type || "application/octet-stream";
  const name = textBeginning(file.name, LONGEST_NAME, 1);
  const buffer = await file.arrayBuffer();
  const data = await base64(file);
  const kind = fileKindOf(mimeType, new Uint8Array(buffer));
  return { id: crypto.randomUUID(), name, mimeType, bytes: file.size, data, kind };
}

function base64(file: File): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done((reader.result as string).split(",", 2)[1] ?? "");
    reader.onerror = () => failed(reader.error ?? new Error("unreadable"));
    reader.readAsDataURL(file);
  });
}

/** Returns the kind of a file, determined by the same rules as in the host. */
export function fileKindOf(mimeType: string, bytes: Uint8Array): FileKind {
  const type = mimeType.split(/[/;]/, 1)[0];
  if (type === "image" && !mimeType.startsWith("image/svg")) return "image";
  if (type === "audio") return "audio";
  return isTextual(mimeType) && isText(bytes) ? "text" : "file";
}

/** Returns `true` if the MIME type is a text type or unknown. */
export function isTextual(mimeType: string): boolean {
  if (mimeType === "" || mimeType.startsWith("application/octet-stream")) return true;
  return /^text\/|json|xml|yaml|toml|javascript|svg/.test(mimeType);
}

function isText(bytes: Uint8Array): boolean {
  return decodeText(bytes) !== null;
}

/** Decodes the bytes as UTF-8. Returns `null` if they are not valid text. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
