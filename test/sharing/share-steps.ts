import { deepEqual } from "node:assert/strict";
import fc from "fast-check";
import type { Receipt } from "../../src/domain/receipt.ts";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { isMemoryError } from "../../src/errors.ts";
import {
  findMarks,
  type ModelContent,
  type ModelGrant,
  type ModelMemory,
  type ShareModel,
} from "./share-model.ts";

export const SHARE_USERS = ["ana", "ben", "cleo"] as const;
export const SHARE_TOPICS = ["tea", "piano", "garden"] as const;
const TAGS = ["red", "blue"] as const;
const KINDS = ["fact", "event", "instruction"] as const;
const HOUR = 3_600_000;

const ACTIONS: readonly string[] = [
  ...["add", "add", "say", "say", "share", "share", "share", "shareWithGroup", "saveGroup"],
  ...["withdraw", "withdrawDuringRecall", "decline", "accept", "tick", "edit", "hide", "hide", "remove"],
  ...["erase", "eraseDuringRecall", "eraseAll", "deleteGroup", "leaveGroup"],
];

/** One step of a random history: what a user does. */
export interface ShareStep {
  readonly action: string;
  readonly user: number;
  readonly other: number;
  readonly topic: number;
  readonly tag: number;
  readonly kind: number;
  readonly condition: number;
  /** Chooses among what there is. */
  readonly pick: number;
  readonly lasts: boolean;
  /** Whether a grant covers the words of messages, and what is sensitive. */
  readonly hasMessages: boolean;
  readonly hasSensitive: boolean;
}

const choices = {
  user: fc.nat({ max: SHARE_USERS.length - 1 }),
  other: fc.nat({ max: SHARE_USERS.length - 1 }),
  topic: fc.nat({ max: SHARE_TOPICS.length - 1 }),
  tag: fc.nat({ max: TAGS.length - 1 }),
  kind: fc.nat({ max: KINDS.length - 1 }),
  condition: fc.nat({ max: 7 }),
  pick: fc.nat({ max: 99 }),
  lasts: fc.boolean(),
  hasMessages: fc.boolean(),
  hasSensitive: fc.boolean(),
};

const stepOf = (actions: readonly ShareStep["action"][]): fc.Arbitrary<ShareStep> =>
  fc.record({ action: fc.constantFrom(...actions), ...choices });

/** Some memories and grants first, so that there is something to see; then anything. */
export const shareSteps: fc.Arbitrary<ShareStep[]> = fc
  .tuple(
    fc.array(stepOf(["add", "say"]), { minLength: 5, maxLength: 8 }),
    fc.array(stepOf(["share", "share", "saveGroup", "shareWithGroup"]), { minLength: 4, maxLength: 8 }),
    fc.array(stepOf(ACTIONS), { minLength: 5, maxLength: 25 }),
  )
  .map((parts) => parts.flat());

/** What a run of histories has done. */
export interface ShareCounts {
  histories: number;
  steps: number;
  checks: number;
  /** Memories learnt from messages, and those among them that are sensitive. */
  learnt: number;
  sensitive: number;
  /** Items of others that recalls gave: memories and the words of messages. */
  sharedMemories: number;
  sharedPassages: number;
  /** Grants withdrawn, and memories erased, while a reader's recall was at work. */
  withdrawnMeanwhile: number;
  erasedMeanwhile: number;
}

export interface ShareHistory {
  readonly model: ShareModel;
  readonly number: number;
  readonly counts: ShareCounts;
  memoryOf(user: string): ScopedMemory;
}

type ShareAction = (history: ShareHistory, step: ShareStep, user: string) => Promise<void>;

const toNote = (topic: string, word: string): string => `The ${topic} note ${word} is on the shelf.`;

const pickFrom = <Value>(list: readonly Value[], pick: number): Value | undefined =>
  list[pick % Math.max(1, list.length)];

const topicOf = ({ topic }: ShareStep): string => SHARE_TOPICS[topic] ?? "tea";
const tagOf = ({ tag }: ShareStep): string => TAGS[tag] ?? "red";
/** What a reader asks about a topic. */
export const toTopicQuestion = (topic: string): string =>
  `Where is the ${topic} note, and what is for the ${topic}?`;

