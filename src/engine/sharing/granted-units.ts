import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { compileGrant, type GrantedContent } from "../../domain/sharing.ts";
import { splitPassages } from "../../domain/text/split-text.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import type { Ports } from "../ports.ts";

/** Memories and messages tested between two yields. */
const SLICE = 20;

/**
 * The ids of an owner's memories and passages that at least one of some grants covers now (ISO 8601). The store's texts
 * decide, as for every filter.
 */
export async function findGrantedUnits(
  ports: Pick<Ports, "states">,
  owner: Scope,
  granted: readonly GrantedContent[],
  now: string,
): Promise<ReadonlySet<string>> {
  const tests = await Promise.all(granted.map(compileGrant));
  const { messages, current } = await ports.states.of(owner);
  const messageOf = (id: string): Message | undefined => messages.get(id);
  const covered = new Set<string>();
  await forEachInSlices(
    current.values(),
    (memory) => {
      if (tests.some((test) => test.coversMemory(memory, messageOf, now))) covered.add(memory.id);
    },
    SLICE,
  );
  if (!granted.some((what) => what.messages)) return covered;
  await forEachInSlices(
    messages.values(),
    (message) => {
      for (const { id, start, end } of splitPassages(message)) {
        const text = message.content.slice(start, end);
        if (tests.some((test) => test.coversPassage(message, text))) covered.add(id);
      }
    },
    SLICE,
  );
  return covered;
}
