import type { Memory } from "../../domain/memory.ts";
import type { RecallReceipt, Source } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { capitalize } from "../../domain/text/english-forms.ts";
import { toLocalTime } from "../../domain/time.ts";
import type { ComposedText } from "../../ports/language/answerer.ts";
import type { Question } from "../../ports/language/question-reader.ts";
import { type ExplainPorts, explainAbsence, explainReceipt } from "../admin/explain.ts";
import type { UserState } from "../user-state/user-state.ts";

type DatePorts = Pick<ExplainPorts, "answerer">;

const MAX_QUOTED = 4;

/**
 * Answers "why did you say that?", "how do you know that?" and "why did you not mention …?" from the receipt
 * of the session's last answer, in words, with date and quote. Undefined if the question is about something
 * else.
 */
export async function explainLastAnswer(
  ports: ExplainPorts,
  scope: Scope,
  { talk }: Question,
  session: string | undefined,
): Promise<ComposedText | undefined> {
  if (!talk) return undefined;
  const state = await ports.states.of(scope);
  const last = await ports.recalls?.lastAnswer(scope, session);
  if (talk.asks === "omission")
    return explainOmission(ports, scope, { state, last, about: talk.about ?? "" });
  if (talk.about === undefined) return last ? describeLastSources(ports, scope, last) : NOTHING_SAID;
  const meant = await ports.answerer.findMemory(state.memories, talk.about);
  return meant && describeSource(ports, state, meant);
}

const NOTHING_SAID: ComposedText = { text: "I have not answered anything from memory yet.", used: [] };

async function describeLastSources(
  ports: ExplainPorts,
  scope: Scope,
  last: RecallReceipt,
): Promise<ComposedText> {
  const used = last.used ?? [];
  if (used.length === 0) return { text: "I did not know: nothing you told me answers it.", used: [] };
  const state = await ports.states.of(scope);
  const { items } = await explainReceipt(ports, scope, last);
  const reasons: string[] = [];
  let erased = 0;
  for (const id of used) {
    const memory = state.memories.get(id);
    const item = items.find((one) => one.id === id);
    if (memory) reasons.push(...describeGrounds(ports, state, memory));
    else if (item && item.now !== "erased")
      reasons.push(...item.sources.map((source) => formatQuote(ports, state, source)));
    else erased += 1;
  }
  return { text: formatReasons([...new Set(reasons)], erased), used };
}

function formatReasons(reasons: readonly string[], erased: number): string {
  const gone = erased > 0 ? "Its sources have been erased since." : "";
  if (reasons.length === 0) return gone || "I can no longer tell what it was based on.";
  const [first = "", ...rest] = reasons.slice(0, MAX_QUOTED);
  const explanation = rest.length === 0 ? `Because ${first}` : `Because ${first} And ${rest.join(" And ")}`;
  return [explanation, gone].filter(Boolean).join(" ");
}

/** The origin of a memory, in words: what was said and when, or that it was added by hand. */
function describeGrounds(ports: DatePorts, state: UserState, memory: Memory): string[] {
  const sources = memory.sources.flatMap((span) => {
    const message = state.messages.get(span.message);
    return message
      ? [{ ...span, role: message.role, at: toLocalTime(message.at, message.zone), name: message.name }]
      : [];
  });
  const [first, ...more] = sources;
  if (!first) return [`it was added to my memory on ${formatDay(ports, memory.at)}.`];
  const last = more.at(-1);
  const quote = formatSource(ports, first);
  return last && memory.evidence > 1 ? [quote, formatSource(ports, last)] : [quote];
}

type QuotedSource = Pick<Source, "at" | "quote"> & { readonly name?: string | undefined };

function formatSource(ports: DatePorts, { at, name, quote }: QuotedSource): string {
  return `on ${formatDay(ports, at)} ${name ?? "you"} said: “${toOneLine(quote)}”.`;
}

function formatQuote(ports: DatePorts, state: UserState, source: Source): string {
  const zone = state.messages.get(source.message)?.zone;
  return formatSource(ports, { ...source, at: toLocalTime(source.at, zone) });
}

function toOneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

function formatDay({ answerer }: DatePorts, iso: string): string {
  return answerer.formatDate(iso.slice(0, 10), { weekday: false });
}

function describeSource(ports: DatePorts, state: UserState, memory: Memory): ComposedText {
  const over = memory.status === "current" ? "" : ` It is outdated${memory.why ? `: ${memory.why}` : ""}.`;
  const grounds = describeGrounds(ports, state, memory).map(capitalize).join(" ");
  return { text: `${grounds}${over}`, used: [memory.id] };
}

/** Why the last answer did not mention something. */
async function explainOmission(
  ports: ExplainPorts,
  scope: Scope,
  asked: { readonly state: UserState; readonly last: RecallReceipt | undefined; readonly about: string },
): Promise<ComposedText> {
  const { state, last, about } = asked;
  const memory = await ports.answerer.findMemory(state.memories, about);
  if (!memory) return { text: "I know nothing about that.", used: [] };
  const known = capitalize(describeGrounds(ports, state, memory)[0] ?? "");
  if (!last) return { text: known, used: [memory.id] };
  const { reason, text } = await explainAbsence(ports, scope, last, memory.id);
  if (reason === "used") return { text: `I did: my answer is based on it. ${known}`, used: [memory.id] };
  const end = reason === "superseded" || reason === "retracted" ? describeEnd(ports, state, memory) : "";
  const why = end || (reason === "below_floor" ? "It did not seem relevant to your question." : text);
  return { text: `${known} ${why}`, used: [memory.id] };
}

/** The words that ended a memory: its own last source, or the first source of its successor. */
function describeEnd(ports: DatePorts, state: UserState, memory: Memory): string {
  const next = memory.supersededBy === undefined ? undefined : state.memories.get(memory.supersededBy);
  const span = next ? next.sources[0] : memory.sources.length > 1 ? memory.sources.at(-1) : undefined;
  const message = span && state.messages.get(span.message);
  if (!span || !message) return "";
  const quote = formatSource(ports, {
    ...span,
    at: toLocalTime(message.at, message.zone),
    name: message.name,
  });
  return `I left it out because it is outdated: ${quote}`;
}
