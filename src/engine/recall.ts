import { matches } from "../domain/filter.ts";
import type { Recall, RecallOptions } from "../domain/recall.ts";
import type { Scope } from "../domain/scope.ts";
import type { CallOptions } from "../ports/call.ts";
import { sharedVector } from "./beside/shared-vectors.ts";
import { type Block, unitId } from "./block/block.ts";
import { type Packed, packContext } from "./context.ts";
import type { Ports } from "./ports.ts";
import { limitsOf } from "./recall/bounds.ts";
import { explanationOf, whyItem } from "./recall/explain.ts";
import { itemsOf } from "./recall/items.ts";
import { nearest, underWay } from "./recall/nearest.ts";
import { newestFirst, type Placed } from "./recall/newest.ts";
import { rank } from "./recall/rank.ts";
import { receiptOf } from "./recall/receipt-of.ts";
import { type Scratch, withScratch } from "./recall/scratch.ts";
import { search, searchTexts } from "./recall/search.ts";
import { withSuccessors } from "./recall/successors.ts";
import { takeOptions, type Wanted } from "./recall/take-options.ts";
import { blockThen, knownThen } from "./recall/then.ts";
import { mayNameTime } from "./recall/time-arm.ts";

/** Characters. */
const LONGEST_QUERY = 4000;

type RecallPorts = Pick<
  Ports,
  | "record"
  | "states"
  | "embedder"
  | "questions"
  | "clock"
  | "ids"
  | "recalls"
  | "meter"
  | "decayDays"
  | "following"
> &
  Partial<Pick<Ports, "cache" | "secret">>;

/**
 * What a user's memory holds on a query: memories and passages, best first, and as text for a prompt. Nothing
 * relevant gives nothing. Reads alone; `invalid_input` for a query or an option that is wrong or unknown.
 */
export async function recall(
  ports: RecallPorts,
  scope: Scope,
  query: string,
  options: RecallOptions = {},
): Promise<Recall> {
  options.signal?.throwIfAborted();
  const from = performance.now();
  const now = ports.clock().toISOString();
  const wanted = takeOptions(scope, query, options, { now, decayDays: ports.decayDays });
  const text = excerpt(query);
  const call = { scope, ...(options.signal ? { signal: options.signal } : {}) };
  const vector = await sharedVector(ports, scope, text, call);
  const recalled = await withScratch((scratch) =>
    recallWith(ports, scope, { text, vector, wanted, isExplained: options.explain === true, call }, scratch),
  );
  options.signal?.throwIfAborted();
  ports.meter?.observe("memory_retrieval_duration_ms", performance.now() - from);
  return recalled;
}

interface Asking {
  readonly text: string;
  readonly vector: Float32Array | undefined;
  readonly wanted: Wanted;
  readonly isExplained: boolean;
  readonly call: CallOptions;
}

async function recallWith(
  ports: RecallPorts,
  scope: Scope,
  { text, vector, wanted, isExplained, call }: Asking,
  scratch: Scratch,
): Promise<Recall> {
  const { bounds } = wanted;
  const versions = bounds.knownAt === undefined ? undefined : await ports.record.versions(scope);
  const known = versions && knownThen(versions, bounds.knownAt ?? "");
  const passes = bounds.where && (await filterOf(ports, scope, bounds.where));
  const span = mayNameTime(text)
    ? ports.questions.read(text, { at: bounds.asOf ?? bounds.now, known: [] })
    : {};
  const { near, meanwhile } = await nearest(ports, {
    scope,
    vector,
    scratch,
    call,
    meanwhile(now, isNear) {
      const block = known ? blockThen(now, known) : now;
      return { block, texts: searchTexts(block, scratch, { query: text, span, isNear }, wanted.profile) };
    },
  });
  const { block, texts } = meanwhile;
  const found = search(block, scratch, texts, { near, floor: ports.embedder.floor });
  const limits = limitsOf(block, bounds, passes && ((slot) => passes(block, slot)));
  const best = rank({ block, found, wanted, limits });
  const { revision } = block;
  const ending = { block, limits, limit: wanted.limit, memories: known };
  const chosen = await withSuccessors(ports.record, scope, ending, best.chosen);
  const ranked = { ...best, chosen };
  const id = ports.ids();
  const reading = itemsOf(ports.record, scope, block, ranked.chosen, known);
  const noting = underWay().then(() => receiptOf({ id, revision, wanted }, ranked, found));
  const [got, receipt] = await Promise.all([reading, noting]);
  ports.recalls?.keep(scope, id, receipt);
  const placed = got.items.flatMap((item, i): Placed[] => {
    const one = got.chosen[i];
    return one ? [{ item, one }] : [];
  });
  const ordered = wanted.profile.isNewestFirst ? newestFirst(block, text, placed) : placed;
  const items = ordered.map(({ item }) => item);
  const places = ordered.map(({ one }) => one.place);
  const plain = { id, abstained: items.length === 0 };
  const packed = (): Packed => packContext(items, wanted.maxTokens, places);
  if (!isExplained) return withContext({ ...plain, items }, packed);
  const explained = ordered.map(({ item, one }) => ({ ...item, why: whyItem(text, found, one, item) }));
  return withContext({ ...plain, items: explained, explanation: explanationOf(ranked, wanted) }, packed);
}

/** The context of a recall, worked out when it is first read: whoever puts the items into a prompt by themself never does. */
function withContext(recall: Omit<Recall, "context" | "tokens">, pack: () => Packed): Recall {
  let packed: Packed | undefined;
  const once = (): Packed => {
    packed ??= pack();
    return packed;
  };
  return {
    ...recall,
    get context() {
      return once().text;
    },
    get tokens() {
      return once().tokens;
    },
  };
}

/** Whether a filter lets a unit through. Metadata stands in the record alone: this reads everything of the user. */
async function filterOf(
  ports: RecallPorts,
  scope: Scope,
  where: NonNullable<Wanted["bounds"]["where"]>,
): Promise<(block: Block, slot: number) => boolean> {
  const state = await ports.states.of(scope);
  const ofMessage = (id: string): boolean => matches(where, state.messages.get(id)?.metadata ?? {});
  return (block, slot) => {
    const id = unitId(block, slot);
    const memory = state.memories.get(id);
    if (!memory) return ofMessage(id.slice(0, id.lastIndexOf("#")));
    // Own metadata decides; a memory without any is judged by what it was read from.
    const said = memory.sources.map(({ message }) => message).filter((one) => state.messages.has(one));
    if (memory.metadata || said.length === 0) return matches(where, memory.metadata ?? {});
    return said.some(ofMessage);
  };
}

/** What is searched with: of a long query its beginning and its end, where the question mostly stands. */
function excerpt(query: string): string {
  if (query.length <= LONGEST_QUERY) return query;
  const half = LONGEST_QUERY / 2;
  return `${query.slice(0, half)}\n${query.slice(-half)}`.toWellFormed();
}
