// What the page needs from what is around it: the desktop window, or a browser with the development host.
import type { Events } from "$lib/api/generated";

export interface Platform {
  /** Sends a command. Rejects with whatever the other side gave as the error. */
  call(name: string, request: unknown): Promise<unknown>;
  /**
   * Begins to listen; resolves once every later event arrives. `lost` is told when events may be missing,
   * after the connection stands again.
   */
  listen(receive: (events: Events) => void, lost: () => void): Promise<void>;
  /** Says that the first content is drawn (for measuring the start). */
  painted(): void;
  /** Says that a question is drawn (for measuring its way). */
  questionDrawn(id: string): void;
}
