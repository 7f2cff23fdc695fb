import type { ChangeSet, Tombstone } from "../../domain/change-set.ts";
import { type ErasureSelection, NO_SELECTION } from "../../domain/erasure-selection.ts";
import type { Message } from "../../domain/message.ts";
import type { AskedContent, ErasedCounts, ErasureReceipt, HeldBackup, Trace } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { TextSpan } from "../../domain/text/split-text.ts";
import { flatMapInSlices } from "../../domain/time-slicing.ts";
import { isMemoryError } from "../../errors.ts";
import type { DescribedSelection } from "../../ports/language/forget-request-reader.ts";
import { addDescriptions, findUnreferenced, sampleAttachments } from "../attachments/erase-attachments.ts";
import { commitChange } from "../change-set.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import type { ErasedContent } from "../secondary-stores/erase-from-stores.ts";
import { findStoreRemainders } from "../secondary-stores/erase-from-stores.ts";
import { eraseFromGrants, eraseUserShares } from "../sharing/erase-shares.ts";
import { createUnverifiedReceipt, hashTrace } from "../sign-receipt.ts";
import type { UserState } from "../user-state/user-state.ts";
import { toAskedContent } from "./asked-content.ts";
import {
  type ErasureKnowledge,
  type PreparedErasure,
  prepareErasure,
  type ResidualMatches,
} from "./prepare-erasure.ts";
import { addReplies } from "./selection.ts";
import { verifyErasure } from "./verify-erasure.ts";

/** The context of an erasure, in addition to the selection. */
export interface ErasureContext {
  /** The message with the request. */
  readonly requestMessageId?: string;
  /** The spans of the request in that message, if it asks for more than its own words. */
  readonly requestSpans?: readonly TextSpan[];
  /** Whether everything about the user is to go, also their part in all sharing. */
  readonly isEverything?: boolean;
  /** Whether ids, a session, a time or a filter chose the content: other content that says the same stays. */
  readonly isExact?: boolean;
  /** Until the erasure has begun: once it fires, an erasure that waits for its turn is not executed. */
  readonly signal?: AbortSignal | undefined;
  /** Named words: metadata and history are searched for them too. */
  readonly namedWords?: readonly string[];
  /** The receipt of the erasure to repeat, its tombstones, and its other matches. */
  readonly replayOf?: {
    readonly receipt: string;
    readonly tombstones: readonly Tombstone[];
    readonly elsewhere: ResidualMatches;
  };
}

/** The committed erasure; nothing to verify if nothing was selected. */
interface CommittedErasure {
  readonly receipt: ErasureReceipt;
  readonly done?: {
    readonly texts: readonly string[];
    readonly trace: Trace;
    readonly erased: ErasedContent;
    /** Search units that were deleted, or that remain with fewer words. */
    readonly units: readonly string[];
    /** Digests of attachments that were deleted, and some bytes of them. */
    readonly attachments: readonly string[];
    readonly samples: readonly Uint8Array[];
  };
}

/**
 * Erases the selection in one change-set, with tombstones against its return. Then has every place scanned
 * again and gives the sealed receipt. If nothing is selected, nothing is written; the receipt says so and is
 * neither stored nor signed.
 */
export async function executeErasure(
  ports: Ports,
  scope: Scope,
  choose: (state: UserState) => ErasureSelection | Promise<ErasureSelection>,
  reason: ErasureContext = {},
): Promise<ErasureReceipt> {
  const chooseSure = async (state: UserState) => ({ sure: await choose(state), unsure: NO_SELECTION });
  return (await executeRequest(ports, scope, chooseSure, reason)).receipt;
}

