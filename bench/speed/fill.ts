import { setImmediate } from "node:timers/promises";
import type { Extractor } from "../../src/index.ts";
import { loadLibrary } from "./filling.ts";
import { type MadeUp, type MadeUpPerson, person } from "./made-up.ts";

const BATCH = 1000;

/**
 * Fills a file by the engine's own path with users `first` to `last` of `perUser` messages and as many memories. What
 * the messages say is known here, so no rules have to read them: that is measured for itself. Run as a process of its
 * own, which tells its parent how many messages are stored.
 */
async function fill(
  path: string,
  [first = 1, last = 1, perUser = 1]: readonly number[],
  checkout: string,
): Promise<void> {
  const { createMemory } = await loadLibrary(checkout);
  for (let number = first; number <= last; number += 1) {
    const known = new Map<string, MadeUp["memory"]>();
    // A process that takes in everybody's history at once is no case of use: each user gets memory of their own.
    const memory = await createMemory({ path, extractor: knowing(known) });
    const one = person(number);
    for await (const { stored } of memory
      .scope({ user: one.name })
      .import(messagesOf(one, perUser, known), { batch: BATCH })) {
      process.send?.((number - first) * perUser + stored, undefined, undefined, () => undefined);
      // Nothing above waits for the world outside, and so it would not hear that its parent is gone.
      await setImmediate();
    }
    await memory.close();
  }
}

function* messagesOf(one: MadeUpPerson, count: number, known: Map<string, MadeUp["memory"]>) {
  for (let i = 0; i < count; i += 1) {
    const { memory, ...message } = one.said(i);
    known.set(message.id, memory);
    yield message;
  }
}

/** Proposes of each message what it is known to say. */
function knowing(known: Map<string, MadeUp["memory"]>): Extractor {
  return {
    name: "made up",
    local: true,
    async propose({ messages }) {
      return messages.flatMap(({ id }) => {
        const memory = known.get(id);
        known.delete(id);
        if (!memory) return [];
        return [
          {
            ...memory,
            propose: "add" as const,
            message: id,
            kind: "fact" as const,
            holds: "many" as const,
            confidence: 0.9,
            importance: 0.5,
          },
        ];
      });
    },
  };
}

// A parent that is gone wants nothing filled any more.
const orphaned = (): never => process.exit(1);
process.once("disconnect", orphaned);
const [path = "", first, last, perUser, checkout = ""] = process.argv.slice(2);
await fill(path, [first, last, perUser].map(Number), checkout);
process.off("disconnect", orphaned);
process.disconnect?.();
