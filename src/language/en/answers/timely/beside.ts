import type { Memory } from "../../../../domain/memory.ts";
import { bagOf, coverage, essence } from "../essence.ts";
import type { Match } from "../match.ts";
import { placeInTime, spanTold, startOf } from "./moments.ts";
import { sayAllThen, sayThen } from "./then.ts";
import type { TimelyAnswer, TimelyAsking } from "./timely.ts";
import { isOpenAsked, tells } from "./within.ts";

/** "Where did I live before Porto?", "What did I do after I moved?", "Where was I living when I met Tom?" */
export async function besideAnswer(asking: TimelyAsking): Promise<TimelyAnswer> {
  const { read, looking } = asking;
  const { beside } = read;
  if (!beside) return undefined;
  const base = asking.reread(beside.rest);
  const { found } = asking.look(beside.rest, { ...base, past: true });
  const known = found.filter(({ by }) => by === "relation");
  const anchor = anchorOf(asking, known.length > 0 ? known : found, beside.of);
  if (!anchor) return undefined;
  if (beside.side === "when") return duringAnchor(asking, anchor);
  const isOpen = isOpenAsked(beside.rest);
  const pool = isOpen ? happened(asking, anchor) : known.map(({ memory }) => memory);
  const best = nearest(asking, pool, anchor, beside.side);
  if (!best) return "unknown";
  return { text: sayThen(best, base, beside.rest, looking.now), used: [best.id] };
}

/** What the question is asked beside: a value of what is asked for ("Porto"), or an event ("I moved"). */
function anchorOf({ look, reread }: TimelyAsking, found: readonly Match[], of: string): Memory | undefined {
  const telling = essence(of);
  const named = telling.length === 0 ? undefined : found.find(({ memory }) => names(memory, telling))?.memory;
  if (named) return named;
  const forms = /^(?:i|we|my \S+|our \S+|\p{Lu}\S+) \p{Ll}/iu.test(of)
    ? [`When did ${of}?`, `When was ${of}?`]
    : [`When was ${of}?`];
  for (const form of forms) {
    const [best] = look(form, { ...reread(form), past: true }).found;
    if (best) return best.memory;
  }
  return undefined;
}

function names({ claim }: Memory, telling: readonly string[]): boolean {
  return claim !== undefined && coverage(bagOf(`${claim.value} ${claim.qualifier ?? ""}`), telling) === 1;
}

/** The one next to the anchor in time; what the anchor took the place of, or what took its place, comes first. */
function nearest(
  { all }: TimelyAsking,
  pool: readonly Memory[],
  anchor: Memory,
  side: "before" | "after",
): Memory | undefined {
  const order = new Map(all().map((memory, i) => [memory.id, i]));
  const isLater = (one: Memory, other: Memory): boolean => {
    const [a, b] = [placeInTime(one), placeInTime(other)];
    return a === b ? (order.get(one.id) ?? 0) > (order.get(other.id) ?? 0) : a > b;
  };
  const others = pool.filter((memory) => memory.id !== anchor.id && !isSameValue(memory, anchor));
  if (side === "before") {
    const replaced = others.find(({ supersededBy }) => supersededBy === anchor.id);
    const before = others.filter((memory) => isLater(anchor, memory));
    return (
      replaced ??
      before.reduce<Memory | undefined>((best, one) => (!best || isLater(one, best) ? one : best), undefined)
    );
  }
  const next = others.find(({ id }) => id === anchor.supersededBy);
  const after = others.filter((memory) => isLater(memory, anchor));
  return (
    next ??
    after.reduce<Memory | undefined>((best, one) => (!best || isLater(best, one) ? one : best), undefined)
  );
}

function isSameValue({ claim }: Memory, anchor: Memory): boolean {
  return claim !== undefined && claim.value.toLowerCase() === anchor.claim?.value.toLowerCase();
}

/** What is told to have happened, of the anchor's own subject. */
function happened({ all }: TimelyAsking, anchor: Memory): Memory[] {
  return all().filter(
    (memory) =>
      tells(memory) &&
      (memory.kind === "event" || (memory.validFrom !== undefined && memory.validFrom !== memory.at)) &&
      memory.claim?.subject === anchor.claim?.subject,
  );
}

/** "Where was I living when I met Tom?": as things were at that time. */
async function duringAnchor(asking: TimelyAsking, anchor: Memory): Promise<TimelyAnswer> {
  const { read, looking } = asking;
  const from = startOf(anchor) || anchor.at;
  const span = spanTold(anchor) ?? { from, to: new Date(Date.parse(from) + 1).toISOString() };
  const rest = read.beside?.rest ?? "";
  const base = asking.reread(rest);
  const { found } = asking.look(rest, base, span);
  const chosen = await asking.choose(
    base,
    found.filter(({ memory }) => memory.id !== anchor.id),
  );
  if (chosen.length === 0) return undefined;
  const memories = chosen.map(({ memory }) => memory);
  return { text: sayAllThen(memories, base, rest, looking.now), used: memories.map(({ id }) => id) };
}
