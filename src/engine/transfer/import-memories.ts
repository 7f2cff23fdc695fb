import { checkCount, checkName, checkText, toStorableText } from "../../domain/limits.ts";
import { isCurrentAt, isUndone, type Memory, type Status, toClaimKey } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { toIsoTime } from "../../domain/time.ts";
import { runInSlices } from "../../domain/time-slicing.ts";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { ImportEntry, ImportedMemory } from "../api/transfer-types.ts";
import { commitChange, createMemoryDraft, type MemoryDraft } from "../change-set.ts";
import { redactErased } from "../erase/tombstone-filter.ts";
import { hashClaimTombstones } from "../erase/tombstones.ts";
import { isRival } from "../ingest/decide.ts";
import { checkMemoryFields } from "../ingest/manual-edits.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import type { UserState } from "../user-state/user-state.ts";
import { checkImportedSources, findStoredSources, MAX_IMPORTED_SOURCES } from "./imported-sources.ts";

/** What an import knows of the memories of its source so far. */
export interface ImportedMemoryIndex {
  /** The ids that the source has used. */
  readonly ids: Set<string>;
  /** Ids of memories whose text was known, with the ids of the stored memories that have it. */
  readonly aliases: Map<string, string>;
  /** The ids of current memories by text, as of a revision. */
  texts: { readonly revision: number; readonly ids: Map<string, string> };
}

/** Creates the index of an import that has read no memory yet. */
export function createImportedMemoryIndex(): ImportedMemoryIndex {
  return { ids: new Set(), aliases: new Map(), texts: { revision: -1, ids: new Map() } };
}

/** The import that memories are a part of. */
interface MemoryImport {
  readonly ports: Ports;
  readonly scope: Scope;
  readonly importId: string;
  readonly index: ImportedMemoryIndex;
  readonly signal: AbortSignal | undefined;
}

interface CommittedMemories {
  readonly lines: readonly ReceiptLine[];
  readonly known: number;
  readonly undone: number;
  readonly revision: number;
}

/** Stores memories of another system as one change. Leaves out those that are known, and what was erased. */
export async function commitImportedMemories(
  { ports, scope, importId, index, signal }: MemoryImport,
  batch: readonly ImportEntry[],
): Promise<CommittedMemories> {
  const prepared = batch.flatMap((entry) => prepareImportedMemory(entry) ?? []);
  const now = ports.clock().toISOString();
  let added = new Map<string, string>();
  const { result, revision } = await commitChange(ports, scope, async (state, at) => {
    const draft = createMemoryDraft(state, at);
    added = new Map();
    const texts = index.texts.revision === state.revision ? index.texts.ids : indexTexts(state, now);
    index.texts = { revision: state.revision, ids: texts };
    const context = {
      state,
      draft,
      findByText: (one: string) => added.get(one) ?? texts.get(one),
      at,
      now,
    };
    const fates: MemoryFate[] = [];
    for (const memory of prepared) {
      fates.push(await takeMemory(ports, index, context, memory, added));
    }
    const result = {
      lines: fates.flatMap((fate) => (typeof fate === "object" ? fate : [])),
      known: fates.filter((fate) => fate === "known").length,
      undone: fates.filter((fate) => fate === "undone").length,
    };
    if (draft.versions.length === 0) return { result };
    const units = await createSearchUnits(ports, [], draft.versions, signal);
    return { draft: { cause: "import", importId, memories: draft.versions, units }, result };
  });
  for (const [text, id] of added) index.texts.ids.set(text, id);
  index.texts = { ...index.texts, revision };
  return { ...result, revision };
}

/** The lines of the receipt for a memory, or why it has none. */
type MemoryFate = "known" | "undone" | readonly ReceiptLine[];

/** Adds a memory to the draft, unless it is known, was undone or is refused. Notes the text of one that is current in `added`. */
async function takeMemory(
  ports: Ports,
  index: ImportedMemoryIndex,
  context: MemoryContext,
  memory: PreparedMemory,
  added: Map<string, string>,
): Promise<MemoryFate> {
  const { id, text, status } = memory.fields;
  const fate = judgeMemory(ports, index, context, memory);
  const rivals = fate === "new" ? findRivals(ports, index, context, memory) : [];
  index.ids.add(id);
  if (fate !== "new") return fate;
  if (status === "current") added.set(text, id);
  return putMemory(ports, context, memory, rivals);
}

/** The texts of current memories that have not expired. Those that wait for a review count: nothing frees them. */
function indexTexts({ current }: Pick<UserState, "current">, now: string): Map<string, string> {
  const ids = new Map<string, string>();
  for (const { id, text, expiresAt } of current.values())
    if (expiresAt === undefined || expiresAt > now) ids.set(text, id);
  return ids;
}

