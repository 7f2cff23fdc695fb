import type { Memory } from "../../domain/memory.ts";
import type { RecallReceipt } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { toLocalTime } from "../../domain/time.ts";
import type { ComposedText } from "../../ports/language/answerer.ts";
import type { Question } from "../../ports/language/question-reader.ts";
import type { DatedQuote, MemoryGround } from "../../ports/language/reply-writer.ts";
import { type ExplainPorts, explainAbsence, explainReceipt } from "../admin/explain.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";

type ReplyPorts = ExplainPorts & Pick<Ports, "replies">;

/**
 * Answers "why did you say that?", "how do you know that?" and "why did you not mention …?" from the receipt
 * of the session's last answer, in words, with date and quote. Undefined if the question is about something
 * else.
 */
export async function explainLastAnswer(
  ports: ReplyPorts,
  scope: Scope,
  { talk }: Question,
  session: string | undefined,
): Promise<ComposedText | undefined> {
  if (!talk) return undefined;
  const state = await ports.states.of(scope);
  const last = await ports.recalls?.lastAnswer(scope, session);
  if (talk.asks === "omission")
    return explainOmission(ports, scope, { state, last, about: talk.about ?? "" });
  if (talk.about === undefined)
    return last ? explainLastSources(ports, scope, last) : { text: ports.replies.explainAnswer(), used: [] };
  const meant = await ports.answerer.findMemory(state.memories, talk.about);
  return meant && explainMemory(ports, state, meant);
}

async function explainLastSources(
  ports: ReplyPorts,
  scope: Scope,
  last: RecallReceipt,
): Promise<ComposedText> {
  const used = last.used ?? [];
  const state = await ports.states.of(scope);
  const { items } = used.length === 0 ? { items: [] } : await explainReceipt(ports, scope, last);
  const grounds: MemoryGround[] = [];
  let erased = 0;
  for (const id of used) {
    const memory = state.memories.get(id);
    const item = items.find((one) => one.id === id);
    if (memory) grounds.push(...listGrounds(state, memory));
    else if (item && item.now !== "erased")
      grounds.push(
        ...item.sources.map(({ message, at, name, quote }) => ({
          at: toLocalTime(at, state.messages.get(message)?.zone),
          name,
          quote,
        })),
      );
    else erased += 1;
  }
  return { text: ports.replies.explainAnswer({ used: used.length, grounds, erased }), used };
}

/** The origin of a memory: what was said and when, or that it was added by hand. */
function listGrounds(state: UserState, memory: Memory): readonly [MemoryGround, ...MemoryGround[]] {
  const [first, ...more] = memory.sources.flatMap((span) => toQuote(state, span) ?? []);
  if (!first) return [{ addedAt: memory.at }];
  const last = more.at(-1);
  return last && memory.evidence > 1 ? [first, last] : [first];
}

/** The words of a source, with their time where they were said. Undefined if the message is gone. */
function toQuote(
  { messages }: UserState,
  { message: id, quote }: Memory["sources"][number],
): DatedQuote | undefined {
  const message = messages.get(id);
  return message && { at: toLocalTime(message.at, message.zone), name: message.name, quote };
}

function explainMemory(ports: ReplyPorts, state: UserState, memory: Memory): ComposedText {
  const outdated = memory.status === "current" ? undefined : { why: memory.why };
  return { text: ports.replies.explainMemory(listGrounds(state, memory), outdated), used: [memory.id] };
}

/** Why the last answer did not mention something. */
async function explainOmission(
  ports: ReplyPorts,
  scope: Scope,
  asked: { readonly state: UserState; readonly last: RecallReceipt | undefined; readonly about: string },
): Promise<ComposedText> {
  const { state, last, about } = asked;
  const memory = await ports.answerer.findMemory(state.memories, about);
  if (!memory) return { text: ports.replies.explainOmission(undefined), used: [] };
  const [ground] = listGrounds(state, memory);
  if (!last) return { text: ports.replies.explainOmission(ground), used: [memory.id] };
  const { reason, text } = await explainAbsence(ports, scope, last, memory.id);
  const hasEnded = reason === "superseded" || reason === "retracted";
  const endedBy = hasEnded ? findEnd(state, memory) : undefined;
  return { text: ports.replies.explainOmission(ground, { reason, text, endedBy }), used: [memory.id] };
}

/** The words that ended a memory: its own last source, or the first source of its successor. */
function findEnd(state: UserState, memory: Memory): DatedQuote | undefined {
  const next = memory.supersededBy === undefined ? undefined : state.memories.get(memory.supersededBy);
  const span = next ? next.sources[0] : memory.sources.length > 1 ? memory.sources.at(-1) : undefined;
  return span && toQuote(state, span);
}
