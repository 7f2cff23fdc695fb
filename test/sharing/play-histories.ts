import { deepEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { createMemory } from "../../src/memory.ts";
import type { MemoryStore } from "../../src/ports/memory-store.ts";
import { ShareModel } from "./share-model.ts";
import {
  checkNoneOf,
  SHARE_TOPICS,
  SHARE_USERS,
  type ShareCounts,
  type ShareHistory,
  shareSteps,
  takeShareStep,
  toTopicQuestion,
} from "./share-steps.ts";

/**
 * Plays random histories of several users in a store, against a model of who may see what. Each memory and message has a word of
 * its own, and every answer is searched for the words that its reader may not see. Throws for the first difference.
 */
export async function playShareHistories(
  openStore: () => Promise<MemoryStore>,
  { histories, seed }: { readonly histories: number; readonly seed?: number | undefined },
): Promise<ShareCounts> {
  const counts: ShareCounts = {
    histories: 0,
    steps: 0,
    checks: 0,
    learnt: 0,
    sensitive: 0,
    sharedMemories: 0,
    sharedPassages: 0,
    withdrawnMeanwhile: 0,
    erasedMeanwhile: 0,
  };
  let now = 0;
  let number = 0;
  const keepsake = await createMemory({ record: openStore, clock: () => new Date(now) });
  const property = fc.asyncProperty(shareSteps, async (steps) => {
    number += 1;
    const model = new ShareModel();
    const project = `p${number}`;
    const memoryOf = (user: string): ScopedMemory => keepsake.scope({ project, user });
    const history: ShareHistory = { model, number, counts, memoryOf };
    for (const step of steps) {
      now = model.now;
      await takeShareStep(history, step);
      now = model.now;
      counts.steps += 1;
      if (step.pick % 4 === 0 || step.action.endsWith("DuringRecall"))
        await compare(history, SHARE_USERS[step.other] ?? "ana", SHARE_TOPICS[step.topic] ?? "tea");
    }
    for (const user of SHARE_USERS) {
      await compare(history, user, "tea");
      await compareOtherAnswers(history, user);
    }
    // A conversation stores its question, which a grant of all words covers: last of all.
    for (const user of SHARE_USERS) await compareReply(history, user);
    counts.histories += 1;
  });
  try {
    await fc.assert(property, {
      numRuns: histories,
      endOnFailure: true,
      ...(seed === undefined ? {} : { seed }),
    });
  } finally {
    await keepsake.close();
  }
  return counts;
}

/** Compares what one user gets with the model. */
async function compare(
  { model, memoryOf, counts }: ShareHistory,
  user: string,
  topic: string,
): Promise<void> {
  const memory = memoryOf(user);
  const visible = new Map(model.visibleTo(user).map((one) => [one.id, one]));
  const words = new Set(model.messagesVisibleTo(user).map(({ id }) => id));
  const listed = await memory.shared({ limit: 1000 });
  deepEqual(listed.items.map(({ id }) => id).sort(), [...visible.keys()].sort());
  for (const { id, owner, text } of listed.items) {
    const known = visible.get(id);
    deepEqual([owner, text], [known?.owner, known?.text.replace(/^The user\b/, known.owner)]);
  }
  const recalled = await memory.recall(toTopicQuestion(topic), { limit: 100, explain: true });
  for (const { id, type, owner } of recalled.items.filter((item) => item.owner !== undefined)) {
    if (type === "memory") deepEqual([id, owner], [visible.get(id)?.id, visible.get(id)?.owner]);
    else ok(words.has(id.slice(0, id.lastIndexOf("#"))), `${user} was shown a passage of ${owner}`);
    if (type === "memory") counts.sharedMemories += 1;
    else counts.sharedPassages += 1;
  }
  checkNoneOf(model.hiddenFrom(user), [listed, recalled]);
  counts.checks += 1;
}

/** Searches the other answers for words of others that the user may not see. */
async function compareOtherAnswers({ model, memoryOf }: ShareHistory, user: string): Promise<void> {
  const memory = memoryOf(user);
  const question = toTopicQuestion("tea");
  const { id } = await memory.recall(question, { limit: 100 });
  // A user who has stored nothing keeps no receipt of a recall for longer than a moment.
  const hasStored = [...model.memories, ...model.messages].some(({ owner }) => owner === user);
  const answers = [
    await memory.context(question),
    await memory.answer(question),
    ...(hasStored ? [await memory.explain(id)] : []),
  ];
  checkNoneOf(model.hiddenFrom(user), answers);
}

/** A conversation uses nothing that is shared: its reply is stored. */
async function compareReply({ model, memoryOf }: ShareHistory, user: string): Promise<void> {
  const reply = await memoryOf(user).converse(toTopicQuestion("tea"), { extract: "never" });
  const theirs = [
    ...model.memories.filter(({ owner }) => owner !== user).map(({ word }) => word),
    ...model.messages.filter(({ owner }) => owner !== user).flatMap(({ marks }) => marks),
  ];
  checkNoneOf(new Set(theirs), reply);
}
