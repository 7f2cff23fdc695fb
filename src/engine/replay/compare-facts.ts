import { createHash } from "node:crypto";
import { isUndone, type Memory, toClaimKey } from "../../domain/memory.ts";
import { splitWords } from "../../domain/search/search-terms.ts";
import { toCanonicalJson } from "../../domain/text/canonical-json.ts";
import { forEachInSlices, mapInSlices, sortInSlices } from "../../domain/time-slicing.ts";
import type { FactDifference, ReplayedFact, ReplayedField } from "../api/replay-types.ts";

/** A memory as it is compared. */
export interface ComparedMemory {
  readonly fact: ReplayedFact;
  /** Equal for two memories of the same claim, or of the same words if they have none. */
  readonly key: string;
  /** Equal for two memories that were first said in the same words of the same message. */
  readonly place: string;
  /** Whether its state was taken from the log, not read in messages. */
  readonly isTaken: boolean;
}

/**
 * The memories of one side, without those that expired by `now` (ISO 8601) or that an undo took back. `takenIds` are those
 * whose state was taken from the log.
 */
export async function listCompared(
  memories: Iterable<Memory>,
  now: string,
  takenIds: ReadonlySet<string>,
): Promise<ComparedMemory[]> {
  const compared: ComparedMemory[] = [];
  await forEachInSlices(memories, (memory) => {
    if (isUndone(memory) || (memory.expiresAt !== undefined && memory.expiresAt <= now)) return;
    const [source] = memory.sources;
    const place = source ? JSON.stringify([source.message, source.start]) : "";
    compared.push({
      fact: toFact(memory),
      key: toComparisonKey(memory),
      place,
      isTaken: takenIds.has(memory.id),
    });
  });
  return compared;
}

function toFact({ text, kind, claim, validFrom, validTo, when, sources, ...memory }: Memory): ReplayedFact {
  const state = memory.status === "superseded" ? "ended" : memory.status;
  return {
    text,
    kind,
    ...(claim ? { claim } : {}),
    state: memory.quarantined && state === "current" ? "quarantined" : state,
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validTo === undefined ? {} : { validTo }),
    ...(when === undefined ? {} : { when }),
    message: sources[0]?.message ?? "",
  };
}

/** Equal for two memories of the same claim, or of the same words if they have none. */
export function toComparisonKey({ claim, text }: Pick<Memory, "claim" | "text">): string {
  if (!claim) return `words ${splitWords(text).join(" ")}`;
  return `claim ${toClaimKey(claim)} ${(claim.qualifier ?? "").toLowerCase()}`;
}

/** The result of comparing two sides. */
interface FactComparison {
  readonly same: number;
  readonly notFromMessages: number;
  readonly differences: readonly FactDifference[];
  readonly digests: { readonly left: string; readonly right: string };
}

/** Pairs the facts of two sides: equal ones first, then those of one claim, then those said in one place. */
export async function compareFacts(
  left: readonly ComparedMemory[],
  right: readonly ComparedMemory[],
): Promise<FactComparison> {
  const equal = await pair({ left, right }, ({ fact, key }) => `${key} ${toCanonicalJson(fact)}`);
  const claims = await pair(equal.rest, ({ key }) => key);
  const places = await pair(claims.rest, ({ place }) => place);
  const pairs = [...claims.pairs, ...places.pairs];
  const changes = pairs.map(([one, other]) => toDifference(one, other));
  const differences = [
    ...changes.filter(({ fields }) => fields.length > 0),
    ...places.rest.left.map(({ fact }) => ({ left: fact, fields: [] })),
    ...places.rest.right.map(({ fact }) => ({ right: fact, fields: [] })),
  ];
  return {
    same: equal.pairs.length + changes.length - changes.filter(({ fields }) => fields.length > 0).length,
    notFromMessages: right.filter(({ isTaken }) => isTaken).length,
    differences,
    digests: { left: await digestFacts(left), right: await digestFacts(right) },
  };
}

interface Sides {
  readonly left: readonly ComparedMemory[];
  readonly right: readonly ComparedMemory[];
}

interface PairedSides {
  readonly pairs: readonly (readonly [ComparedMemory, ComparedMemory])[];
  readonly rest: Sides;
}

/** Pairs what has the same label, in order. What has an empty label stays alone. */
async function pair(
  { left, right }: Sides,
  labelOf: (memory: ComparedMemory) => string,
): Promise<PairedSides> {
  const waiting = new Map<string, ComparedMemory[]>();
  await forEachInSlices(right, (one) => {
    const label = labelOf(one);
    const others = waiting.get(label);
    if (others) others.push(one);
    else waiting.set(label, [one]);
  });
  for (const others of waiting.values()) others.reverse();
  const pairs: [ComparedMemory, ComparedMemory][] = [];
  const alone: ComparedMemory[] = [];
  await forEachInSlices(left, (one) => {
    const label = labelOf(one);
    const other = label === "" ? undefined : waiting.get(label)?.pop();
    if (other) pairs.push([one, other]);
    else alone.push(one);
  });
  const paired = new Set(pairs.map(([, other]) => other));
  return { pairs, rest: { left: alone, right: right.filter((one) => !paired.has(one)) } };
}

function toDifference(one: ComparedMemory, other: ComparedMemory): FactDifference & { left: ReplayedFact } {
  const [left, right] = [one.fact, other.fact];
  const fields: ReplayedField[] = [];
  if (left.state !== right.state) fields.push("state");
  if (left.text !== right.text) fields.push("text");
  if (left.kind !== right.kind) fields.push("kind");
  if (one.key !== other.key) fields.push("claim");
  const hasSameDates = (["validFrom", "validTo", "when"] as const).every(
    (name) => left[name] === right[name],
  );
  if (!hasSameDates) fields.push("dates");
  return { left, right, fields };
}

/** SHA-256 of facts, whatever their order. */
async function digestFacts(memories: readonly ComparedMemory[]): Promise<string> {
  const lines = await mapInSlices(
    memories,
    ({ fact: { claim: _claim, message: _message, ...fact }, key }) =>
      `${toCanonicalJson({ ...fact, key })}\n`,
  );
  const sorted = await sortInSlices(lines, (one, other) => (one < other ? -1 : one > other ? 1 : 0));
  const hash = createHash("sha256");
  await forEachInSlices(sorted, (line) => void hash.update(line));
  return hash.digest("hex");
}
