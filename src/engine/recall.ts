import { matches } from "../domain/filter.ts";
import type { Memory } from "../domain/memory.ts";
import type { Recall, RecallOptions } from "../domain/recall.ts";
import type { RecallReceipt } from "../domain/recall-receipt.ts";
import type { Scope } from "../domain/scope.ts";
import type { CallOptions } from "../ports/call.ts";
import type { HandedBack, HandedRecall } from "../ports/recaller.ts";
import { sharedVector } from "./beside/shared-vectors.ts";
import { type Block, unitId } from "./block/block.ts";
import { type Packed, packContext } from "./context.ts";
import { eachInSlices } from "./in-slices.ts";
import type { Ports } from "./ports.ts";
import { limitsOf } from "./recall/bounds.ts";
import { explanationOf, whyItem } from "./recall/explain.ts";
import { type Bodies, itemsOf, readAhead } from "./recall/items.ts";
import { nearest, underWay } from "./recall/nearest.ts";
import { newestFirst, type Placed } from "./recall/newest.ts";
import { type Ranked, type Ranking, rank } from "./recall/rank.ts";
import { receiptOf } from "./recall/receipt-of.ts";
import { type Scratch, withScratch } from "./recall/scratch.ts";
import { type Found, search, searchTexts, type Texts } from "./recall/search.ts";
import { withSuccessors } from "./recall/successors.ts";
import { takeOptions, type Wanted } from "./recall/take-options.ts";
import { blockThen, knownThen } from "./recall/then.ts";
import { mayNameTime } from "./recall/time-arm.ts";
import type { Nearness } from "./recall/vector-arm.ts";

/** Characters. */
const LONGEST_QUERY = 4000;

/** Recalls that are under way in this process. */
let going = 0;

type RecallPorts = HerePorts &
  Pick<Ports, "clock" | "ids" | "recalls"> &
  Partial<Pick<Ports, "cache" | "secret" | "recaller">>;

/** What it takes to carry one out here. */
type HerePorts = Pick<
  Ports,
  "record" | "states" | "embedder" | "questions" | "meter" | "decayDays" | "following"
>;

/**
 * What a user's memory holds on a query: memories and passages, best first, and as text for a prompt. Nothing
 * relevant gives nothing. Reads alone; `invalid_input` for a query or an option that is wrong or unknown.
 */
export async function recall(
  ports: RecallPorts,
  scope: Scope,
  query: string,
  { signal, ...options }: RecallOptions = {},
): Promise<Recall> {
  signal?.throwIfAborted();
  const from = performance.now();
  const now = ports.clock().toISOString();
  const wanted = takeOptions(scope, query, options, { now, decayDays: ports.decayDays });
  const call = { scope, ...(signal ? { signal } : {}) };
  const vector = await sharedVector(ports, scope, excerpt(query), call);
  const id = ports.ids();
  const handed = { scope, query, options, vector, id, now };
  const back = await ports.recaller?.recall(handed, call);
  const { recall: recalled, receipt } = back
    ? { recall: back.recall, receipt: () => back.receipt }
    : await recallHere(ports, { handed, wanted, call });
  signal?.throwIfAborted();
  ports.recalls?.keep(scope, id, receipt);
  ports.meter?.observe("memory_retrieval_duration_ms", performance.now() - from);
  return recalled;
}

/** Carries out a recall that was asked for elsewhere, and works it out to the end, for it goes back as a copy. */
export async function recallHanded(ports: HerePorts, handed: HandedRecall): Promise<HandedBack> {
  const { scope, query, options, now } = handed;
  const wanted = takeOptions(scope, query, options, { now, decayDays: ports.decayDays });
  const { recall: recalled, receipt } = await recallHere(ports, { handed, wanted, call: { scope } });
  return { recall: { ...recalled }, receipt: receipt() };
}

interface Asking {
  readonly handed: HandedRecall;
  readonly wanted: Wanted;
  readonly call: CallOptions;
}

interface Recalled {
  readonly recall: Recall;
  /** Worked out when it is asked for: no recall waits for it. */
  readonly receipt: () => RecallReceipt;
}

async function recallHere(ports: HerePorts, asking: Asking): Promise<Recalled> {
  going += 1;
  try {
    return await withScratch((scratch) => recallWith(ports, asking, scratch));
  } finally {
    going -= 1;
  }
}