/** Executes an erasure as `executeErasure` does. Gives what is not sure with the receipt, and notes it in the trace. */
export async function executeRequest(
  ports: Ports,
  scope: Scope,
  choose: (state: UserState) => Promise<DescribedSelection>,
  reason: ErasureContext = {},
): Promise<{ readonly receipt: ErasureReceipt; readonly asked?: AskedContent }> {
  let grants = 0;
  const beforeFullErasure = createFullErasurePreparation(ports, scope);
  const chooseInTime = untilBegun(choose, reason.signal);
  const { result } = await commitChange<CommittedErasure>(ports, scope, async (state, at) => {
    const { sure, unsure } = await chooseInTime(state);
    const selection = await addDescriptions(state, await addReplies(state, sure));
    const asked = toAskedContent(state, reason.requestMessageId, selection, unsure);
    const versions = await ports.store.versions(scope);
    const plan = await prepareErasure(ports, state, selection, versions, toKnowledge(reason));
    grants += await eraseSharing(ports, state, { selection, plan, reason });
    const isNothing = plan.memories.length + plan.messages.length + plan.rewrites.length === 0;
    if (isNothing && !reason.replayOf) {
      return { result: { receipt: createEmptyReceipt(scope, state.revision, at) } };
    }
    await beforeFullErasure(state, selection);
    const tombstones = reason.replayOf?.tombstones ?? plan.tombstones;
    const units = await createSearchUnits(
      ports,
      plan.remainingMessages.filter(({ content, undone }) => content !== "" && !undone),
      [],
    );
    const id = ports.ids();
    const trace = await createTrace({ id, at, state, selection, plan, tombstones, reason, asked });
    const requests = isRequestAlone(selection, reason) ? 1 : 0;
    const attachments = await findUnreferenced(ports, state, plan.remainingMessages);
    const samples = await sampleAttachments(ports, scope, attachments);
    const receipt = await createReceipt(ports, state, {
      ...{ id, at, plan, trace, reason, requests, grants },
      attachments: attachments.length,
    });
    return {
      draft: {
        cause: "forget",
        tombstones,
        dropUnits: plan.dropUnits,
        units,
        ...toRequestDigests(reason),
        erase: {
          messages: plan.messages,
          memories: plan.memories,
          rewrites: plan.rewrites,
          ...(attachments.length > 0 ? { attachments } : {}),
          receipt,
          trace,
        },
      },
      result: {
        receipt,
        done: {
          texts: plan.texts,
          trace,
          erased: { messages: listChangedMessages(state, selection, plan), revision: receipt.revision },
          units: plan.dropUnits,
          attachments,
          samples,
        },
      },
    };
  });
  const { receipt, done } = result;
  const dropped = ports.erasureWatch?.notify(scope);
  const sealed = done ? await logAndVerify(ports, scope, { receipt, done }, reason) : receipt;
  await dropped;
  if (!done) return { receipt: await withOpenErasure(ports, scope, receipt) };
  if (!sealed.complete) ports.pendingErasures?.scheduleRetry();
  ports.meter?.count("memory_erasures_total", { complete: sealed.complete ? "yes" : "no" });
  return { receipt: sealed, ...(done.trace.asked ? { asked: done.trace.asked } : {}) };
}

function toKnowledge({ namedWords, replayOf, isExact }: ErasureContext): ErasureKnowledge {
  return {
    ...(namedWords ? { named: namedWords } : {}),
    ...(replayOf ? { elsewhere: replayOf.elsewhere } : {}),
    ...(isExact ? { isExact: true } : {}),
  };
}

/** What an erasure that leaves nothing of the user does before its commit. Once it is done, another attempt adds no key. */
function createFullErasurePreparation(
  { costs, store }: Ports,
  scope: Scope,
): (state: UserState, selection: ErasureSelection) => Promise<void> {
  let hasNewKey = false;
  return async (state, selection) => {
    if (!isFullErasure(state, selection)) return;
    // First, so that no crash in between leaves the name in the ledger of calls.
    await costs?.anonymizeUser(scope);
    // The little that stays is encrypted with a new key, so that the earlier ones can be destroyed.
    if (!hasNewKey) await store.userKeys?.renew(scope);
    hasNewKey = true;
  };
}

/** Throws if the signal fired before the first call. Once begun, an erasure is finished, also if it must be computed again. */
function untilBegun<Chosen>(
  choose: (state: UserState) => Promise<Chosen>,
  signal: AbortSignal | undefined,
): (state: UserState) => Promise<Chosen> {
  let hasBegun = false;
  return async (state) => {
    if (!hasBegun) signal?.throwIfAborted();
    hasBegun = true;
    return choose(state);
  };
}

/** The message with the request is read. */
function toRequestDigests({ requestMessageId: id }: ErasureContext): Pick<ChangeSet, "digests"> {
  return id === undefined ? {} : { digests: [{ id, digest: "done" }] };
}