const isPresent = ({ isGone, isErased, expires }: ModelMemory, now: number): boolean =>
  !isGone && !isErased && expires > now;
/** The memories of a user that a manual change may name. */
const listPresent = (model: ShareModel, user: string): ModelMemory[] =>
  model.memories.filter((memory) => memory.owner === user && isPresent(memory, model.now));

/** Throws if an answer to a user has a word that the user may not see. */
export function checkNoneOf(hidden: ReadonlySet<string>, answer: unknown): void {
  const told = JSON.stringify(answer);
  deepEqual(
    [...hidden].filter((mark) => told.includes(mark)),
    [],
  );
}

function contentOf(step: ShareStep, own: readonly ModelMemory[]): ModelContent {
  const [topic, tag, kind] = [topicOf(step), tagOf(step), KINDS[step.kind] ?? "fact"];
  const chosen = pickFrom(own, step.pick);
  const conditions: readonly ModelContent[] = [
    { everything: true },
    { about: [topic] },
    { kinds: [kind] },
    { where: { tag }, about: [topic] },
    chosen ? { ids: [chosen.id] } : { kinds: [kind], where: { tag } },
    { whereText: { $contains: topic } },
    { whereText: { $not_contains: topic } },
    { whereText: { $contains: topic }, where: { tag } },
  ];
  return {
    ...(conditions[step.condition] ?? { everything: true }),
    ...(step.hasMessages ? { messages: true } : {}),
    ...(step.hasSensitive ? { sensitive: true } : {}),
  };
}

async function give(
  { model, memoryOf }: ShareHistory,
  step: ShareStep,
  to: { readonly user: string } | { readonly group: string },
  owner: string,
): Promise<void> {
  const what = contentOf(step, listPresent(model, owner));
  const until = step.lasts ? Number.POSITIVE_INFINITY : model.now + 3 * HOUR;
  const ends = step.lasts ? {} : { until: new Date(until) };
  const { id } = await memoryOf(owner).share({ ...to, ...what, ...ends });
  model.grants.push({ id, owner, ...to, what, until, isOver: false, declined: new Set() });
}

/** Puts what was learnt from a message into the model, in the words of its owner's own memory. */
async function adopt(
  { model, memoryOf, counts }: ShareHistory,
  owner: string,
  { memories }: Receipt,
  { tag, isPrivate }: { readonly tag: string; readonly isPrivate: boolean },
): Promise<void> {
  for (const { id } of memories.filter(({ action }) => action === "added")) {
    const { text, kind, sensitive, sources } = await memoryOf(owner).get(id);
    const [word = ""] = findMarks(text);
    const isSensitive = sensitive === true;
    counts.learnt += 1;
    counts.sensitive += isSensitive ? 1 : 0;
    model.memories.push({
      id,
      owner,
      word,
      kind,
      isSensitive,
      messages: sources.map(({ message }) => message),
      quotes: sources.map(({ quote }) => quote).join("\n"),
      text,
      tag,
      isPrivate,
      isGone: false,
      isErased: false,
      expires: Number.POSITIVE_INFINITY,
    });
  }
}

const ifThere = async <Value>(reading: Promise<Value>): Promise<Value | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (isMemoryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
};

/** After an erasure: what is left of the owner's memories, messages and grants, by the owner's own view of them. */
async function readWhatIsLeft({ model, memoryOf }: ShareHistory, owner: string): Promise<void> {
  const memory = memoryOf(owner);
  for (const one of model.memories.filter((of) => of.owner === owner && isPresent(of, model.now))) {
    if (!(await ifThere(memory.get(one.id)))) one.isErased = true;
  }
  for (const one of model.messages.filter((of) => of.owner === owner))
    one.content = (await ifThere(memory.message(one.id)))?.content ?? "";
  const { given } = await memory.grants({ all: true });
  const left = new Set(given.map(({ id }) => id));
  model.grants = model.grants.filter((grant) => grant.owner !== owner || left.has(grant.id));
}

