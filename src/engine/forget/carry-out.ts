import type { Tombstone } from "../../domain/change-set.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasedCounts, ErasureReceipt, HeldBackup } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Span } from "../../domain/sentences.ts";
import type { Trace } from "../../domain/trace.ts";
import { isMemoryError } from "../../errors.ts";
import type { Erased } from "../beside/erase.ts";
import { remainsBeside } from "../beside/remains.ts";
import { change } from "../change.ts";
import { flatMapInSlices } from "../in-slices.ts";
import type { Ports } from "../ports.ts";
import { unitsOf } from "../units.ts";
import type { UserState } from "../user-state.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { type Erasing, erasing } from "./erasure.ts";
import { withReplies } from "./replies.ts";
import { firstReceipt, traceHash } from "./seal.ts";
import type { Selection } from "./select.ts";
import { verified } from "./verify.ts";

/** What an erasure is of, beside what is chosen. */
export interface Reason {
  /** The message that asked for it, and is read with that. */
  readonly asking?: string;
  /** Where the request stands in it, if it asks for more than its own words. */
  readonly request?: readonly Span[];
  /** Words that were named: they are looked for in metadata and history too. */
  readonly named?: readonly string[];
  /** The receipt whose erasure is done again, the tombstones that were put then, and what stood elsewhere. */
  readonly again?: {
    readonly receipt: string;
    readonly tombstones: readonly Tombstone[];
    readonly elsewhere: Elsewhere;
  };
}

/** What was committed; nothing to check where nothing was chosen. */
interface Done {
  readonly receipt: ErasureReceipt;
  readonly done?: {
    readonly texts: readonly string[];
    readonly trace: Trace;
    readonly erased: Erased;
    /** Search units that went, or go on with fewer words. */
    readonly units: readonly string[];
  };
}

/**
 * Erases what is chosen in one change-set, with tombstones against its return; then has every place read again, and
 * gives the sealed receipt. Where nothing is chosen, nothing is written, and the receipt says so: it is neither kept nor
 * signed.
 */
export async function carryOut(
  ports: Ports,
  scope: Scope,
  choose: (state: UserState) => Selection | Promise<Selection>,
  reason: Reason = {},
): Promise<ErasureReceipt> {
  const { result } = await change<Done>(ports, scope, async (state, at) => {
    const selection = await withReplies(state, await choose(state));
    const plan = await erasing(ports, state, selection, await ports.record.versions(scope), {
      ...(reason.named ? { named: reason.named } : {}),
      ...(reason.again ? { elsewhere: reason.again.elsewhere } : {}),
    });
    const isNothing = plan.memories.length + plan.messages.length + plan.rewrites.length === 0;
    if (isNothing && !reason.again) {
      return { result: { receipt: nothingErased(scope, state.revision, at) } };
    }
    // Before the rest, so that no crash in between leaves the name in the ledger of calls.
    if (isEverything(state, selection)) await ports.costs?.unname(scope);
    const tombstones = reason.again?.tombstones ?? plan.tombstones;
    const units = await unitsOf(
      ports,
      plan.left.filter(({ content, undone }) => content !== "" && !undone),
      [],
    );
    const id = ports.ids();
    const trace = await traceOf({ id, at, state, selection, plan, tombstones, reason });
    const requests = isRequestAlone(selection, reason) ? 1 : 0;
    const receipt = await unsealed(ports, state, { id, at, plan, trace, reason, requests });
    return {
      draft: {
        cause: "forget",
        tombstones,
        dropUnits: plan.dropUnits,
        units,
        ...(reason.asking === undefined ? {} : { digests: [{ id: reason.asking, digest: "done" as const }] }),
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
          erased: { messages: messagesOf(state, selection, plan), revision: receipt.revision },
          units: plan.dropUnits,
        },
      },
    };
  });
  const { receipt, done } = result;
  const dropped = ports.erasureWatch?.notify(scope);
  const sealed = done ? await settled(ports, scope, { receipt, done }, reason) : receipt;
  await dropped;
  if (!done) return receipt;
  if (!sealed.complete) ports.owing?.look();
  ports.meter?.count("memory_erasures_total", { complete: sealed.complete ? "yes" : "no" });
  return sealed;
}

/**
 * Writes an erasure into the ledger and has every place read again. Where the disk or a server fails meanwhile, it is erased all the
 * same: the receipt says that it is not complete, and the next start ends it.
 */