/** What a memory is compared with. */
interface MemoryContext {
  readonly state: UserState;
  readonly draft: MemoryDraft;
  /** Gives the id of a current memory with the text, if there is one. */
  readonly findByText: (text: string) => string | undefined;
  readonly at: string;
  readonly now: string;
}

/** Whether a memory is new, known, or was imported before and undone; or the line of its refusal. */
function judgeMemory(
  ports: Pick<Ports, "secret" | "vocabulary">,
  { ids, aliases }: Pick<ImportedMemoryIndex, "ids" | "aliases">,
  { state, draft, findByText, at, now }: MemoryContext,
  { fields: memory, isExact }: PreparedMemory,
): "new" | MemoryFate {
  const stored = state.memories.get(memory.id);
  if (stored && isUndone(stored)) return "undone";
  if (stored || draft.get(memory.id)) return "known";
  const same = memory.status === "current" ? findByText(memory.text) : undefined;
  // Two memories of one export are two, whatever their texts.
  if (same !== undefined && !(isExact && ids.has(same))) {
    aliases.set(memory.id, same);
    ids.add(same);
    return "known";
  }
  if (memory.expiresAt !== undefined && memory.expiresAt <= now)
    return [{ ...REFUSED, why: "a memory that has expired" }];
  return isErased(ports, state, memory, at) ? [{ ...REFUSED, why: ERASED_WHY }] : "new";
}

const REFUSED = { id: "", action: "refused", text: "" } as const;
const ERASED_WHY = "it was erased; only the user can bring it back, by saying it again";

/** Whether the claim of a memory, or words of it, were erased. An import brings nothing back. */
function isErased(
  { secret, vocabulary }: Pick<Ports, "secret" | "vocabulary">,
  { scope, tombstones }: Pick<UserState, "scope" | "tombstones">,
  { id, text, claim, at: saidAt }: ImportedFields,
  at: string,
): boolean {
  if (tombstones.size === 0) return false;
  const hashes = claim ? Object.values(hashClaimTombstones({ secret, vocabulary }, scope, claim)) : [];
  if (hashes.some((hash) => tombstones.has(hash))) return true;
  const message: Message = {
    id,
    turn: 0,
    role: "user",
    content: text,
    origin: "import",
    at: saidAt ?? at,
    storedAt: at,
    digest: "never",
  };
  return redactErased({ secret, vocabulary }, scope, message, tombstones).message.content !== text;
}

/**
 * What was current before the import and cannot be together with a memory: another value of a relation that has one. What
 * comes from the same source is left as the source has it.
 */
function findRivals(
  { vocabulary }: Pick<Ports, "vocabulary">,
  { ids }: Pick<ImportedMemoryIndex, "ids">,
  { draft, now }: MemoryContext,
  { fields: { status, claim, quarantined } }: PreparedMemory,
): readonly Memory[] {
  if (status !== "current" || quarantined || !claim) return [];
  if (vocabulary.getRelation(claim.relation).holds !== "one") return [];
  return draft
    .findInSlot(claim)
    .filter(
      (memory) =>
        !ids.has(memory.id) &&
        isCurrentAt(memory, now) &&
        isRival(memory, claim) &&
        memory.claim !== undefined &&
        toClaimKey(memory.claim) !== toClaimKey(claim),
    );
}

/**
 * Adds a memory to a draft. One that would instruct the assistant is kept for people to review. Of rivals, the one that was
 * said last stays current.
 */
async function putMemory(
  { promptGuard }: Pick<Ports, "promptGuard">,
  { state, draft, at }: MemoryContext,
  { fields, isExact, review }: PreparedMemory,
  rivals: readonly Memory[],
): Promise<ReceiptLine[]> {
  const why = explainQuarantine(promptGuard, fields);
  const isQuarantined = why !== undefined;
  const action = isQuarantined ? "quarantined" : "added";
  const { agent = fields.agent, session } = state.scope;
  const saidAt = fields.at ?? at;
  const replaced = isQuarantined ? [] : rivals;
  const newer = replaced.find((memory) => memory.at > saidAt);
  const sources = await runInSlices(findStoredSources(state, fields.sources));
  const added = draft.put({
    ...(isExact ? {} : { validFrom: saidAt, ...(session === undefined ? {} : { session }) }),
    ...fields,
    at: saidAt,
    sources,
    action,
    ...(agent === undefined ? {} : { agent }),
    ...(review ? { review: { ...review, revision: state.revision + 1 } } : {}),
    ...(isQuarantined ? { quarantined: true, why } : {}),
    ...(newer
      ? {
          status: "superseded" as const,
          supersededBy: newer.id,
          validTo: newer.validFrom ?? newer.at,
          why: NEWER_WHY,
        }
      : {}),
  });
  const line = { id: fields.id, action, text: fields.text, ...(isQuarantined ? { why } : {}) } as const;
  return newer ? [line] : [line, ...replaced.map((memory) => supersedeRival(draft, memory, added))];
}

