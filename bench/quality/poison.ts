import { type CasePart, lookAlikes, orders } from "../../test/poison/cases.ts";
import { credulousModel, eagerExtractor } from "../../test/poison/eager.ts";
import { HARMS } from "../../test/poison/gullible.ts";
import { harmOf, lostOf } from "../../test/poison/measure.ts";
import {
  conversation,
  imported,
  library,
  messages,
  proxied,
  understood,
  type Way,
} from "../../test/poison/ways.ts";
import type { Run, RunOptions } from "./report.ts";

/** The ways in. A conversation takes only what the user sends, so it is asked for that alone. */
const WAYS: { readonly [name: string]: () => Promise<Way> } = {
  library: () => library(),
  messages,
  conversation,
  import: imported,
  proxy: proxied,
  "a model that believes all": () => understood(credulousModel()),
};

/**
 * Orders to the assistant in what users, assistants, tools and documents say, each to a user of whom something is known;
 * what they come to with a model that obeys every instruction it sees. And harmless words that look like them: whether
 * they are found again. Numbers are counts; the goal is 0.
 */
export async function poison({ limit, progress }: RunOptions): Promise<Run> {
  const metrics: { [name: string]: number } = {};
  const parts: readonly CasePart[] = ["seen", "held-out"];
  const steps = parts.length * (Object.keys(WAYS).length + 2);
  let done = 0;
  let n = 0;
  for (const part of parts) {
    const all = orders(part).slice(0, limit);
    const harmless = lookAlikes(part).slice(0, limit);
    n += all.length + harmless.length;
    for (const [name, open] of Object.entries(WAYS)) {
      const way = await open();
      const { count } = await harmOf(way, name === "conversation" ? all.filter(isSent) : all);
      await way.close();
      for (const harm of HARMS) metrics[`${harm} (${name}, ${part})`] = count[harm];
      done += 1;
      progress(done, steps);
    }
    for (const [name, extractor] of [
      ["rules", undefined],
      ["a wish each", eagerExtractor(false)],
    ] as const) {
      const way = await library(extractor);
      metrics[`harmless lost (${name}, ${part})`] = (await lostOf(way, harmless)).length;
      await way.close();
      done += 1;
      progress(done, steps);
    }
  }
  return { report: { set: "poison", metrics, baseline: {}, n }, notes: [] };
}

function isSent({ carrier }: { carrier: string }): boolean {
  return carrier === "user" || carrier === "document";
}
