import type { ChangeSetDraft } from "../../domain/change-set.ts";
import { checkMetadata, checkShare, checkText, INPUT_LIMITS } from "../../domain/limits.ts";
import {
  type Claim,
  KIND_NAMES,
  type Kind,
  type KindGroup,
  type Memory,
  toClaimKey,
  toKind,
} from "../../domain/memory.ts";
import type { Receipt, ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { splitWords } from "../../domain/search/search-terms.ts";
import { toIsoTime } from "../../domain/time.ts";
import { invalid } from "../../errors.ts";
import type { ClearableField, MemoryChanges, NewMemory } from "../api/writing-types.ts";
import { commitChange, createMemoryDraft, type MemoryDraft } from "../change-set.ts";
import { hashClaimTombstones } from "../erase/tombstones.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import { requireMemory } from "../user-state/lookups.ts";
import type { UserState } from "../user-state/user-state.ts";

/** Adds a memory by hand. If the same text or claim exists, that memory gains evidence instead. */
export async function add(ports: Ports, scope: Scope, memory: NewMemory): Promise<Receipt> {
  const put = prepareAddition(ports, scope, memory);
  return commitEdit(ports, scope, (state, at) => {
    const draft = createMemoryDraft(state, at);
    const { line, liftedTombstones: lifted } = put(state, at, draft);
    return { versions: draft.versions, lines: [line], draft: { liftTombstones: lifted } };
  });
}

/** The result of adding a memory by hand: its line, and the hashes of lifted tombstones. */
interface ManualAddition {
  readonly line: ReceiptLine;
  readonly liftedTombstones: readonly string[];
}

/**
 * Checks a new memory and gives the function that adds it to a draft. Throws `invalid_input` for wrong
 * fields.
 */
function prepareAddition(
  ports: Pick<Ports, "ids" | "secret" | "clock" | "vocabulary">,
  scope: Scope,
  memory: NewMemory,
): (state: UserState, at: string, draft: MemoryDraft) => ManualAddition {
  const fields = checkMemoryFields(memory);
  const text = checkText(memory.text, "text");
  const saidAt = memory.at === undefined ? undefined : toIsoTime(memory.at, "at");
  return (state, at, draft) => {
    checkNotExpired(fields, ports.clock().toISOString());
    const same = [...state.current.values()].find(
      (existing) => !existing.quarantined && isSameMemory(existing, text, fields.claim),
    );
    if (same) {
      draft.put({
        ...same,
        ...fields,
        text,
        evidence: same.evidence + 1,
        at: saidAt ?? at,
        action: "merged",
      });
      return { line: { id: same.id, action: "merged", text }, liftedTombstones: [] };
    }
    const id = ports.ids();
    draft.put({
      id,
      text,
      kind: "fact",
      status: "current",
      confidence: 1,
      importance: 0.5,
      evidence: 1,
      origin: "api",
      at: saidAt ?? at,
      validFrom: saidAt ?? at,
      sources: [],
      action: "added",
      ...(scope.agent === undefined ? {} : { agent: scope.agent }),
      ...(scope.session === undefined ? {} : { session: scope.session }),
      ...fields,
    });
    // Adding it by hand is the user's own word and lifts its tombstones.
    const lifted = fields.claim ? Object.values(hashClaimTombstones(ports, scope, fields.claim)) : [];
    return {
      line: { id, action: "added", text },
      liftedTombstones: lifted.filter((hash) => state.tombstones.has(hash)),
    };
  };
}

/**
 * Changes fields of a memory by hand; the history keeps the earlier version. Throws `not_found` for an
 * unknown id.
 */
export async function update(
  ports: Ports,
  scope: Scope,
  id: string,
  changes: MemoryChanges,
): Promise<Receipt> {
  const fields = checkMemoryFields(changes);
  const mark = checkPrivateMark(changes.private);
  const validTo = changes.validTo === undefined ? {} : { validTo: toIsoTime(changes.validTo, "validTo") };
  const text = changes.text === undefined ? {} : { text: checkText(changes.text, "text") };
  const isReleased = isQuarantineRelease(changes.quarantined);
  const isReviewed = isReviewDone(changes.reviewed);
  const cleared = checkCleared(changes);
  const isChanged = Object.keys({ ...fields, ...mark, ...validTo, ...text }).length + cleared.length > 0;
  if (!isReleased && !isReviewed && !isChanged) throw invalid("update: name at least one field to change.");
  return commitEdit(ports, scope, (state, at) => {
    const memory = requireMemory(state, id);
    checkNotExpired(fields, ports.clock().toISOString());
    const draft = createMemoryDraft(state, at);
    // After an edit the words are no longer those of the source, which stays as their origin.
    const { quarantined, review, ...free } = withoutTimes(memory, cleared);
    const why = nameEdit({ isReleased: isReleased && quarantined, isReviewed: isReviewed && review });
    const version = draft.put({
      ...withFittingClaim(free, changes.text),
      ...(quarantined && !isReleased ? { quarantined } : {}),
      ...(review && !isReviewed ? { review } : {}),
      ...fields,
      ...(mark ? { metadata: { ...(fields.metadata ?? memory.metadata), ...mark } } : {}),
      ...validTo,
      ...text,
      ...getEndedStatus({ ...free, ...validTo }, at),
      action: "updated",
      why,
    });
    return { versions: draft.versions, lines: [{ id, action: "merged", text: version.text, why }] };
  });
}

function nameEdit({ isReleased, isReviewed }: { isReleased: unknown; isReviewed: unknown }): string {
  if (isReleased) return "let in by hand";
  return isReviewed ? "reviewed by hand" : "changed by hand";
}

/** A memory that a person ends is no longer current. A past event stays true. */
function getEndedStatus(
  { kind, status, validTo }: Pick<Memory, "kind" | "status" | "validTo">,
  now: string,
): Partial<Pick<Memory, "status">> {
  const isOver = kind !== "event" && status === "current" && validTo !== undefined && validTo <= now;
  return isOver ? { status: "superseded" } : {};
}

const CLEARABLE_FIELDS: readonly ClearableField[] = ["validFrom", "validTo", "expiresAt"];

/** The times to take away. Throws `invalid_input` for another field, and for one that is also set. */
function checkCleared(changes: MemoryChanges): readonly ClearableField[] {
  const named: readonly ClearableField[] = changes.clear ?? [];
  if (!Array.isArray(changes.clear ?? []) || named.some((name) => !CLEARABLE_FIELDS.includes(name)))
    throw invalid(`clear must be a list of ${CLEARABLE_FIELDS.join(", ")}.`);
  if (named.some((name) => changes[name] !== undefined))
    throw invalid("a time cannot be set and cleared in one change.");
  return named;
}

/** A memory without some of its times. What ended by its time alone is current again. */
function withoutTimes(memory: Memory, cleared: readonly ClearableField[]): Memory {
  const isReopened =
    cleared.includes("validTo") &&
    memory.validTo !== undefined &&
    memory.status === "superseded" &&
    memory.supersededBy === undefined;
  const status = isReopened ? "current" : memory.status;
  const kept = Object.entries(memory).filter(([name]) => !(cleared as readonly string[]).includes(name));
  return { ...(Object.fromEntries(kept) as unknown as Memory), status };
}

/**
 * A memory with a new text, and the claim that this text still makes. If only the value has changed, the claim gets the new value.
 * Otherwise the claim is removed: profiles and answers would repeat the old value.
 */
function withFittingClaim<Fields extends Pick<Memory, "claim" | "text">>(
  memory: Fields,
  text: string | undefined,
): Omit<Fields, "claim"> & Pick<Memory, "claim"> {
  if (text === undefined || !memory.claim) return memory;
  const words = new Set(splitWords(text));
  if (splitWords(memory.claim.value).every((word) => words.has(word))) return memory;
  const { claim, ...others } = memory;
  const value = findNewValue(memory.text, claim.value, text);
  return value === undefined ? others : { ...others, claim: { ...claim, value } };
}

/** A new value may have this many words more than the old one. A longer one probably says something else, too. */
const MOST_WORDS_MORE = 2;

/** What the new text has in the place of a value, where all words around it are the same. */
function findNewValue(text: string, value: string, changed: string): string | undefined {
  const [before, after] = [text, changed].map((one) => one.trim().replace(/[.!]+$/, ""));
  const at = before?.toLowerCase().lastIndexOf(value.toLowerCase()) ?? -1;
  if (before === undefined || after === undefined || at < 0) return undefined;
  const [lead, rest] = [before.slice(0, at), before.slice(at + value.length)];
  const found = after.slice(lead.length, after.length - rest.length);
  const isSame = `${lead}${found}${rest}`.toLowerCase() === after.toLowerCase();
  const isOne = found.trim() === found && !/[,;:.!?\n]/.test(found);
  const most = splitWords(value).length + MOST_WORDS_MORE;
  return isSame && isOne && found !== "" && splitWords(found).length <= most ? found : undefined;
}

/** A memory that has already expired could never be read, so it is a mistake. */
function checkNotExpired({ expiresAt }: Pick<Partial<Memory>, "expiresAt">, at: string): void {
  if (expiresAt !== undefined && expiresAt <= at)
    throw invalid("expiresAt is in the past: give a future time, or remove the memory.");
}

/** Approval needs an explicit `false`; nothing can be quarantined by hand. */
function isQuarantineRelease(quarantined: unknown): boolean {
  if (quarantined === undefined) return false;
  if (quarantined === false) return true;
  throw invalid("quarantined can only be set to false, which approves a quarantined memory.");
}

function checkPrivateMark(mark: unknown): { readonly private: boolean } | undefined {
  if (mark === undefined) return undefined;
  if (typeof mark === "boolean") return { private: mark };
  throw invalid("private must be true or false.");
}

/** Only `true` ends a review; nothing can be marked by hand. */
function isReviewDone(reviewed: unknown): boolean {
  if (reviewed === undefined) return false;
  if (reviewed === true) return true;
  throw invalid("reviewed can only be set to true, which ends the review of a memory.");
}

/** Removes a memory by hand: only the history returns it, and `undo` restores it. This is not an erasure. */
export async function remove(ports: Ports, scope: Scope, id: string): Promise<Receipt> {
  return commitEdit(ports, scope, (state, at) => {
    const memory = requireMemory(state, id);
    if (memory.status === "retracted") return { versions: [], lines: [] };
    const draft = createMemoryDraft(state, at);
    draft.put({ ...memory, status: "retracted", action: "retracted", why: "removed by hand" });
    return {
      versions: draft.versions,
      lines: [{ id, action: "retracted", text: memory.text, why: "removed by hand" }],
    };
  });
}

interface EditResult {
  readonly versions: readonly Memory[];
  readonly lines: Receipt["memories"];
  readonly draft?: Partial<ChangeSetDraft>;
}

async function commitEdit(
  ports: Ports,
  scope: Scope,
  think: (state: UserState, at: string) => EditResult,
): Promise<Receipt> {
  const { result, revision } = await commitChange(ports, scope, async (state, at) => {
    const { versions, lines, draft } = think(state, at);
    const result = { lines, pending: state.pending };
    if (versions.length === 0) return { result };
    const isAdded = versions[0]?.version === 1;
    return {
      draft: {
        cause: isAdded ? "add" : "update",
        memories: versions,
        units: await createSearchUnits(ports, [], versions.slice(-1)),
        ...draft,
      },
      result,
    };
  });
  return { revision, messages: [], memories: result.lines, pending: result.pending };
}

function isSameMemory(memory: Memory, text: string, claim: Claim | undefined): boolean {
  if (claim && memory.claim) return toClaimKey(claim) === toClaimKey(memory.claim);
  return memory.text === text;
}

/** Checks the fields of a memory that callers may set. Throws `invalid_input` for a wrong one. */
export function checkMemoryFields(fields: Omit<Partial<NewMemory>, "text" | "at">): Partial<Memory> {
  return {
    ...(fields.kind === undefined ? {} : { kind: checkKind(fields.kind) }),
    ...(fields.claim === undefined ? {} : { claim: checkClaim(fields.claim) }),
    ...(fields.confidence === undefined ? {} : { confidence: checkShare(fields.confidence, "confidence") }),
    ...(fields.importance === undefined ? {} : { importance: checkShare(fields.importance, "importance") }),
    ...(fields.validFrom === undefined ? {} : { validFrom: toIsoTime(fields.validFrom, "validFrom") }),
    ...(fields.expiresAt === undefined ? {} : { expiresAt: toIsoTime(fields.expiresAt, "expiresAt") }),
    ...(fields.metadata === undefined ? {} : { metadata: checkMetadata(fields.metadata, "metadata") }),
  };
}

function checkKind(kind: unknown): Kind {
  if ((KIND_NAMES as readonly unknown[]).includes(kind)) return toKind(kind as Kind | KindGroup);
  throw invalid(`kind must be one of ${KIND_NAMES.join(", ")}.`);
}

function checkClaim(claim: Claim): Claim {
  if (typeof claim !== "object" || claim === null)
    throw invalid("claim must be an object with subject, relation and value.");
  return {
    subject: checkText(claim.subject, "claim.subject", INPUT_LIMITS.nameBytes),
    relation: checkText(claim.relation, "claim.relation", INPUT_LIMITS.nameBytes),
    value: checkText(claim.value, "claim.value", INPUT_LIMITS.textBytes),
    ...(claim.qualifier === undefined
      ? {}
      : { qualifier: checkText(claim.qualifier, "claim.qualifier", INPUT_LIMITS.nameBytes) }),
  };
}

/**
 * Records a change in the world: adds what is true now, and ends everything current that `what` describes
 * (words, as for `forget`). The history keeps both. If nothing current matches, it only adds.
 */
export async function supersede(
  ports: Ports,
  scope: Scope,
  what: string,
  memory: NewMemory,
): Promise<Receipt> {
  const phrase = checkText(what, "what to supersede");
  const put = prepareAddition(ports, scope, memory);
  const { result, revision } = await commitChange(ports, scope, async (state, at) => {
    const draft = createMemoryDraft(state, at);
    const { line, liftedTombstones: lifted } = put(state, at, draft);
    const added = draft.versions[0];
    const from = added?.validFrom ?? at;
    const lines = [...(await ports.forgetRequests.findMemories(state, phrase))]
      .filter(({ id, status }) => status === "current" && id !== line.id)
      .map((old): ReceiptLine => {
        draft.put({
          ...old,
          status: "superseded",
          action: "superseded",
          supersededBy: line.id,
          validTo: from,
          why: "a newer statement took its place",
        });
        return { id: old.id, action: "superseded", text: old.text, by: line.id };
      });
    return {
      draft: {
        cause: "update",
        memories: draft.versions,
        units: await createSearchUnits(ports, [], added ? [added] : []),
        liftTombstones: lifted,
      },
      result: { lines: [...lines, line], pending: state.pending },
    };
  });
  return { revision, messages: [], memories: result.lines, pending: result.pending };
}
