// Returns the shortest duration of several runs in milliseconds. Longer ones include the load of the machine.
const RUN_COUNT = 5;

export function fastestRunMs(act: () => unknown): number {
  const times = Array.from({ length: RUN_COUNT }, () => {
    const begin = performance.now();
    act();
    return performance.now() - begin;
  });
  return Math.min(...times);
}
