// Failures that occurred while the host was running, counted by kind. Unexpected ones are reported at the end.

/** Maximum number of unexpected failures that are reported in full. */
const MAX_REPORTED_FAULTS = 10;

export class Faults {
  /** Number of expected failures by actor and error code. */
  expected = {};
  #unexpected = 0;
  #first = [];

  /**
   * Records a failure as expected or unexpected.
   * @param {string} who Name of the actor that failed.
   * @param {Error} error The failure.
   * @param {string[]} codes Error codes that are expected.
   */
  sort(who, error, codes) {
    if (error.code !== undefined && codes.includes(error.code)) this.expect(`${who} ${error.code}`);
    else this.#add(`${who}: ${error.stack}`);
  }

  /** Records a tolerated event, whose number is limited. */
  expect(what) {
    this.expected[what] = (this.expected[what] ?? 0) + 1;
  }

  #add(words) {
    this.#unexpected += 1;
    if (this.#first.length < MAX_REPORTED_FAULTS) this.#first.push(words);
  }

  /** Returns a text about the unexpected failures, or `null` if there are none. */
  problem() {
    if (this.#unexpected === 0) return null;
    return `${this.#unexpected} unexpected failures, of which the first are:\n  ${this.#first.join("\n  ")}`;
  }
}
