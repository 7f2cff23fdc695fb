import type { InputMessage } from "../../src/index.ts";
import { asking, cleaned, type FoundPlaces, type Places, scoreFound } from "./asking.ts";
import { bm25 } from "./bm25.ts";
import { interval } from "./bootstrap.ts";
import { contexts } from "./contexts.ts";
import type { Conversation } from "./fit.ts";
import { named, score, table } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";

/** A conversation as a set has it. */
export interface SetConversation {
  readonly name: string;
  readonly messages: readonly Unit[];
  readonly questions: readonly GoldQuestion[];
}

/** A message of a set under the set's own id, which the library never sees. */
export interface Unit extends Omit<InputMessage, "id" | "content" | "at"> {
  readonly id: string;
  readonly content: string;
  readonly at?: string;
}

export interface GoldQuestion {
  readonly question: string;
  readonly group: string;
  /** Ids of the messages that hold the answer; never empty. */
  readonly gold: ReadonlySet<string>;
  /** When it is asked; right after the last message, where it is not given. */
  readonly at?: string;
}

export interface RetrievalRun {
  readonly set: string;
  readonly cuts: readonly number[];
  readonly columns: readonly string[];
  /** The metrics, of the columns, with an interval. The first is the set's main one. */
  readonly main: readonly string[];
  readonly notes: readonly string[];
}

/** How deep the baseline's ranking is looked at, which only `mrr` can tell. */
const DEEP = 100;

/** Asks each question of a memory that holds its conversation, and of BM25 over the same messages. */
export async function retrieval(
  wanted: RetrievalRun,
  talks: readonly SetConversation[],
  options: RunOptions,
): Promise<Run> {
  const { limit = Number.POSITIVE_INFINITY, progress, embedder } = options;
  const { set, cuts, columns, main, notes } = wanted;
  const ours = table();
  const base = table();
  const asked: object[] = [];
  const context = contexts();
  const all = Math.min(limit, talks.flatMap(({ questions }) => questions).length);
  for (const { name, messages, questions } of talks) {
    if (asked.length >= all) break;
    const index = bm25(messages.map(({ content }) => content));
    await using memory = await asking(name, toRemember(messages), embedder);
    for (const { question, group, gold, at } of questions.slice(0, all - asked.length)) {
      const found = withIds(await memory.ask(question, at), messages);
      const ranked = index.rank(question);
      const metrics = scoreFound(found, gold, cuts);
      ours.add(group, metrics);
      base.add(
        group,
        score(
          ranked.slice(0, DEEP).map((i) => [messages[i]?.id ?? ""]),
          gold,
          cuts,
        ),
      );
      context.add(
        found,
        ranked.map((i) => messages[i]?.content ?? ""),
      );
      asked.push({ name, question, type: group, ...pick(metrics, main) });
      progress(asked.length, all);
    }
  }
  return {
    report: {
      set,
      metrics: { ...named("", ours, columns), ...context.ours() },
      baseline: { ...named("", base, columns), ...context.base() },
      intervals: Object.fromEntries(main.map((name) => [name, interval(ours.values(name))])),
      n: asked.length,
      per_question: asked,
    },
    notes: [...notes, "k counts items; a memory credits every message that it was read from."],
  };
}

/** The same conversations for fitting: the library's messages and gold ids. */
export function forFitting(talks: readonly SetConversation[]): Conversation[] {
  return talks.map(({ name, messages, questions }) => ({
    name,
    messages: toRemember(messages),
    questions: questions.map(({ question, gold }) => ({
      question,
      gold: new Set(messages.flatMap(({ id }, place) => (gold.has(id) ? [String(place)] : []))),
    })),
  }));
}

/** The messages numbered by place, so that no id says anything. An empty one is no message. */
export function toRemember(messages: readonly Unit[]): InputMessage[] {
  return messages.flatMap((message, place) => {
    const content = cleaned(message.content);
    return content.trim() === "" ? [] : [{ ...message, id: String(place), content }];
  });
}

/** What was found under the set's own ids again. */
export function withIds({ first, far, ...rest }: FoundPlaces, messages: readonly Unit[]): FoundPlaces {
  const back = (places: Places): Places =>
    places.map((ids) => ids.map((place) => messages[Number(place)]?.id ?? ""));
  return { ...rest, first: back(first), far: back(far) };
}

function pick(metrics: { readonly [name: string]: number }, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, metrics[name]]));
}
