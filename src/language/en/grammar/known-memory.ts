import type { Claim, Memory, SourceSpan } from "../../../domain/memory.ts";
import type { Reading } from "../../../ports/language/extractor.ts";

/** What the rules look at of a memory. */
export type KnownMemory = Pick<
  Memory,
  "id" | "text" | "kind" | "claim" | "status" | "importance" | "at" | "when" | "sources"
>;

/** What the rules read, and by what. */
export interface RulesReading extends Omit<Reading, "known" | "ended"> {
  readonly known: readonly KnownMemory[];
  readonly ended?: () => readonly KnownMemory[];
}

/** Memories one after the other, value by value, for a thread: as objects they take three times as long to copy. */
export type Flat = readonly (string | number | undefined)[];

export function flattened(memories: readonly KnownMemory[]): Flat {
  const values: (string | number | undefined)[] = [];
  for (const { id, text, kind, status, importance, at, when, claim, sources } of memories) {
    values.push(id, text, kind, status, importance, at, when);
    values.push(claim?.subject, claim?.relation, claim?.value, claim?.qualifier, sources.length);
    for (const { message, start, end, quote } of sources) values.push(message, start, end, quote);
  }
  return values;
}

export function unflattened(values: Flat): KnownMemory[] {
  let place = 0;
  const next = (): unknown => {
    place += 1;
    return values[place - 1];
  };
  const memories: KnownMemory[] = [];
  while (place < values.length) {
    const [id, text] = [next(), next()] as [string, string];
    const [kind, status] = [next(), next()] as [Memory["kind"], Memory["status"]];
    const [importance, at, when] = [next(), next(), next()] as [number, string, string | undefined];
    const claim = claimOf(next(), next(), next(), next());
    const sources: SourceSpan[] = Array.from({ length: next() as number }, () => {
      const [message, start, end, quote] = [next(), next(), next(), next()] as [
        string,
        number,
        number,
        string,
      ];
      return { message, start, end, quote };
    });
    const optional = { ...(when === undefined ? {} : { when }), ...(claim ? { claim } : {}) };
    memories.push({ id, text, kind, status, importance, at, sources, ...optional });
  }
  return memories;
}

function claimOf(subject: unknown, relation: unknown, value: unknown, qualifier: unknown): Claim | undefined {
  if (subject === undefined) return undefined;
  const claim = { subject, relation, value } as Claim;
  return qualifier === undefined ? claim : { ...claim, qualifier: qualifier as string };
}
