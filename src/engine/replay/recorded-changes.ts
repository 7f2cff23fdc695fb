import type { ChangeSetDraft, LogEntry } from "../../domain/change-set.ts";
import { type Memory, type SourceSpan, UNDONE } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { toCanonicalJson } from "../../domain/text/canonical-json.ts";
import { commitChange, createMemoryDraft, type MemoryDraft } from "../change-set.ts";
import { selectReworded } from "../ingest/remember.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import type { UserState } from "../user-state/user-state.ts";
import { toComparisonKey } from "./compare-facts.ts";
import type { ReplayStep } from "./replay-steps.ts";

type TakeStep = ReplayStep & { readonly type: "take" };

/** Takes changes from a log into a replay. */
export interface RecordedChanges {
  /** Notes the memories that resulted from messages, by id. */
  note(ids: readonly string[]): Promise<void>;
  /** Pairs the memories of a log entry with those of the replay, and takes its versions if they were not read again. */
  take(step: TakeStep): Promise<void>;
  /** Ids of the memories of the replay that have a state from the log, other than by an undo. */
  readonly takenIds: ReadonlySet<string>;
}

interface RecordedInput {
  /** All stored versions of the user's memories. */
  readonly versions: readonly Memory[];
  /** Ids of messages that no extractor reads again. */
  readonly unreadable: ReadonlySet<string>;
}

/** Takes changes into a user's replay in `own`, whose ids differ from the stored ones. */
export function createRecordedChanges(own: Ports, scope: Scope, input: RecordedInput): RecordedChanges {
  const stored = groupVersions(input.versions);
  const pairing = createPairing();
  const takenIds = new Set<string>();
  const versionAt = (id: string, version: number): Memory | undefined => stored.get(id)?.[version - 1];

  const comesFromUnreadable = ({ memories }: LogEntry): boolean =>
    memories.some(({ id, version }) => {
      const memory = versionAt(id, version);
      if (!memory) return false;
      const before = new Set(versionAt(id, version - 1)?.sources.map(toSourceKey));
      return memory.sources.some((one) => input.unreadable.has(one.message) && !before.has(toSourceKey(one)));
    });

  return {
    takenIds,
    async note(ids) {
      const { memories } = await own.states.of(scope);
      for (const id of ids) {
        const memory = memories.get(id);
        if (memory) pairing.add(memory);
      }
    },
    async take(step) {
      const { entry, mode, undone } = step;
      for (const { id, version } of entry.memories) {
        const memory = version === 1 ? versionAt(id, 1) : undefined;
        if (memory) pairing.pair(memory);
      }
      const isTaken = mode === "take" || (entry.messages.length === 0 && comesFromUnreadable(entry));
      if (!isTaken) return;
      await commitChange(own, scope, async (state, at) => {
        const draft = createMemoryDraft(state, at);
        const taken = entry.memories.flatMap(({ id, version }) => {
          const memory = versionAt(id, version);
          const before = versionAt(id, version - 1);
          return (memory && takeVersion(draft, pairing, { memory, before, entry })) ?? [];
        });
        if (entry.cause !== "undo") for (const id of taken) takenIds.add(id);
        if (undone) revertUnpaired(draft, pairing, undone);
        const changes = await toDraft(own, state, { step, versions: draft.versions });
        return { result: undefined, ...(changes ? { draft: changes } : {}) };
      });
    },
  };
}

/** The change-set of a step; undefined if it changes nothing. */
async function toDraft(
  own: Ports,
  state: UserState,
  { step: { entry, undone }, versions }: { readonly step: TakeStep; readonly versions: readonly Memory[] },
): Promise<ChangeSetDraft | undefined> {
  const digests = undone ? toUndoneDigests(state, undone) : [];
  if (versions.length + digests.length === 0) return undefined;
  const units = await createSearchUnits(own, [], selectReworded(state, versions));
  return { cause: entry.cause, memories: versions, digests, units };
}

function groupVersions(versions: readonly Memory[]): Map<string, Memory[]> {
  const stored = new Map<string, Memory[]>();
  for (const memory of versions) {
    const others = stored.get(memory.id) ?? [];
    stored.set(memory.id, others);
    others[memory.version - 1] = memory;
  }
  return stored;
}

/** Which memory of the replay is which stored one. */
interface MemoryPairing {
  /** Adds a memory of the replay that was read in a message. */
  add(memory: Memory): void;
  /** Pairs a stored memory, by its first version, with one of the same message that says the same or has the same words. */
  pair(stored: Memory): void;
  /** Notes that a stored memory has its own id in the replay. */
  keepId(id: string): void;
  /** The id in the replay. Undefined if there is no such memory. */
  find(id: string): string | undefined;
  /** Ids of memories of the replay that were read in a message and are not stored. */
  listUnpaired(message: string): readonly string[];
}

