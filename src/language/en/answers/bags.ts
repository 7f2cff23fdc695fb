import type { Memory } from "../../../domain/memory.ts";
import { bagOf } from "./essence.ts";

const bags = new WeakMap<Memory, Set<string>>();

/** The words of a memory, with those of its claim and its month. Kept with it, for every question may ask for them. */
export function bag(memory: Memory): ReadonlySet<string> {
  let held = bags.get(memory);
  if (!held) {
    held = newBag(memory);
    bags.set(memory, held);
  }
  return held;
}

function newBag(memory: Memory): Set<string> {
  const { claim } = memory;
  const when = memory.when ? ` ${monthsOf(memory.when)}` : "";
  return bagOf(
    `${memory.text} ${claim ? `${claim.relation} ${claim.value} ${claim.qualifier ?? ""} ${claim.subject.replaceAll("/", " ")}` : ""}${when}`,
  );
}

const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);

function monthsOf(iso: string): string {
  return `${MONTHS[Number(iso.slice(5, 7)) - 1] ?? ""} ${iso.slice(0, 4)}`;
}
