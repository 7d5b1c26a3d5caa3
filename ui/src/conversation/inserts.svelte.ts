// Prompts and resources that wait beside what is written, to be put into the conversation with it.

import type { ConversationItem } from "$lib/api/generated";

export interface Insert {
  id: string;
  kind: "prompt" | "resource" | "skill";
  /** What it is called. */
  name: string;
  /** The server that it is of. */
  server: string;
  /** As what it comes into the conversation. */
  items: ConversationItem[];
}

export class Inserts {
  all = $state.raw<readonly Insert[]>([]);

  add(insert: Omit<Insert, "id">): void {
    this.all = [...this.all, { id: crypto.randomUUID(), ...insert }];
  }

  remove(id: string): void {
    this.all = this.all.filter((one) => one.id !== id);
  }

  /** All of them, to be put in; none is left. */
  take(): readonly Insert[] {
    const all = this.all;
    this.all = [];
    return all;
  }

  /** Puts back what could not be put in. */
  putBack(all: readonly Insert[]): void {
    this.all = [...all, ...this.all];
  }
}
