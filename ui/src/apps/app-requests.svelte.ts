// Requests of a shown app that the page answers: links and files after the user's decision, messages and display modes at
// once.
import { call } from "$lib/api/client";
import type { AppAnswer, AppDisplayMode, AppFile, AppUserRequest } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";
import { pendingLink } from "$lib/state/pending-link.svelte";

import { addToDraft } from "../conversation/composer-drafts";
import type { AppSubject } from "./app-subject";

const DONE: AppAnswer = { type: "done" };
const REFUSED: AppAnswer = { type: "refused" };
const NOT_SHOWN: AppAnswer = { type: "not_shown" };

/** Request of an app to save files. */
export interface FilesRequest {
  /** Number of the request. */
  id: number;
  files: readonly AppFile[];
  /** Indices of the saved files. */
  saved: readonly number[];
}

interface Actions {
  /** Sends the decision on a request to the host. */
  answer: (request: number, answer: AppAnswer) => void;
  /** Returns the mode in force. */
  setMode: (mode: AppDisplayMode) => AppDisplayMode;
}

export class AppRequests {
  /** Requests to save files, oldest first. The first one is displayed. */
  files = $state.raw<readonly FilesRequest[]>([]);

  readonly #subject: AppSubject;
  readonly #actions: Actions;
  /** Number of the request whose link the dialog shows, or `null` if it shows none of this app. */
  #linkRequest: number | null = null;

  constructor(subject: AppSubject, actions: Actions) {
    this.#subject = subject;
    this.#actions = actions;
  }

  add(id: number, userRequest: AppUserRequest): void {
    switch (userRequest.type) {
      case "open_link":
        this.#openLink(id, userRequest.url);
        break;
      case "save_files":
        this.files = [...this.files, { id, files: userRequest.files, saved: [] }];
        break;
      case "send_message": {
        const { conversation, server } = this.#subject;
        const isAdded =
          conversation !== null && addToDraft(conversation, visibleText(userRequest.text), server);
        this.#actions.answer(id, isAdded ? DONE : REFUSED);
        break;
      }
      case "display_mode":
        this.#actions.answer(id, {
          type: "display_mode",
          mode: this.#actions.setMode(userRequest.mode),
        });
        break;
    }
  }

  /** Saves a file of the first request. Answers the request after its last file. */
  async save(view: string, file: number): Promise<void> {
    const [first] = this.files;
    if (!first) return;
    const { path } = await call("save_app_file", { view, request: first.id, file });
    const request = this.files.find(({ id }) => id === first.id);
    if (path === null || !request || request.saved.includes(file)) return;
    const changed = { ...request, saved: [...request.saved, file] };
    this.files = this.files.map((one) => (one === request ? changed : one));
    if (changed.saved.length === changed.files.length) this.finishFiles(changed.id);
  }

  /** Answers a request to save files: as done if at least one file was saved, and otherwise as refused. */
  finishFiles(id: number): void {
    const request = this.files.find((one) => one.id === id);
    if (!request) return;
    this.files = this.files.filter((one) => one !== request);
    this.#actions.answer(id, request.saved.length > 0 ? DONE : REFUSED);
  }

  /** Removes a request that needs no decision any more. */
  withdraw(id: number): void {
    this.files = this.files.filter((one) => one.id !== id);
    if (this.#linkRequest === id) this.#closeLink();
  }

  withdrawAll(): void {
    this.files = [];
    this.#closeLink();
  }

  #openLink(id: number, url: string): void {
    const report = (isOpened: boolean) => {
      if (this.#linkRequest !== id) return;
      this.#linkRequest = null;
      this.#actions.answer(id, isOpened ? DONE : REFUSED);
    };
    // Not shown while another link dialog is open.
    if (pendingLink.showForApp(url, this.#subject.server, report)) this.#linkRequest = id;
    else this.#actions.answer(id, NOT_SHOWN);
  }

  #closeLink(): void {
    if (this.#linkRequest === null) return;
    this.#linkRequest = null;
    pendingLink.close();
  }
}