function createPairing(): MemoryPairing {
  const ids = new Map<string, string>();
  const free = new Map<string, Memory[]>();
  return {
    add(memory) {
      const message = memory.sources[0]?.message;
      if (message !== undefined) free.set(message, [...(free.get(message) ?? []), memory]);
    },
    pair(stored) {
      const [source] = stored.sources;
      if (!source || ids.has(stored.id)) return;
      const others = free.get(source.message) ?? [];
      const key = toComparisonKey(stored);
      const isSame = (one: Memory): boolean => toComparisonKey(one) === key;
      const isThere = ({ sources }: Memory): boolean => sources[0]?.start === source.start;
      const found =
        others.find((one) => isSame(one) && isThere(one)) ?? others.find(isSame) ?? others.find(isThere);
      if (!found) return;
      ids.set(stored.id, found.id);
      free.set(
        source.message,
        others.filter((one) => one !== found),
      );
    },
    keepId(id) {
      ids.set(id, id);
    },
    find: (id) => ids.get(id),
    listUnpaired: (message) => (free.get(message) ?? []).map(({ id }) => id),
  };
}

interface TakenVersion {
  readonly memory: Memory;
  readonly before: Memory | undefined;
  readonly entry: LogEntry;
}

/**
 * Makes the change between two stored versions in the replay. Gives the id of the memory in the replay; undefined if the replay
 * has no such memory. A memory that was not read again comes back only if it is new or a user gave it another text.
 */
function takeVersion(
  draft: MemoryDraft,
  pairing: MemoryPairing,
  { memory, before, entry }: TakenVersion,
): string | undefined {
  const id = pairing.find(memory.id);
  const now = id === undefined ? undefined : draft.get(id);
  if (now) {
    // This version reads in the message what a model read before.
    if (memory.version === 1) return undefined;
    draft.put({ ...now, ...toChanges(pairing, now, before, memory) });
    return now.id;
  }
  const isWritten = entry.cause === "update" || entry.cause === "import" || entry.cause === "add";
  if (memory.version > 1 && !(isWritten && before?.text !== memory.text)) return undefined;
  pairing.keepId(memory.id);
  const { review: _review, supersededBy: by, ...rest } = memory;
  draft.put({ ...rest, ...(by === undefined ? {} : { supersededBy: pairing.find(by) ?? by }) });
  return memory.id;
}

/** Fields that a version has of its own, or that are changed by their difference. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "version",
  "revision",
  "storedAt",
  "review",
  "sources",
  "evidence",
  "supersededBy",
]);

/** What a stored version changed, as fields of the memory of the replay. A field that it dropped is undefined. */
function toChanges(
  pairing: MemoryPairing,
  now: Memory,
  before: Memory | undefined,
  after: Memory,
): Partial<Memory> {
  const [old, next]: { readonly [field: string]: unknown }[] = [{ ...before }, { ...after }];
  const changes: { [field: string]: unknown } = { action: after.action, why: after.why };
  for (const field of new Set([...Object.keys(old ?? {}), ...Object.keys(next ?? {})])) {
    if (OWN_FIELDS.has(field)) continue;
    if (toCanonicalJson([old?.[field]]) !== toCanonicalJson([next?.[field]])) changes[field] = next?.[field];
  }
  const by = after.supersededBy;
  if (by !== before?.supersededBy) changes.supersededBy = by === undefined ? by : (pairing.find(by) ?? by);
  return {
    ...changes,
    evidence: Math.max(1, now.evidence + after.evidence - (before?.evidence ?? after.evidence)),
    sources: changeSources(now.sources, before?.sources ?? [], after.sources),
  };
}

function changeSources(
  now: readonly SourceSpan[],
  before: readonly SourceSpan[],
  after: readonly SourceSpan[],
): readonly SourceSpan[] {
  const [old, next] = [new Set(before.map(toSourceKey)), new Set(after.map(toSourceKey))];
  const isDropped = (one: SourceSpan): boolean => old.has(toSourceKey(one)) && !next.has(toSourceKey(one));
  const rest = now.filter((one) => !isDropped(one));
  const known = new Set(rest.map(toSourceKey));
  return [...rest, ...after.filter((one) => !old.has(toSourceKey(one)) && !known.has(toSourceKey(one)))];
}

const toSourceKey = ({ message, start, end }: SourceSpan): string => JSON.stringify([message, start, end]);

type UndoneMessages = NonNullable<TakeStep["undone"]>;

/** Retracts what was read only in the replay, in messages that were taken back; brings it back with them. */
function revertUnpaired(
  draft: MemoryDraft,
  pairing: MemoryPairing,
  { messages, undone }: UndoneMessages,
): void {
  for (const id of messages.flatMap((message) => pairing.listUnpaired(message))) {
    const memory = draft.get(id);
    if (!memory) continue;
    draft.put(
      undone
        ? { ...memory, status: "retracted", action: "retracted", why: UNDONE }
        : { ...memory, status: "current", action: "restored", why: UNDONE },
    );
  }
}

function toUndoneDigests(state: UserState, { messages, undone }: UndoneMessages) {
  return messages
    .flatMap((id) => state.messages.get(id) ?? [])
    .map(({ id, digest }) => ({ id, digest, undone }));
}
