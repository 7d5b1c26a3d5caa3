// The question in front, and what can be done with it. Nothing leaves but through the gate (`gate.ts`), by `#leave`.

import { SvelteMap } from "svelte/reactivity";

import type { Edit, JsonValue, Question, QuestionBody, Scope } from "$lib/api/generated";

import { Arming } from "./arming.svelte";
import { definitionPart } from "./payload";
import { Decision, type Refusal } from "./decision-sender.svelte";
import { Draft, draftKey } from "./consent-draft.svelte";
import {
  Approved,
  mayLeave,
  type Blocker,
  type Leaving,
  type Staying,
  type Standing,
} from "./gate";
import { Queue, version } from "./consent-queue.svelte";

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
  /** What a model was asked here, by question: reviewed whole, and approved. */
  readonly #asked = new SvelteMap<string, string>();
  /** The arguments as they were asked for, by question, of those that were edited here. */
  readonly #askedFor = new SvelteMap<string, JsonValue>();
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
  readonly standing: Standing = $derived.by(() => this.#standing(this.blocker));
  readonly canAllow: boolean = $derived.by(() => mayLeave(this.standing));
  /** The same for asking a model once more. */
  readonly againBlocker: Blocker | null = $derived.by(() => this.#againBlocker());
  readonly againStanding: Standing = $derived.by(() => this.#standing(this.againBlocker));

  /** The arguments that a call was asked for with, if they were edited here. */
  askedFor({ id }: Question): JsonValue | undefined {
    return this.#askedFor.get(id);
  }

  /** Lets the question cross, if `event` may do that. `lasts` bounds how long an approval holds, in milliseconds. */
  async allow(scope: Scope, event: Event, lasts?: number): Promise<void> {
    const { question, draft } = this;
    if (question && draft) await this.#leave(draft.answer(question, scope, lasts), event);
  }

  /** Tells the server that there are no folders. */
  async shareNone(event: Event): Promise<void> {
    await this.#leave({ action: "share", folders: [] }, event);
  }

  /** Asks the model once more: what went to it goes to it again. */
  async again(event: Event): Promise<void> {
    await this.#leave({ action: "again" }, event);
  }

  /** What becomes of a request to a model, where nothing crosses: by hand, back, stop. */
  async work(action: "by_hand" | "back" | "stop"): Promise<void> {
    const { question } = this;
    if (question) await this.decision.answer(question, { action });
  }

  /** Changes what would cross. It is shown with its new hash, and armed anew. */
  async edit(edit: Edit): Promise<void> {
    const { question, draft } = this;
    if (!question || !draft) return;
    const changed = await this.decision.edit(question, edit);
    if (!changed) return;
    const { body } = question;
    if (body.kind === "tool" && !this.#askedFor.has(question.id))
      this.#askedFor.set(question.id, body.arguments);
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
    const open = new Set(this.#all().map(({ id }) => id));
    for (const map of [this.#asked, this.#askedFor])
      for (const id of map.keys()) if (!open.has(id)) map.delete(id);
  }

  /** The only way to an answer that lets something leave. */
  async #leave(answer: Leaving, event: Event): Promise<void> {
    const { question, draft } = this;
    if (!question || !draft) return;
    const standing = answer.action === "again" ? this.againStanding : this.standing;
    const approved = Approved.by(event, question, answer, standing);
    if (!approved) return;
    if (answer.action === "submit" && draft.form && !draft.form.ready()) return;
    const isAsk = question.body.kind === "sampling" && question.body.step === "request";
    const asks = isAsk ? asksOf(question) : null;
    const isTaken = await this.decision.leave(approved);
    if (!isTaken) return this.#refused(question, draft);
    // What a model is asked comes back under the same question.
    if (asks !== null) this.#asked.set(question.id, asks);
    this.queue.answered(question);
  }

  async #refuse(answer: Staying, event: Event): Promise<void> {
    const { question } = this;
    if (!question || !this.refusing.accepts(event)) return;
    if (await this.decision.answer(question, answer)) this.queue.answered(question);
  }

  #refused(question: Question, draft: Draft): void {
    if (this.question?.id === question.id) this.arming.restart();
    const refusal = this.decision.refusal(question);
    if (refusal?.is !== "invalid" || !refusal.problems) return;
    draft.form?.check.found(refusal.problems);
    draft.form?.ready();
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

  #standing(blocker: Blocker | null): Standing {
    return { arming: this.arming, blocker, busy: this.busy };
  }

  #againBlocker(): Blocker | null {
    const { question } = this;
    if (
      question?.body.kind !== "sampling" ||
      question.body.step !== "response" ||
      !question.body.again
    )
      return { is: "impossible" };
    // All of it was in view here when it was approved, and nothing of it is another now.
    return this.#asked.get(question.id) === asksOf(question) ? null : { is: "unreviewed" };
  }

  #blocker(): Blocker | null {
    const { question, draft } = this;
    if (!question || !draft) return null;
    const { body } = question;
    if (body.kind === "sampling" && body.step === "running") return { is: "running" };
    if (body.kind === "form" && body.unsupported !== null) return { is: "impossible" };
    if (body.kind === "url" && !body.url.openable) return { is: "impossible" };
    if (body.kind === "sign_in" && body.authorizationUrl?.openable === false)
      return { is: "impossible" };
    if (body.kind === "client_id" && draft.client.clientId.trim() === "") return { is: "unfilled" };
    if (draft.editing)
      return { is: body.kind === "sampling" && body.step === "response" ? "unwritten" : "editing" };
    const definition = definitionPart(body);
    // First what is sent, then what it is sent to.
    for (const parts of [draft.crosses(question), definition === null ? [] : [definition]]) {
      const hidden = draft.reading.hidden(parts);
      if (hidden > 0) return { is: "unread", hidden };
    }
    return crossesAsShown(body) && !draft.seen ? { is: "below" } : null;
  }
}

/** What a model is asked, as it is shown: the request, the model, and what is left out for it. */
function asksOf({ body }: Question): string | null {
  if (body.kind !== "sampling" || body.model === null) return null;
  return JSON.stringify([body.request, body.model.model, body.losses]);
}

/** Whether something crosses that the user did not choose or enter. A form may come filled in. */
function crossesAsShown({ kind }: QuestionBody): boolean {
  return kind !== "roots" && kind !== "client_id";
}