/** Why a memory is kept for review; undefined if it is not. */
function explainQuarantine(
  promptGuard: Ports["promptGuard"],
  { text, quarantined }: ImportedFields,
): string | undefined {
  const [injection] = promptGuard.findInjections(text, "typed");
  if (injection) return `it would have the assistant ${injection.does}`;
  return quarantined ? "it was kept for review where it comes from" : undefined;
}

const NEWER_WHY = "something newer was known";
const REPLACED_WHY = "a newer statement took its place";

function supersedeRival(draft: MemoryDraft, memory: Memory, by: Memory): ReceiptLine {
  const end = by.validFrom ?? by.at;
  draft.put({
    ...memory,
    status: "superseded",
    action: "superseded",
    supersededBy: by.id,
    // Nothing ends before it began.
    validTo: end < (memory.validFrom ?? memory.at) ? by.at : end,
    why: REPLACED_WHY,
  });
  return { id: memory.id, action: "superseded", text: memory.text, by: by.id, why: REPLACED_WHY };
}

/** The fields that every imported memory has. */
type ImportedFields = Omit<Memory, "version" | "revision" | "storedAt" | "at" | "action" | "review"> & {
  readonly at?: string;
};

/** A memory of another system, checked. */
interface PreparedMemory {
  readonly fields: ImportedFields;
  readonly isExact: boolean;
  readonly review: ImportedMemory["review"];
}

/**
 * Checks the memory of an entry; undefined if it has none. Throws `invalid_input` for wrong fields, with the place of the
 * entry.
 */
export function prepareImportedMemory({ place, memory }: ImportEntry): PreparedMemory | undefined {
  if (!memory) return undefined;
  try {
    return {
      fields: checkImportedFields(memory),
      isExact: memory.isExact ?? false,
      review: checkReview(memory),
    };
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    throw new MemoryError(error.code, `${place}: ${error.message}`, { cause: error });
  }
}

function checkImportedFields(memory: ImportedMemory): ImportedFields {
  const { status = "current", supersededBy, validTo, at, evidence, agent, session } = memory;
  if (!STATUSES.includes(status)) throw invalid(`status must be one of ${STATUSES.join(", ")}.`);
  return {
    kind: "fact",
    confidence: 1,
    importance: 0.5,
    origin: "import",
    ...checkMemoryFields(memory),
    id: checkName(memory.id, "id"),
    text: checkText(toStorableText(memory.text).text, "text"),
    status,
    evidence: evidence === undefined ? 1 : checkCount(evidence, "evidence", 1, Number.MAX_SAFE_INTEGER),
    sources: checkImportedSources(memory.sources),
    ...(supersededBy === undefined ? {} : { supersededBy: checkName(supersededBy, "supersededBy") }),
    ...(validTo === undefined ? {} : { validTo: toIsoTime(validTo, "validTo") }),
    ...(at === undefined ? {} : { at: toIsoTime(at, "at") }),
    ...(memory.when === undefined ? {} : { when: checkDate(memory.when) }),
    ...(memory.sensitive === true ? { sensitive: true } : {}),
    ...(memory.archived === true ? { archived: true } : {}),
    ...(memory.quarantined === true ? { quarantined: true } : {}),
    ...(agent === undefined ? {} : { agent: checkName(agent, "agent") }),
    ...(session === undefined ? {} : { session: checkName(session, "session") }),
  };
}

const STATUSES: readonly Status[] = ["current", "superseded", "retracted"];
/** A year, a month, a day, or a time with or without its zone. */
const DATE = /^-{0,2}\d[-\d:.TZ+]{1,39}$/;

function checkDate(when: unknown): string {
  if (typeof when === "string" && DATE.test(when)) return when;
  throw invalid("when must be a date or a time in ISO 8601.");
}

function checkReview({ review }: ImportedMemory): ImportedMemory["review"] {
  if (review === undefined) return undefined;
  const { since, because } = review ?? {};
  if (!Array.isArray(because) || because.length > MAX_IMPORTED_SOURCES)
    throw invalid("a review must name the memories that have changed.");
  return {
    since: toIsoTime(since, "review.since"),
    because: because.map((id) => checkName(id, "review.because")),
  };
}