/**
 * Removes what concerns the erased content from grants, first of all: no reader gets what is about to go. A user without memories
 * may have given and received grants, and words may be named that only a grant has. Gives the number of removed grants.
 */
async function eraseSharing(
  ports: Ports,
  state: UserState,
  {
    selection,
    plan,
    reason: { namedWords = [], isEverything = false, replayOf },
  }: {
    readonly selection: ErasureSelection;
    readonly plan: PreparedErasure;
    readonly reason: ErasureContext;
  },
): Promise<number> {
  const { scope } = state;
  const texts = [...plan.texts, ...namedWords];
  const removed = await eraseFromGrants(ports, scope, { texts, memories: plan.memories });
  // A trace does not tell, so an erasure that left nothing is repeated as one of everything.
  const isUserErased = isEverything || (replayOf !== undefined && isFullErasure(state, selection));
  return isUserErased ? removed + (await eraseUserShares(ports, scope)) : removed;
}

/**
 * Writes an erasure into the ledger and has every place scanned again. If the disk or a server fails
 * meanwhile, the content is erased all the same. The receipt says that it is incomplete, and the next start
 * completes it.
 */
async function logAndVerify(
  ports: Ports,
  scope: Scope,
  { receipt, done }: Required<CommittedErasure>,
  reason: ErasureContext,
): Promise<ErasureReceipt> {
  try {
    // On disk before the erasure is reported. A repeated erasure is in the ledger already.
    if (!reason.replayOf) await ports.ledger?.append([done.trace]);
    // What no longer exists has no recalls to explain.
    if (reason.isEverything) await ports.recalls?.clear(scope);
    return await verifyErasure(ports, scope, receipt, done);
  } catch (error) {
    if (isMemoryError(error)) return receipt;
    throw error;
  }
}

/** The redacted messages; everything, if nothing of the user remains. */
function listChangedMessages(
  state: UserState,
  selection: ErasureSelection,
  { messages }: PreparedErasure,
): ErasedContent["messages"] {
  return isFullErasure(state, selection) ? "everything" : messages.map(({ id }) => id);
}

/** Whether nothing of the user remains. */
function isFullErasure({ memories, messages }: UserState, chosen: ErasureSelection): boolean {
  const isWhole = ({ id, content }: Message): boolean =>
    content === "" ||
    chosen.cuts.get(id)?.some(({ start, end }) => start === 0 && end >= content.length) === true;
  return (
    [...memories.values()].every((one) => chosen.memories.has(one)) && [...messages.values()].every(isWhole)
  );
}

async function createTrace(of: {
  id: string;
  at: string;
  state: UserState;
  selection: ErasureSelection;
  plan: PreparedErasure;
  tombstones: readonly Tombstone[];
  reason: ErasureContext;
  asked: AskedContent | undefined;
}): Promise<Trace> {
  const { messages, scope, revision } = of.state;
  const { plan } = of;
  return {
    receipt: of.id,
    at: of.at,
    project: scope.project,
    user: scope.user,
    revision: revision + 1,
    memories: plan.memories,
    messages: await flatMapInSlices(of.selection.cuts, ([id, cuts]) => {
      const length = messages.get(id)?.content.length;
      if (length === undefined) return [];
      const attachments = [...(of.selection.attachments?.get(id) ?? [])];
      return [
        {
          id,
          length,
          cuts: cuts.map(({ start, end, put }) => ({ start, end, put })),
          ...(attachments.length > 0 ? { attachments } : {}),
        },
      ];
    }),
    ...(plan.residualMatches.bare.length > 0 ? { bare: plan.residualMatches.bare } : {}),
    ...(plan.residualMatches.versions.length > 0 ? { versions: plan.residualMatches.versions } : {}),
    tombstones: of.tombstones.map(({ hash, of: what, at }) => ({ hash, of: what, at })),
    ...(of.reason.replayOf ? { replays: of.reason.replayOf.receipt } : {}),
    ...(of.asked ? { asked: of.asked } : {}),
  };
}

/** Whether the requesting message lost only the request. */
function isRequestAlone(
  { cuts }: ErasureSelection,
  { requestMessageId: asking, requestSpans: request }: ErasureContext,
): boolean {
  const requestCuts = asking === undefined ? undefined : cuts.get(asking);
  if (!requestCuts || !request) return false;
  return requestCuts.every((cut) => request.some(({ start, end }) => start <= cut.start && cut.end <= end));
}

