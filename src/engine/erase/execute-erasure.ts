import type { Tombstone } from "../../domain/change-set.ts";
import type { ErasureSelection } from "../../domain/erasure-selection.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasedCounts, ErasureReceipt, HeldBackup, Trace } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { TextSpan } from "../../domain/text/split-text.ts";
import { flatMapInSlices } from "../../domain/time-slicing.ts";
import { isMemoryError } from "../../errors.ts";
import { commitChange } from "../change-set.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import type { ErasedContent } from "../secondary-stores/erase-from-stores.ts";
import { findStoreRemainders } from "../secondary-stores/erase-from-stores.ts";
import { createUnverifiedReceipt, hashTrace } from "../sign-receipt.ts";
import type { UserState } from "../user-state/user-state.ts";
import type { ResidualMatches } from "./prepare-erasure.ts";
import { type PreparedErasure, prepareErasure } from "./prepare-erasure.ts";
import { addReplies } from "./selection.ts";
import { verifyErasure } from "./verify-erasure.ts";

/** The context of an erasure, in addition to the selection. */
export interface ErasureContext {
  /** The message with the request. */
  readonly requestMessageId?: string;
  /** The spans of the request in that message, if it asks for more than its own words. */
  readonly requestSpans?: readonly TextSpan[];
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
  const { result } = await commitChange<CommittedErasure>(ports, scope, async (state, at) => {
    const selection = await addReplies(state, await choose(state));
    const plan = await prepareErasure(ports, state, selection, await ports.store.versions(scope), {
      ...(reason.namedWords ? { named: reason.namedWords } : {}),
      ...(reason.replayOf ? { elsewhere: reason.replayOf.elsewhere } : {}),
    });
    const isNothing = plan.memories.length + plan.messages.length + plan.rewrites.length === 0;
    if (isNothing && !reason.replayOf) {
      return { result: { receipt: createEmptyReceipt(scope, state.revision, at) } };
    }
    // First, so that no crash in between leaves the name in the ledger of calls.
    if (isFullErasure(state, selection)) await ports.costs?.anonymizeUser(scope);
    const tombstones = reason.replayOf?.tombstones ?? plan.tombstones;
    const units = await createSearchUnits(
      ports,
      plan.remainingMessages.filter(({ content, undone }) => content !== "" && !undone),
      [],
    );
    const id = ports.ids();
    const trace = await createTrace({ id, at, state, selection, plan, tombstones, reason });
    const requests = isRequestAlone(selection, reason) ? 1 : 0;
    const receipt = await createReceipt(ports, state, { id, at, plan, trace, reason, requests });
    return {
      draft: {
        cause: "forget",
        tombstones,
        dropUnits: plan.dropUnits,
        units,
        ...(reason.requestMessageId === undefined
          ? {}
          : { digests: [{ id: reason.requestMessageId, digest: "done" as const }] }),
        erase: {
          messages: plan.messages,
          memories: plan.memories,
          rewrites: plan.rewrites,
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
        },
      },
    };
  });
  const { receipt, done } = result;
  const dropped = ports.erasureWatch?.notify(scope);
  const sealed = done ? await logAndVerify(ports, scope, { receipt, done }, reason) : receipt;
  await dropped;
  if (!done) return receipt;
  if (!sealed.complete) ports.pendingErasures?.scheduleRetry();
  ports.meter?.count("memory_erasures_total", { complete: sealed.complete ? "yes" : "no" });
  return sealed;
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
      return [{ id, length, cuts: cuts.map(({ start, end, put }) => ({ start, end, put })) }];
    }),
    ...(plan.residualMatches.bare.length > 0 ? { bare: plan.residualMatches.bare } : {}),
    ...(plan.residualMatches.versions.length > 0 ? { versions: plan.residualMatches.versions } : {}),
    tombstones: of.tombstones.map(({ hash, of: what, at }) => ({ hash, of: what, at })),
    ...(of.reason.replayOf ? { replays: of.reason.replayOf.receipt } : {}),
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
  },
): Promise<ErasureReceipt> {
  const { id, at, plan, trace, reason, requests } = made;
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