async function settled(
  ports: Ports,
  scope: Scope,
  { receipt, done }: Required<Done>,
  reason: Reason,
): Promise<ErasureReceipt> {
  try {
    // On the disk before anybody is told that it is gone. What is done again stands in the ledger already.
    if (!reason.again) await ports.ledger?.append([done.trace]);
    return await verified(ports, scope, receipt, done);
  } catch (error) {
    if (isMemoryError(error)) return receipt;
    throw error;
  }
}

/** The messages that lose words; everything, where nothing of the user stays. */
function messagesOf(state: UserState, selection: Selection, { messages }: Erasing): Erased["messages"] {
  return isEverything(state, selection) ? "everything" : messages.map(({ id }) => id);
}

/** Whether nothing of the user stays. */
function isEverything({ memories, messages }: UserState, chosen: Selection): boolean {
  const isWhole = ({ id, content }: Message): boolean =>
    content === "" ||
    chosen.cuts.get(id)?.some(({ start, end }) => start === 0 && end >= content.length) === true;
  return (
    [...memories.values()].every((one) => chosen.memories.has(one)) && [...messages.values()].every(isWhole)
  );
}

async function traceOf(of: {
  id: string;
  at: string;
  state: UserState;
  selection: Selection;
  plan: Erasing;
  tombstones: readonly Tombstone[];
  reason: Reason;
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
    ...(plan.elsewhere.bare.length > 0 ? { bare: plan.elsewhere.bare } : {}),
    ...(plan.elsewhere.versions.length > 0 ? { versions: plan.elsewhere.versions } : {}),
    tombstones: of.tombstones.map(({ hash, of: what, at }) => ({ hash, of: what, at })),
    ...(of.reason.again ? { replays: of.reason.again.receipt } : {}),
  };
}

/** Whether the message that asks lost the request and no other word. */
function isRequestAlone({ cuts }: Selection, { asking, request }: Reason): boolean {
  const own = asking === undefined ? undefined : cuts.get(asking);
  if (!own || !request) return false;
  return own.every((cut) => request.some(({ start, end }) => start <= cut.start && cut.end <= end));
}

async function unsealed(
  ports: Ports,
  { scope, revision }: UserState,
  made: { id: string; at: string; plan: Erasing; trace: Trace; reason: Reason; requests: number },
): Promise<ErasureReceipt> {
  const { id, at, plan, trace, reason, requests } = made;
  const { record } = ports;
  const previous = (await record.erasures(scope)).at(-1)?.hash ?? "";
  const backups = await holding(ports, at, plan.since);
  const { links, blocks, answers } = await record.touched(scope, plan.memories);
  const units = plan.dropUnits.length;
  return firstReceipt(ports.secret, {
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
    ...(await remaining(ports, at)),
    trace: await traceHash(trace),
    ...(reason.again ? { replays: reason.again.receipt } : {}),
    previous,
  });
}

/** The copies that may hold it: made since it was stored, and kept for longer than until now. */
async function holding(ports: Pick<Ports, "record">, at: string, since: string): Promise<HeldBackup[]> {
  const noted = await ports.record.backups();
  return noted
    .filter((one) => one.at >= since && (one.until === undefined || one.until > at))
    .map(({ name, at: made, until }) => ({ name, at: made, ...(until === undefined ? {} : { until }) }));
}

/** What neither the record nor anything beside it can reach at once. */
async function remaining(ports: Ports, at: string): Promise<Pick<ErasureReceipt, "remains">> {
  const { record, followers = [] } = ports;
  const places = [
    ...((await record.remains?.()) ?? []),
    ...followers.flatMap(({ remains = [] }) => remains),
    ...(await remainsBeside(ports)),
  ];
  // One server may be several of them.
  const all = [...new Map(places.map((one) => [one.place, one])).values()];
  if (all.length === 0) return {};
  return {
    remains: all.map(({ place, forMs }) => ({
      place,
      ...(forMs === undefined ? {} : { until: new Date(Date.parse(at) + forMs).toISOString() }),
    })),
  };
}

const NOTHING: ErasedCounts = {
  memories: 0,
  versions: 0,
  messages: 0,
  emptied: 0,
  passages: 0,
  vectors: 0,
  tombstones: 0,
};

/** What an erasure that found nothing gives: not kept, and so without an id, a hash and a signature to look it up by. */
function nothingErased({ project, user }: Scope, revision: number, at: string): ErasureReceipt {
  const unsigned = { id: "", hash: "", signature: "", previous: "" };
  return {
    ...unsigned,
    version: 2,
    at,
    project,
    user,
    revision,
    erased: NOTHING,
    ids: [],
    verified: [],
    complete: true,
  };
}
