import type { MemoryStore } from "../../src/ports/memory-store.ts";

/** A message whose write was acknowledged to a client. */
export interface Acknowledged {
  readonly user: string;
  readonly message: string;
}

/** What was acknowledged and is not in the record, and what is wrong with the record. */
export async function missingFrom(
  record: Pick<MemoryStore, "check" | "since">,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const faults = (await record.check()).map(({ place, problem, count }) => `${count} ${place}: ${problem}`);
  for (const user of new Set(acknowledged.map((one) => one.user))) {
    const { messages } = await record.since({ project: "default", user }, 0, { units: false });
    const held = new Set(messages.map(({ id }) => id));
    for (const one of acknowledged) {
      if (one.user === user && !held.has(one.message))
        faults.push(`${one.message} was acknowledged and is gone`);
    }
  }
  return faults;
}
