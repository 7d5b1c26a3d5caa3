// Failures while the host ran: counted by kind. Unexpected ones are reported at the end.

/** Maximum number of unexpected failures that are reported in detail. */
const MAX_REPORTED = 10;

export class Faults {
  /** Expected failures by actor and error code. */
  expected = {};
  #unexpected = 0;
  #first = [];

  /**
   * Classifies a failure.
   * @param {string} who The actor that failed.
   * @param {Error} error The failure.
   * @param {string[]} codes Codes that are expected.
   */
  sort(who, error, codes) {
    if (error.code !== undefined && codes.includes(error.code)) this.expect(`${who} ${error.code}`);
    else this.#add(`${who}: ${error.stack}`);
  }

  /** Records a tolerated event with a maximum count. */
  expect(what) {
    this.expected[what] = (this.expected[what] ?? 0) + 1;
  }

  #add(words) {
    this.#unexpected += 1;
    if (this.#first.length < MAX_REPORTED) this.#first.push(words);
  }

  /** Returns the unexpected failures as text, or `null` if there are none. */
  problem() {
    if (this.#unexpected === 0) return null;
    return `${this.#unexpected} failures that nobody expected; the first:\n  ${this.#first.join("\n  ")}`;
  }
}