async function recallWith(
  ports: HerePorts,
  { handed, wanted, call }: Asking,
  scratch: Scratch,
): Promise<Recalled> {
  const { scope, vector, id } = handed;
  const { bounds } = wanted;
  const text = excerpt(handed.query);
  const versions = bounds.knownAt === undefined ? undefined : await ports.record.versions(scope);
  const known = versions && knownThen(versions, bounds.knownAt ?? "");
  const passes = bounds.where && (await filterOf(ports, scope, bounds.where));
  const span = mayNameTime(text)
    ? ports.questions.read(text, { at: bounds.asOf ?? bounds.now, known: [] })
    : {};
  const ranking = ({ block, texts, limits, cards }: Searched, near: Nearness | undefined): Weighing => {
    const found = search(block, scratch, texts, { near, floor: ports.embedder.floor });
    return { found, best: rank({ block, found, wanted, limits, cards }) };
  };
  let ahead: Promise<Bodies | undefined> | undefined;
  const { near, meanwhile, isGone } = await nearest<Searched>(ports, {
    scope,
    vector,
    scratch,
    call,
    meanwhile(now, likely) {
      // What was read for an older block may be older than this one.
      ahead = undefined;
      const block = known ? blockThen(now, known) : now;
      return {
        block,
        texts: searchTexts(block, scratch, { query: text, span, near: likely }, wanted.profile),
        limits: limitsOf(block, bounds, passes && ((slot) => passes(block, slot))),
        cards: new Map(),
      };
    },
    ahead(now, likely, searched) {
      // To rank ahead is to rank twice: that time is taken from others who wait for the processor.
      if (known || going > 1 || ports.states.texts(scope, now.revision)) return;
      const { chosen } = ranking(searched, likely).best;
      // If it can't be read, the next one to read it will say so.
      ahead = readAhead(ports.record, scope, now, chosen).catch(() => undefined);
    },
  });
  const { block, limits } = meanwhile;
  const { found, best } = ranking(meanwhile, near);
  const { revision } = block;
  // A unit that is gone says that what is held is older than the record.
  const texts = isGone ? undefined : ports.states.texts(scope, revision);
  // The record leaves out what was changed since it was written; what is held has it still, for erasures.
  const held = texts?.damaged.size === 0 ? texts : undefined;
  const ending = { block, limits, limit: wanted.limit, memories: known ?? held?.memories };
  const chosen = await withSuccessors(ports.record, scope, ending, best.chosen);
  const ranked = { ...best, chosen };
  const instead = { memories: known, ahead: isGone ? undefined : ahead, held };
  const reading = itemsOf(ports.record, scope, block, ranked.chosen, instead);
  const noting = underWay().then(() => receiptOf({ id, revision, wanted }, ranked, found));
  const [got, receipt] = await Promise.all([reading, noting]);
  const placed = got.items.flatMap((item, i): Placed[] => {
    const one = got.chosen[i];
    return one ? [{ item, one }] : [];
  });
  const ordered = wanted.profile.isNewestFirst ? newestFirst(block, text, placed) : placed;
  const items = ordered.map(({ item }) => item);
  const places = ordered.map(({ one }) => one.place);
  const plain = { id, abstained: items.length === 0 };
  const packed = (): Packed => packContext(items, wanted.maxTokens, places);
  if (handed.options.explain !== true) return { recall: withContext({ ...plain, items }, packed), receipt };
  const explained = ordered.map(({ item, one }) => ({ ...item, why: whyItem(text, found, one, item) }));
  const whole = { ...plain, items: explained, explanation: explanationOf(ranked, wanted) };
  return { recall: withContext(whole, packed), receipt };
}

/** A block, what the arms without vectors found in it, and what may be given of it. */
interface Searched extends Pick<Ranking, "block" | "limits" | "cards"> {
  readonly texts: Texts;
}

interface Weighing {
  readonly found: Found;
  readonly best: Ranked;
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
  ports: HerePorts,
  scope: Scope,
  where: NonNullable<Wanted["bounds"]["where"]>,
): Promise<(block: Block, slot: number) => boolean> {
  const { messages, memories } = await ports.states.of(scope);
  const passing = new Set<string>();
  await eachInSlices(
    messages.values(),
    ({ id, metadata }) => {
      if (matches(where, metadata ?? {})) passing.add(id);
    },
    FILTERED,
  );
  const ofMemory = ({ metadata, sources }: Memory): boolean => {
    // Own metadata decides; a memory without any is judged by what it was read from.
    const said = sources.map(({ message }) => message).filter((one) => messages.has(one));
    if (metadata || said.length === 0) return matches(where, metadata ?? {});
    return said.some((one) => passing.has(one));
  };
  const kept = new Set<string>();
  await eachInSlices(memories.values(), (memory) => void (ofMemory(memory) && kept.add(memory.id)), FILTERED);
  return (block, slot) => {
    const id = unitId(block, slot);
    if (memories.has(id)) return kept.has(id);
    const message = id.slice(0, id.lastIndexOf("#"));
    return messages.has(message) ? passing.has(message) : matches(where, {});
  };
}

/** So many are held against a filter in one go: the largest one takes some microseconds for each. */
const FILTERED = 50;

/** What is searched with: of a long query its beginning and its end, where the question mostly stands. */
function excerpt(query: string): string {
  if (query.length <= LONGEST_QUERY) return query;
  const half = LONGEST_QUERY / 2;
  return `${query.slice(0, half)}\n${query.slice(-half)}`.toWellFormed();
}