async function eraseOne(history: ShareHistory, chosen: ModelMemory): Promise<void> {
  await history.memoryOf(chosen.owner).forget({ ids: [chosen.id] });
  chosen.isErased = true;
  const own = history.model.grants.filter(({ what }) => what.ids?.[0] === chosen.id);
  await readWhatIsLeft(history, chosen.owner);
  // A grant of nothing else ends with it.
  deepEqual(
    own.filter((grant) => history.model.grants.includes(grant)),
    [],
  );
}

/** Runs a change while a reader's recall is at work: the reader gets no more than could be seen before. */
async function duringRecall(
  { model, memoryOf }: ShareHistory,
  reader: string,
  topic: string,
  change: () => Promise<unknown>,
): Promise<void> {
  const hidden = model.hiddenFrom(reader);
  const asked = memoryOf(reader).recall(toTopicQuestion(topic), { limit: 100 });
  const [recalled] = await Promise.all([asked, change()]);
  checkNoneOf(hidden, recalled);
}

function pickGrant(history: ShareHistory, step: ShareStep, user: string): ModelGrant | undefined {
  return pickFrom(
    history.model.grants.filter(({ owner, isOver }) => owner === user && !isOver),
    step.pick,
  );
}

const GRANTS: { readonly [action: string]: ShareAction } = {
  async share(history, step, user) {
    const reader = SHARE_USERS[step.other];
    if (reader !== undefined && reader !== user) await give(history, step, { user: reader }, user);
  },
  async shareWithGroup(history, step, user) {
    const usable = history.model.groups.filter(
      ({ owner, members }) => owner === user || members.includes(user),
    );
    const group = pickFrom(usable, step.pick);
    if (group) await give(history, step, { group: group.id }, user);
  },
  async saveGroup({ model, memoryOf }, step, user) {
    const name = tagOf(step);
    const members = SHARE_USERS.filter((_one, i) => ((step.pick >> i) & 1) === 1);
    const { id } = await memoryOf(user).saveGroup({ name, members });
    const known = model.groups.find((group) => group.id === id);
    if (known) known.members = members;
    else model.groups.push({ id, owner: user, name, members });
  },
  async withdraw(history, step, user) {
    const grant = pickGrant(history, step, user);
    if (!grant) return;
    await history.memoryOf(user).withdraw(grant.id);
    grant.isOver = true;
  },
  async withdrawDuringRecall(history, step, user) {
    const grant = pickGrant(history, step, user);
    const reader = grant && SHARE_USERS.find((one) => history.model.isReader(grant, one));
    if (!grant || reader === undefined) return;
    await duringRecall(history, reader, topicOf(step), () => history.memoryOf(user).withdraw(grant.id));
    grant.isOver = true;
    history.counts.withdrawnMeanwhile += 1;
  },
  async decline({ model, memoryOf }, step, user) {
    const received = model.grants.filter((one) => model.isReader(one, user));
    const grant = pickFrom(received, step.pick);
    if (!grant) return;
    await memoryOf(user).decline(grant.id);
    grant.declined.add(user);
  },
  async accept({ model, memoryOf }, step, user) {
    const received = model.grants.filter((one) => model.isReader(one, user));
    const grant = pickFrom(received, step.pick);
    if (!grant) return;
    await memoryOf(user).accept(grant.id);
    grant.declined.delete(user);
  },
  async deleteGroup({ model, memoryOf }, step, user) {
    const own = model.groups.filter(({ owner }) => owner === user);
    const group = pickFrom(own, step.pick);
    if (!group) return;
    await memoryOf(user).deleteGroup(group.id);
    model.groups = model.groups.filter((one) => one !== group);
    model.grants = model.grants.filter((grant) => grant.group !== group.id);
  },
  async leaveGroup({ model, memoryOf }, step, user) {
    const joined = model.groups.filter(({ owner, members }) => owner !== user && members.includes(user));
    const group = pickFrom(joined, step.pick);
    if (!group) return;
    await memoryOf(user).deleteGroup(group.id);
    group.members = group.members.filter((member) => member !== user);
  },
};

