// The question in front, and what can be done with it. Nothing crosses but through `allow`.

import type { Answer, Edit, Question, QuestionBody, Scope } from "$lib/api/generated";

import { Arming } from "./arming.svelte";
import { crossing, definitionPart } from "./crossing";
import { Decision, type Refusal } from "./decision.svelte";
import { Draft, draftKey } from "./draft.svelte";
import { Queue, version } from "./queue.svelte";

/** Why Allow can't be used, however long one waits. */
export type Blocker =
  | { is: "editing" }
  | { is: "unwritten" }
  | { is: "unfilled" }
  | { is: "unread"; hidden: number }
  | { is: "below" }
  | { is: "running" }
  | { is: "impossible" };

/** Questions that are drawn at another place, and how to get to one of them. */
export interface Elsewhere {
  readonly open: Question[];
  show(id: string): void;
}

/** Where a front draws its questions. */
export interface Drawn {
  /** What is drawn at another place. */
  elsewhere?: Elsewhere;
  /** Whether they stand where they were asked for; else over everything. */
  inPlace?: boolean;
}

export class Front {
  readonly queue: Queue;
  readonly inPlace: boolean;
  readonly #elsewhere: Elsewhere | null;
  /** When Allow counts. It arms anew whenever what would cross changes. */
  readonly arming = new Arming();
  /** When Deny and Cancel count. It arms anew when another question comes in front, and is told of keys alone: who refuses need
   * not aim anew. */
  readonly refusing = new Arming();
  readonly decision = new Decision();
  readonly #drafts = new Map<string, Draft>();
  readonly #all: () => Question[];

  constructor(all: () => Question[], { elsewhere, inPlace = false }: Drawn = {}) {
    this.#all = all;
    this.inPlace = inPlace;
    this.#elsewhere = elsewhere ?? null;
    this.queue = new Queue(all);
  }

