import type { Memory } from "../../../../domain/memory.ts";
import { formatDateInWords } from "../../format-date.ts";
import { toSecondPerson, toSentence } from "../../word-forms.ts";
import { essence } from "../essence.ts";
import { heldIn } from "../look.ts";
import { yesOrNo } from "../yes-no.ts";
import { placeInTime, type Span, spanTold } from "./moments.ts";
import { sayAllThen } from "./then.ts";
import type { TimelyAnswer, TimelyAsking } from "./timely.ts";

/** Words that ask for whatever there is. */
const OPEN =
  /\b(?:do|did|doing|does|done|have|had|happen(?:s|ed|ing)?|go|going|went|plan(?:s|ned|ning)?|schedul(?:e|ed)|on|up to|anything|something|coming up|calendar|diary|appointments?|events?|busy|free|take place)\b/gi;
const MONTH_MS = 27 * 86_400_000;
const MOST_TOLD = 6;

/** Whether a question, without its time, asks for whatever happened: "What did I do?" */
export function isOpenAsked(text: string): boolean {
  return (
    essence(text.replace(OPEN, " ")).length === 0 &&
    /^(?:and |so )?(?:what|do|did|am|was|have|is|anything)\b/i.test(text.trim())
  );
}

/** Whether a memory tells something of a life, and is no order or name. */
export function tells({ kind, status, quarantined, claim }: Memory): boolean {
  const isKind = kind === "event" || kind === "commitment" || kind === "fact";
  return (
    isKind &&
    status !== "retracted" &&
    !quarantined &&
    claim !== undefined &&
    !/^(?:not|never|be called)\b/.test(claim.relation)
  );
}

/** "Where did I live in 2024?", "What do I have on Friday?": what was so, or takes place, in the span named. */
export async function withinAnswer(asking: TimelyAsking): Promise<TimelyAnswer> {
  const { read, text, looking } = asking;
  const { from, to, dated } = read;
  if (from === undefined || to === undefined || dated === undefined || read.asks === "when") return undefined;
  const bare = text.replace(dated, " ").replace(/\s+/g, " ");
  if (isOpenAsked(bare)) return happenings(asking, { from, to });
  if (read.tense === "present" && from <= looking.now && to > looking.now) return undefined;
  const { from: _from, to: _to, dated: _dated, beside: _beside, ...base } = asking.reread(bare);
  const { asked, held, found } = asking.look(bare, base, { from, to });
  if (read.asks === "yes_no") return yesOrNo(asked, found, held);
  const chosen = await asking.choose(base, found);
  if (chosen.length === 0) return undefined;
  const memories = chosen.map(({ memory }) => memory);
  return { text: sayAllThen(memories, base, bare, looking.now), used: memories.map(({ id }) => id) };
}

/** Everything told of a span, in the order in which it happened. */
function happenings({ all, looking, read }: TimelyAsking, span: Span): TimelyAnswer {
  const isLong = Date.parse(span.to) - Date.parse(span.from) >= MONTH_MS;
  const held = heldIn(all().filter(tells), span, looking.now).map(({ memory }) => memory);
  const dated = held.filter((memory) => isDated(memory) || (isLong && isBegun(memory, span)));
  const found = dated.sort((a, b) => (placeInTime(a) < placeInTime(b) ? -1 : 1)).slice(0, MOST_TOLD);
  if (found.length === 0) return undefined;
  const told = found.map((memory) => dating(memory)).join(" ");
  const text = read.asks === "yes_no" ? `Yes: ${told}` : told;
  return { text, used: found.map(({ id }) => id) };
}

function isDated(memory: Memory): boolean {
  return memory.kind === "event" || memory.kind === "commitment" ? true : spanTold(memory) !== undefined;
}

/** What was told in the span, or began or ended in it. */
function isBegun({ validFrom, validTo, at }: Memory, { from, to }: Span): boolean {
  return [validFrom, validTo, at].some((time) => time !== undefined && time >= from && time < to);
}

function dating({ text, when }: Memory): string {
  const said = toSentence(toSecondPerson(text));
  if (when === undefined || when.length < 7) return said;
  const spoken = formatDateInWords(when.slice(0, 10), { weekday: false });
  return said.includes(spoken.replace(/ \d{4}$/, "")) ? said : `${said.replace(/\.$/, "")} (${spoken}).`;
}