const MEMORIES: { readonly [action: string]: ShareAction } = {
  async tick({ model }) {
    model.now += HOUR;
  },
  async add({ model, memoryOf, number }, step, user) {
    const [tag, kind] = [tagOf(step), KINDS[step.kind] ?? "fact"];
    const word = `zq${number}x${model.memories.length}m`;
    const text = toNote(topicOf(step), word);
    const expires = step.lasts ? Number.POSITIVE_INFINITY : model.now + 2 * HOUR;
    const isPrivate = step.pick % 7 === 0;
    const { memories } = await memoryOf(user).add({
      text,
      kind,
      metadata: { tag, ...(isPrivate ? { private: true } : {}) },
      ...(step.lasts ? {} : { expiresAt: new Date(expires) }),
    });
    const state = { isSensitive: false, messages: [], quotes: "", isPrivate, isGone: false, isErased: false };
    model.memories.push({ id: memories[0]?.id ?? "", owner: user, word, kind, text, tag, expires, ...state });
  },
  async say(history, step, user) {
    const { model, memoryOf, number } = history;
    const [topic, tag] = [topicOf(step), tagOf(step)];
    const isPrivate = step.pick % 5 === 0;
    const count = model.messages.length;
    const [word, other] = [`zq${number}x${1000 + count}m`, `zq${number}x${1000 + count}s`];
    const more = step.condition % 2 === 0 ? `I am allergic to ${other}.` : `Or is it ${other}?`;
    const content = `I use ${word} for the ${topic}. ${more}`;
    const id = `said-${number}-${count}`;
    const metadata = { tag, ...(isPrivate ? { private: true } : {}) };
    const receipt = await memoryOf(user).remember([{ id, role: "user", content, metadata }]);
    model.messages.push({ id, owner: user, content, marks: [word, other], tag, isPrivate });
    await adopt(history, user, receipt, { tag, isPrivate });
  },
  async edit({ model, memoryOf }, step, user) {
    const memory = pickFrom(listPresent(model, user), step.pick);
    if (!memory) return;
    memory.text = toNote(topicOf(step), memory.word);
    memory.tag = tagOf(step);
    const metadata = { tag: memory.tag, private: memory.isPrivate };
    await memoryOf(user).update(memory.id, { text: memory.text, metadata });
  },
  async hide({ model, memoryOf }, step, user) {
    const memory = pickFrom(listPresent(model, user), step.pick);
    if (!memory) return;
    memory.isPrivate = !memory.isPrivate;
    await memoryOf(user).update(memory.id, { private: memory.isPrivate });
  },
  async remove({ model, memoryOf }, step, user) {
    const memory = pickFrom(listPresent(model, user), step.pick);
    if (!memory) return;
    await memoryOf(user).remove(memory.id);
    memory.isGone = true;
  },
  async erase(history, step, user) {
    const memory = pickFrom(listPresent(history.model, user), step.pick);
    if (memory) await eraseOne(history, memory);
  },
  async eraseDuringRecall(history, step, user) {
    const memory = pickFrom(listPresent(history.model, user), step.pick);
    const reader = SHARE_USERS[step.other];
    if (!memory || reader === undefined || reader === user) return;
    await duringRecall(history, reader, topicOf(step), () => eraseOne(history, memory));
    history.counts.erasedMeanwhile += 1;
  },
  async eraseAll({ model, memoryOf }, step, user) {
    // Rarely: it ends most of what there is.
    if (step.pick % 4 !== 0) return;
    await memoryOf(user).forget({ everything: true });
    for (const memory of model.memories) if (memory.owner === user) memory.isErased = true;
    for (const message of model.messages) if (message.owner === user) message.content = "";
    const own = new Set(model.groups.filter(({ owner }) => owner === user).map(({ id }) => id));
    model.groups = model.groups.filter(({ id }) => !own.has(id));
    for (const group of model.groups) group.members = group.members.filter((member) => member !== user);
    model.grants = model.grants.filter(
      (grant) => grant.owner !== user && grant.user !== user && !own.has(grant.group ?? ""),
    );
    for (const grant of model.grants) grant.declined.delete(user);
  },
};

/** Carries out a step, in the memory and in the model. */
export async function takeShareStep(history: ShareHistory, step: ShareStep): Promise<void> {
  const user = SHARE_USERS[step.user] ?? "ana";
  await (GRANTS[step.action] ?? MEMORIES[step.action])?.(history, step, user);
}