  /** All that wait for the user, wherever they are drawn. */
  readonly waiting: Question[] = $derived.by(() => [
    ...this.queue.open,
    ...(this.#elsewhere?.open ?? []),
  ]);

  readonly question: Question | null = $derived.by(() => this.queue.current);
  readonly draft: Draft | null = $derived.by(() =>
    this.question ? this.#draftOf(this.question) : null,
  );
  readonly blocker: Blocker | null = $derived.by(() => this.#blocker());
  /** Changes whenever anything that Allow would let cross does. */
  readonly shown: string | null = $derived.by(() =>
    this.question && this.draft ? `${version(this.question)} ${this.draft.choice}` : null,
  );
  /** Whether the answer to the question in front, or a change of it, is on its way. */
  readonly busy: boolean = $derived.by(
    () => this.question !== null && this.decision.busy(this.question),
  );
  /** Why the last decision on the question in front was not taken, if it was not. */
  readonly refusal: Refusal | null = $derived.by(() =>
    this.question ? this.decision.refusal(this.question) : null,
  );
  readonly canAllow: boolean = $derived.by(
    () => this.arming.armed && this.blocker === null && !this.busy,
  );

  /** Lets the question cross, if `event` may do that. `lasts` bounds how long an approval holds, in milliseconds. */
  async allow(scope: Scope, event: Event, lasts?: number): Promise<void> {
    const { question, draft } = this;
    if (!question || !draft || !this.canAllow || !this.arming.accepts(event)) return;
    if (draft.form && !draft.form.ready()) return;
    const taken = await this.decision.answer(question, draft.answer(question, scope, lasts));
    if (taken) this.queue.answered(question);
    else this.#refused(question, draft);
  }

  /** Tells the server that there are no folders. */
  async shareNone(event: Event): Promise<void> {
    const { question, draft } = this;
    if (!question || !draft || !this.canAllow || !this.arming.accepts(event)) return;
    if (await this.decision.answer(question, { action: "share", folders: [] }))
      this.queue.answered(question);
    else this.#refused(question, draft);
  }

  /** What becomes of a request to a model, where nothing crosses: by hand, back, stop. */
  async work(action: "by_hand" | "back" | "stop"): Promise<void> {
    const { question } = this;
    if (question) await this.decision.answer(question, { action });
  }

  /** Asks the model once more: what went to it goes to it again. */
  async again(event: Event): Promise<void> {
    const { question } = this;
    if (!question || this.busy || !this.arming.armed || !this.arming.accepts(event)) return;
    await this.decision.answer(question, { action: "again" });
  }

  /** Changes what would cross. It is shown with its new hash, and armed anew. */
  async edit(edit: Edit): Promise<void> {
    const { question, draft } = this;
    if (!question || !draft) return;
    const changed = await this.decision.edit(question, edit);
    if (!changed) return;
    this.queue.changed(question, changed);
    draft.editing = false;
  }

  /** Goes to a question, wherever it is drawn. */
  show(id: string): void {
    if (!this.#elsewhere?.open.some((question) => question.id === id)) return this.queue.show(id);
    this.queue.listed = false;
    this.#elsewhere.show(id);
  }

  /** Refuses the question, if `event` may do that. */
  async deny(event: Event): Promise<void> {
    await this.#refuse({ action: "deny" }, event);
  }

  /** Refuses it with what the user wrote, which the model gets to read. */
  async denyBecause(event: Event): Promise<void> {
    const reason = this.draft?.reason?.trim() ?? "";
    await this.#refuse(
      reason === "" ? { action: "deny" } : { action: "deny_because", reason },
      event,
    );
  }

  /** Closing is cancel. */
  async cancel(event: Event): Promise<void> {
    await this.#refuse({ action: "cancel" }, event);
  }

  /** Refuses all questions of the server that asks the one in front, if `event` may do that. */
  async denyAllInFront(event: Event, mute: boolean): Promise<void> {
    if (this.question && this.refusing.accepts(event))
      await this.denyAll(this.question.server, mute);
  }

  async denyAll(server: string, mute: boolean): Promise<void> {
    await this.decision.denyAll(server, mute);
  }

  /** Forgets the drafts of questions that are gone. */
  tidy(): void {
    const there = new Set(this.#all().map(draftKey));
    for (const [key, draft] of this.#drafts) {
      if (there.has(key)) continue;
      draft.stop();
      this.#drafts.delete(key);
    }
  }

  async #refuse(answer: Answer, event: Event): Promise<void> {
    const { question } = this;
    if (!question || !this.refusing.accepts(event)) return;
    if (await this.decision.answer(question, answer)) this.queue.answered(question);
  }

  #refused(question: Question, draft: Draft): void {
    if (this.question?.id === question.id) this.arming.restart();
    const refusal = this.decision.refusal(question);
    if (refusal?.is === "invalid" && refusal.problems) draft.form?.check.found(refusal.problems);
  }

  #draftOf(question: Question): Draft {
    const key = draftKey(question);
    let draft = this.#drafts.get(key);
    if (!draft) {
      draft = new Draft(question);
      this.#drafts.set(key, draft);
    }
    return draft;
  }

  #blocker(): Blocker | null {
    const { question, draft } = this;
    if (!question || !draft) return null;
    const { body } = question;
    if (body.kind === "sampling" && body.step === "running") return { is: "running" };
    if (body.kind === "form" && body.unsupported !== null) return { is: "impossible" };
    if (body.kind === "url" && !body.url.openable) return { is: "impossible" };
    if (body.kind === "sign_in" && !body.authorizationUrl.openable) return { is: "impossible" };
    if (body.kind === "client_id" && draft.client.clientId.trim() === "") return { is: "unfilled" };
    if (draft.editing)
      return { is: body.kind === "sampling" && body.step === "response" ? "unwritten" : "editing" };
    const crosses = [...crossing(question), ...(draft.form?.beneath ?? [])];
    const definition = definitionPart(body);
    // First what is sent, then what it is sent to.
    for (const parts of [crosses, definition === null ? [] : [definition]]) {
      const hidden = draft.reading.hidden(parts);
      if (hidden > 0) return { is: "unread", hidden };
    }
    return crossesAsShown(body) && !draft.seen ? { is: "below" } : null;
  }
}

/** Whether something crosses that the user did not choose or enter. A form may come filled in. */
function crossesAsShown({ kind }: QuestionBody): boolean {
  return kind !== "roots" && kind !== "client_id";
}
