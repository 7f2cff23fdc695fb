import type { Spread } from "./measure.ts";
import type { Figures } from "./run.ts";

/** The figures for people, on a terminal. */
export function tableOf(figures: Figures): string {
  const { recall, peers, import: imported, machine } = figures;
  return [
    `${figures.users} users of ${figures.perUser} memories, and the messages they were read from`,
    "",
    `${"milliseconds".padEnd(34)}${["p50", "p95", "p99", "cpu mean"].map((head) => head.padStart(9)).join("")}`,
    times("recall", recall.hot),
    times("recall after a write", recall.afterWrite),
    times("recall, user not in memory", recall.cold),
    times("answer", figures.answer),
    times("remember one message, durable", figures.remember),
    ...(figures.rules ? [times("rules, one short message", figures.rules)] : []),
    ...Object.entries(peers).map(([name, spread]) => times(`vectors alone: ${name}`, spread as Spread)),
    "",
    one("server start to first search, ms", figures.startMs),
    one("import, messages per second", imported.perSecond),
    one("  word for word", imported.verbatimPerSecond),
    one("bytes per memory", figures.bytesPerMemory),
    one("resident memory, MB", figures.rssMb),
    one("recall@10 of the vector arm", figures.vectorRecall10),
    one("seconds to fill the file", figures.fillSeconds ?? "kept"),
    "",
    `Node ${machine.node}, ${machine.cores} × ${machine.cpu}, load ${machine.load.before} to ${machine.load.after}`,
  ].join("\n");
}

function times(name: string, { p50, p95, p99, cpu }: Spread): string {
  return `${name.padEnd(34)}${[p50, p95, p99, cpu ?? ""].map((ms) => String(ms).padStart(9)).join("")}`;
}

function one(name: string, value: number | string): string {
  return `${name.padEnd(34)}${String(value).padStart(9)}`;
}
