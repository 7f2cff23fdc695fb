import { createProgressBar } from "../../src/cli/printer.ts";

/** Says on stderr how far a long work is and how long it will still take. */
export function reporter(name: string, total: number): (done: number) => void {
  const bar = createProgressBar(false);
  const began = performance.now();
  return (done) => {
    const seconds = (performance.now() - began) / 1000;
    const left = Math.ceil((seconds / Math.max(1, done)) * (total - done));
    bar.show(done, total, `${name}: ${done} of ${total}, ${left} s left`);
    if (done >= total) bar.end();
  };
}

/** Names on stderr what is measured now. */
export function phase(name: string): void {
  console.error(name);
}
