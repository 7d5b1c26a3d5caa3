// What went wrong while the host ran: each kind is counted, and all but what was expected is told at the end.

/** So many of the unexpected are told in full. */
const TOLD = 10;

export class Faults {
  /** What was expected, by who did it and the host's code. */
  expected = {};
  #unexpected = 0;
  #first = [];

  /**
   * Sorts a failure.
   * @param {string} who Did what failed.
   * @param {Error} error The failure.
   * @param {string[]} codes Those that are no fault.
   */
  sort(who, error, codes) {
    if (error.code !== undefined && codes.includes(error.code)) this.expect(`${who} ${error.code}`);
    else this.#add(`${who}: ${error.stack}`);
  }

  /** Something that may happen, as long as it does not happen too often. */
  expect(what) {
    this.expected[what] = (this.expected[what] ?? 0) + 1;
  }

  #add(words) {
    this.#unexpected += 1;
    if (this.#first.length < TOLD) this.#first.push(words);
  }

  /** What was not expected, in words; null if all was. */
  problem() {
    if (this.#unexpected === 0) return null;
    return `${this.#unexpected} failures that nobody expected; the first:\n  ${this.#first.join("\n  ")}`;
  }
}
