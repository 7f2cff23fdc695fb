import type { ChangeSet, SearchUnit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { RecallReceipt } from "../../domain/recall.ts";
import type { ErasureReceipt, Trace } from "../../domain/receipt.ts";

/** Values for tests of memory stores: complete, valid, and distinguished by their ids. */

export const BASE_TIME = "2026-01-01T00:00:00.000Z";

/**
 * The ids and keys of random histories: few, so that steps collide; two are ordered differently in UTF-8 and
 * UTF-16.
 */
export const SAMPLE_IDS: readonly string[] = ["a", "b", "ä", "\u{ff5e}", "\u{1f98a}"];

export function makeMessage(id: string, fields: Partial<Message> = {}): Message {
  return {
    id,
    turn: 0,
    role: "user",
    content: `Words of ${id}.`,
    origin: "user_message",
    at: BASE_TIME,
    storedAt: BASE_TIME,
    digest: "done",
    ...fields,
  };
}

export function makeMemory(id: string, version = 1, fields: Partial<Memory> = {}): Memory {
  return {
    id,
    version,
    text: `Memory ${id}, version ${version}.`,
    kind: "fact",
    status: "current",
    confidence: 0.9,
    importance: 0.5,
    evidence: 1,
    origin: "user_message",
    at: BASE_TIME,
    sources: [],
    revision: 0,
    storedAt: BASE_TIME,
    action: version === 1 ? "added" : "updated",
    ...fields,
  };
}

export function makeUnit(
  id: string,
  type: SearchUnit["type"],
  owner: string,
  terms = `terms of ${id}`,
): SearchUnit {
  const vector = Float32Array.from([0.5, -0.25, id.length / 64]);
  return { id, type, owner, start: 0, end: 5, terms, space: "test/3", vector };
}

export function makeErasureReceipt(id: string, fields: Partial<ErasureReceipt> = {}): ErasureReceipt {
  const erased = {
    memories: 0,
    versions: 0,
    messages: 0,
    emptied: 0,
    passages: 0,
    vectors: 0,
    tombstones: 0,
  };
  return {
    id,
    at: BASE_TIME,
    project: "default",
    user: "ann",
    revision: 1,
    erased,
    ids: [],
    verified: [],
    complete: false,
    previous: "",
    hash: "h",
    signature: "s",
    ...fields,
  };
}

export function makeTrace(receipt: string, user = "ann", fields: Partial<Trace> = {}): Trace {
  return {
    receipt,
    at: BASE_TIME,
    project: "default",
    user,
    revision: 1,
    memories: ["a"],
    messages: [{ id: "m1", length: 12, cuts: [{ start: 0, end: 3, put: "" }] }],
    tombstones: [{ hash: "t", of: "words", at: BASE_TIME }],
    ...fields,
  };
}

/** A change-set with all fields except its revision. */
export function makeChangeSet(fields: Partial<ChangeSet> = {}): ChangeSet {
  return { base: 0, at: BASE_TIME, cause: "remember", ...fields };
}

/** The receipt of a recall that found nothing. */
export function makeRecallReceipt(id: string): RecallReceipt {
  return {
    id,
    at: "2026-01-01T00:00:00.000Z",
    kind: "recall",
    revision: 1,
    bounds: { limit: 10, minScore: 0 },
    profile: "default",
    considered: 0,
    threshold: 0.15,
    items: [],
    dropped: [],
  };
}
