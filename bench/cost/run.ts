import { modelExtractor } from "../../src/adapters/model/index.ts";
import { openaiEmbedder, openaiModel } from "../../src/adapters/openai/index.ts";
import { createMemory, type InputMessage, type Keepsake, type ScopedMemory } from "../../src/index.ts";
import { openaiServer } from "../../src/testing/index.ts";
import { talksIn } from "../quality/locomo.ts";
import type { PersonTurn } from "../quality/people.ts";
import { extraction, type Given } from "./extraction.ts";
import { observationsIn } from "./observations.ts";
import { tokenizers } from "./tokens.ts";

/** How many turns come before the model is asked: a number, or all of a session. */
export type AtOnce = number | "session";

/** What a run came to; dollars and tokens for 1,000 turns. */
export interface Cost {
  readonly atOnce: AtOnce;
  readonly conversations: number;
  readonly turns: number;
  /** Turns that the model was asked to read, and the items that it gave. */
  readonly read: number;
  readonly items: number;
  /** Requests, and what was kept of what they gave. */
  readonly requests: number;
  readonly memories: number;
  readonly perThousand: {
    readonly understand: Tokens;
    readonly embed: Tokens;
    /** US dollars in all, with the provider's cache and without it. */
    readonly dollars: number;
    readonly dollarsUncached: number;
  };
  /** What answering a question by the model takes, for 1,000 questions; where some were asked. */
  readonly answers?: Tokens & { readonly asked: number };
}

export interface Tokens {
  readonly in: number;
  readonly cached: number;
  readonly out: number;
  readonly dollars: number;
}

export interface MeasureOptions {
  readonly atOnce: AtOnce;
  /** How many of each conversation's questions the model answers (0). */
  readonly questions?: number;
  readonly progress?: (done: number, all: number) => void;
}

/** The conversations of a folder, taken in as a user's, each with a memory of its own; nobody is asked but a server of this process. */
export async function measure(
  data: string,
  { atOnce, questions = 0, progress = () => {} }: MeasureOptions,
): Promise<Cost> {
  const tokens = await tokenizers();
  const given: Given = { turns: 0, items: 0 };
  const reply = extraction(observationsIn(data), given);
  await using chat = await openaiServer({ tokensOf: tokens.chat, reply });
  await using vectors = await openaiServer({ tokensOf: tokens.embedding });
  const talks = talksIn(data);
  const sums: Sums = {
    turns: 0,
    memories: 0,
    understand: NONE,
    embed: NONE,
    answer: NONE,
    requests: 0,
    asked: 0,
  };
  for (const [i, { name, turns, questions: all }] of talks.entries()) {
    progress(i, talks.length);
    await using memory = await createMemory({
      path: ":memory:",
      embedder: (hooks) => openaiEmbedder({ baseUrl: vectors.url, dimensions: 256, ...hooks }),
      model: (hooks) => openaiModel({ baseUrl: chat.url, ...hooks }),
      extractor: (hooks) => modelExtractor(openaiModel({ baseUrl: chat.url, ...hooks }), { lingerMs: 0 }),
    });
    const user = memory.scope({ user: name });
    for (const batch of batchesOf(turns.map(messageOf), atOnce)) {
      await user.remember(batch);
      const { problem } = await user.understand();
      if (problem !== undefined) throw new Error(problem);
    }
    for (const { question } of all.slice(0, questions)) await user.answer(question);
    await add(sums, memory, user);
  }
  const per = (sum: Tokens): Tokens => scaled(sum, 1000 / sums.turns);
  const understand = per(sums.understand);
  const embed = per(sums.embed);
  const dollars = understand.dollars + embed.dollars;
  return {
    atOnce,
    conversations: talks.length,
    turns: sums.turns,
    read: given.turns,
    items: given.items,
    requests: sums.requests,
    memories: sums.memories,
    // What the cache saved: half of the price of input.
    perThousand: { understand, embed, dollars, dollarsUncached: dollars + (understand.cached * 0.075) / 1e6 },
    ...(sums.asked > 0 ? { answers: { ...scaled(sums.answer, 1000 / sums.asked), asked: sums.asked } } : {}),
  };
}

const messageOf = ({ session, speaker, text, at }: PersonTurn, place: number): InputMessage => ({
  id: String(place),
  role: "user",
  name: speaker,
  content: text.trim(),
  session,
  ...(at === undefined ? {} : { at }),
});

const NONE: Tokens = { in: 0, cached: 0, out: 0, dollars: 0 };

interface Sums {
  turns: number;
  memories: number;
  understand: Tokens;
  embed: Tokens;
  answer: Tokens;
  requests: number;
  /** Questions that the model was asked. */
  asked: number;
}

async function add(sums: Sums, memory: Keepsake, user: ScopedMemory): Promise<void> {
  for await (const _progress of memory.reindex());
  const { usage, messages, current } = await user.stats({ by: "purpose" });
  const broken = usage.failures.filter(({ purpose }) => purpose === "understand");
  if (usage.unpriced + broken.length > 0) throw new Error(`unpriced or failed: ${JSON.stringify(usage)}`);
  sums.turns += messages;
  sums.memories += current;
  const all = [...usage.rows, ...(await memory.stats({ by: "purpose" })).usage.rows];
  for (const purpose of ["understand", "embed", "answer"] as const) {
    // What is embedded in the background is nobody's in particular: the project's row has all.
    const row = all.findLast((one) => one.purpose === purpose);
    if (!row) continue;
    const { tokensIn, tokensCached, tokensOut, cost } = row;
    const now = sums[purpose];
    sums[purpose] = {
      in: now.in + tokensIn,
      cached: now.cached + tokensCached,
      out: now.out + tokensOut,
      dollars: now.dollars + cost,
    };
    if (purpose === "understand") sums.requests += row.calls;
    if (purpose === "answer") sums.asked += row.calls;
  }
}

const scaled = (sum: Tokens, by: number): Tokens => ({
  in: sum.in * by,
  cached: sum.cached * by,
  out: sum.out * by,
  dollars: sum.dollars * by,
});

function batchesOf(messages: readonly InputMessage[], atOnce: AtOnce): InputMessage[][] {
  const sessions = [...Map.groupBy(messages, ({ session }) => session).values()];
  if (atOnce === "session") return sessions;
  return sessions.flatMap((session) =>
    Array.from({ length: Math.ceil(session.length / atOnce) }, (_, i) =>
      session.slice(i * atOnce, (i + 1) * atOnce),
    ),
  );
}