async function createReceipt(
  ports: Ports,
  { scope, revision }: UserState,
  made: {
    id: string;
    at: string;
    plan: PreparedErasure;
    trace: Trace;
    reason: ErasureContext;
    requests: number;
    grants: number;
    attachments: number;
  },
): Promise<ErasureReceipt> {
  const { id, at, plan, trace, reason, requests, grants, attachments } = made;
  const { store } = ports;
  const previous = (await store.erasures.list(scope)).at(-1)?.hash ?? "";
  const backups = await findAffectedBackups(ports, at, plan.oldestStoredAt);
  const { links, blocks, answers } = await store.erasures.countDependents(scope, plan.memories);
  const units = plan.dropUnits.length;
  return createUnverifiedReceipt(ports.secret, {
    id,
    at,
    project: scope.project,
    user: scope.user,
    revision: revision + 1,
    erased: {
      memories: plan.memories.length,
      versions: plan.versions,
      messages: plan.messages.length,
      emptied: plan.emptied,
      ...(requests > 0 ? { requests } : {}),
      passages: plan.passages,
      vectors: units,
      tombstones: trace.tombstones.length,
      terms: units,
      rewritten: plan.rewrites.length,
      links,
      blocks,
      answers,
      ...(grants > 0 ? { grants } : {}),
      ...(attachments > 0 ? { attachments } : {}),
    },
    ids: plan.memories,
    backups,
    ...(await findRemainders(ports, at)),
    trace: await hashTrace(trace),
    ...(reason.replayOf ? { replays: reason.replayOf.receipt } : {}),
    previous,
  });
}

/** The backups that may contain the content: made after it was stored, and still kept. */
async function findAffectedBackups(
  ports: Pick<Ports, "store">,
  at: string,
  since: string,
): Promise<HeldBackup[]> {
  const noted = await ports.store.backups.list();
  return noted
    .filter((one) => one.at >= since && (one.until === undefined || one.until > at))
    .map(({ name, at: madeAt, until }) => ({ name, at: madeAt, ...(until === undefined ? {} : { until }) }));
}

/** What neither the store nor the secondary stores can delete at once. */
async function findRemainders(ports: Ports, at: string): Promise<Pick<ErasureReceipt, "remains">> {
  const { store, followers = [] } = ports;
  const places = [
    ...((await store.maintenance?.remains()) ?? []),
    ...followers.flatMap(({ remains = [] }) => remains),
    ...(await findStoreRemainders(ports)),
  ];
  // Several places may be on one server.
  const all = [...new Map(places.map((one) => [one.place, one])).values()];
  if (all.length === 0) return {};
  return {
    remains: all.map(({ place, forMs }) => ({
      place,
      ...(forMs === undefined ? {} : { until: new Date(Date.parse(at) + forMs).toISOString() }),
    })),
  };
}

const NO_COUNTS: ErasedCounts = {
  memories: 0,
  versions: 0,
  messages: 0,
  emptied: 0,
  passages: 0,
  vectors: 0,
  tombstones: 0,
};

/** The receipt of an erasure that found nothing: not stored, and so without an id, hash and signature. */
/** An erasure that found nothing is not complete while words of an earlier one of the user are still in some place. */
async function withOpenErasure(
  { store, pendingErasures }: Pick<Ports, "store" | "pendingErasures">,
  scope: Scope,
  empty: ErasureReceipt,
): Promise<ErasureReceipt> {
  const receipts = await store.erasures.list(scope);
  const open = receipts.find(
    ({ complete, verified }) => !complete && verified.some(({ found }) => found > 0),
  );
  if (!open) return empty;
  pendingErasures?.scheduleRetry();
  return { ...empty, verified: open.verified, complete: false };
}

function createEmptyReceipt({ project, user }: Scope, revision: number, at: string): ErasureReceipt {
  const unsigned = { id: "", hash: "", signature: "", previous: "" };
  return {
    ...unsigned,
    version: 2,
    at,
    project,
    user,
    revision,
    erased: NO_COUNTS,
    ids: [],
    verified: [],
    complete: true,
  };
}
