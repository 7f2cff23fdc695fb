import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { openSqliteStore } from "../../adapters/sqlite/index.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";
import type { NewGrant } from "./sharing-types.ts";

/**
 * Random histories of several users, against a small model of who may see what, written from the documentation alone. Each
 * memory has a word of its own, and every answer is searched for those that its reader may not see. `KEEPSAKE_HISTORIES`
 * sets the number of histories.
 */
const HISTORIES = Number(process.env.KEEPSAKE_HISTORIES ?? 12);
const STORES: readonly (readonly [string, number, () => Promise<MemoryStore>])[] = [
  ["memory", HISTORIES, async () => createInMemoryStore()],
  ["sqlite", Math.ceil(HISTORIES / 10), () => openSqliteStore({ path: ":memory:" })],
];
const USERS = ["ana", "ben", "cleo"] as const;
const TOPICS = ["tea", "piano", "garden"] as const;
const TAGS = ["red", "blue"] as const;
const KINDS = ["fact", "event", "instruction"] as const;
const HOUR = 3_600_000;

const ACTIONS = [
  ...[
    "add",
    "add",
    "add",
    "add",
    "share",
    "share",
    "share",
    "shareWithGroup",
    "saveGroup",
    "withdraw",
    "decline",
  ],
  ...["accept", "tick", "edit", "hide", "remove", "erase", "eraseAll", "deleteGroup", "leaveGroup"],
] as const;

interface Step {
  readonly action: (typeof ACTIONS)[number];
  readonly user: number;
  readonly other: number;
  readonly topic: number;
  readonly tag: number;
  readonly kind: number;
  readonly condition: number;
  /** Chooses among what there is. */
  readonly pick: number;
  readonly lasts: boolean;
}

const choices = {
  user: fc.nat({ max: USERS.length - 1 }),
  other: fc.nat({ max: USERS.length - 1 }),
  topic: fc.nat({ max: TOPICS.length - 1 }),
  tag: fc.nat({ max: TAGS.length - 1 }),
  kind: fc.nat({ max: KINDS.length - 1 }),
  condition: fc.nat({ max: 4 }),
  pick: fc.nat({ max: 99 }),
  lasts: fc.boolean(),
};

const stepOf = (actions: readonly Step["action"][]): fc.Arbitrary<Step> =>
  fc.record({ action: fc.constantFrom(...actions), ...choices });

/** Some memories and grants first, so that there is something to see; then anything. */
const steps: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.array(stepOf(["add"]), { minLength: 5, maxLength: 8 }),
    fc.array(stepOf(["share", "share", "saveGroup", "shareWithGroup"]), { minLength: 4, maxLength: 8 }),
    fc.array(stepOf(ACTIONS), { minLength: 5, maxLength: 25 }),
  )
  .map((parts) => parts.flat());

interface ModelMemory {
  readonly id: string;
  readonly owner: string;
  readonly word: string;
  readonly kind: string;
  topic: string;
  tag: string;
  isPrivate: boolean;
  isGone: boolean;
  expires: number;
}

interface ModelGrant {
  readonly id: string;
  readonly owner: string;
  readonly user?: string;
  readonly group?: string;
  readonly what: Omit<NewGrant, "user" | "group" | "until">;
  readonly until: number;
  isOver: boolean;
  readonly declined: Set<string>;
}

/** Who may see what. */
class Model {
  now = Date.parse("2026-03-01T00:00:00Z");
  memories: ModelMemory[] = [];
  grants: ModelGrant[] = [];
  groups: { readonly id: string; readonly owner: string; readonly name: string; members: string[] }[] = [];

  isReader(grant: ModelGrant, user: string): boolean {
    if (grant.owner === user) return false;
    if (grant.user !== undefined) return grant.user === user;
    return this.groups.some(({ id, members }) => id === grant.group && members.includes(user));
  }

  mayRead(user: string, memory: ModelMemory): boolean {
    if (memory.isGone || memory.isPrivate || memory.expires <= this.now) return false;
    return this.grants.some(
      (grant) =>
        grant.owner === memory.owner &&
        this.isReader(grant, user) &&
        !grant.isOver &&
        grant.until > this.now &&
        !grant.declined.has(user) &&
        covers(grant.what, memory),
    );
  }

  visibleTo(user: string): ModelMemory[] {
    return this.memories.filter((memory) => this.mayRead(user, memory));
  }
}

function covers(what: ModelGrant["what"], { id, kind, topic, tag }: ModelMemory): boolean {
  if (what.ids) return what.ids.includes(id);
  if (what.kinds ? !(what.kinds as readonly string[]).includes(kind) : kind === "instruction") return false;
  if (what.about && !what.about.includes(topic)) return false;
  return what.where === undefined || what.where.tag === tag;
}

interface History {
  readonly model: Model;
  readonly number: number;
  memoryOf(user: string): ScopedMemory;
}

const textOf = (topic: string, word: string): string => `The ${topic} note ${word} is on the shelf.`;

const pickFrom = <Value>(list: readonly Value[], pick: number): Value | undefined =>
  list[pick % Math.max(1, list.length)];

function contentOf(step: Step, own: readonly ModelMemory[]): ModelGrant["what"] {
  const topic = TOPICS[step.topic] ?? "tea";
  const kind = KINDS[step.kind] ?? "fact";
  const tag = TAGS[step.tag] ?? "red";
  const chosen = pickFrom(own, step.pick);
  const options: readonly ModelGrant["what"][] = [
    { everything: true },
    { about: [topic] },
    { kinds: [kind] },
    { where: { tag }, about: [topic] },
    chosen ? { ids: [chosen.id] } : { kinds: [kind], where: { tag } },
  ];
  return options[step.condition] ?? { everything: true };
}

const DO: {
  readonly [action in Step["action"]]: (history: History, step: Step, user: string) => Promise<void>;
} = {
  async add({ model, memoryOf, number }, step, user) {
    const [topic, tag, kind] = [
      TOPICS[step.topic] ?? "tea",
      TAGS[step.tag] ?? "red",
      KINDS[step.kind] ?? "fact",
    ];
    const word = `zq${number}x${model.memories.length}q`;
    const expires = step.lasts ? Number.POSITIVE_INFINITY : model.now + 2 * HOUR;
    const metadata = { tag, ...(step.pick % 7 === 0 ? { private: true } : {}) };
    const receipt = await memoryOf(user).add({
      text: textOf(topic, word),
      kind,
      metadata,
      ...(step.lasts ? {} : { expiresAt: new Date(expires) }),
    });
    const id = receipt.memories[0]?.id ?? "";
    const isPrivate = step.pick % 7 === 0;
    model.memories.push({ id, owner: user, word, kind, topic, tag, isPrivate, isGone: false, expires });
  },
  async share(history, step, user) {
    const reader = USERS[step.other];
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
    const name = TAGS[step.tag] ?? "red";
    const members = USERS.filter((_one, i) => ((step.pick >> i) & 1) === 1);
    const { id } = await memoryOf(user).saveGroup({ name, members });
    const known = model.groups.find((group) => group.id === id);
    if (known) known.members = members;
    else model.groups.push({ id, owner: user, name, members });
  },
  async withdraw({ model, memoryOf }, step, user) {
    const grant = pickFrom(
      model.grants.filter(({ owner }) => owner === user),
      step.pick,
    );
    if (!grant) return;
    await memoryOf(user).withdraw(grant.id);
    grant.isOver = true;
  },
  async decline({ model, memoryOf }, step, user) {
    const grant = pickFrom(
      model.grants.filter((one) => model.isReader(one, user)),
      step.pick,
    );
    if (!grant) return;
    await memoryOf(user).decline(grant.id);
    grant.declined.add(user);
  },
  async accept({ model, memoryOf }, step, user) {
    const grant = pickFrom(
      model.grants.filter((one) => model.isReader(one, user)),
      step.pick,
    );
    if (!grant) return;
    await memoryOf(user).accept(grant.id);
    grant.declined.delete(user);
  },
  async tick({ model }) {
    model.now += HOUR;
  },
  async edit({ model, memoryOf }, step, user) {
    const memory = pickFrom(present(model, user), step.pick);
    if (!memory) return;
    memory.topic = TOPICS[step.topic] ?? "tea";
    memory.tag = TAGS[step.tag] ?? "red";
    const metadata = { tag: memory.tag, ...(memory.isPrivate ? { private: true } : {}) };
    await memoryOf(user).update(memory.id, { text: textOf(memory.topic, memory.word), metadata });
  },
  async hide({ model, memoryOf }, step, user) {
    const memory = pickFrom(present(model, user), step.pick);
    if (!memory) return;
    memory.isPrivate = !memory.isPrivate;
    await memoryOf(user).update(memory.id, { metadata: { tag: memory.tag, private: memory.isPrivate } });
  },
  async remove({ model, memoryOf }, step, user) {
    const memory = pickFrom(present(model, user), step.pick);
    if (!memory) return;
    await memoryOf(user).remove(memory.id);
    memory.isGone = true;
  },
  async erase({ model, memoryOf }, step, user) {
    const memory = pickFrom(present(model, user), step.pick);
    if (!memory) return;
    await memoryOf(user).forget({ ids: [memory.id] });
    memory.isGone = true;
    // A grant of nothing else ends with it.
    model.grants = model.grants.filter(({ what }) => what.ids?.[0] !== memory.id);
  },
  async eraseAll({ model, memoryOf }, step, user) {
    // Rarely: it ends most of what there is.
    if (step.pick % 4 !== 0) return;
    await memoryOf(user).forget({ everything: true });
    for (const memory of model.memories) if (memory.owner === user) memory.isGone = true;
    const own = new Set(model.groups.filter(({ owner }) => owner === user).map(({ id }) => id));
    model.groups = model.groups.filter(({ id }) => !own.has(id));
    for (const group of model.groups) group.members = group.members.filter((member) => member !== user);
    model.grants = model.grants.filter(
      (grant) => grant.owner !== user && grant.user !== user && !own.has(grant.group ?? ""),
    );
    for (const grant of model.grants) grant.declined.delete(user);
  },
  async deleteGroup({ model, memoryOf }, step, user) {
    const group = pickFrom(
      model.groups.filter(({ owner }) => owner === user),
      step.pick,
    );
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

/** The memories of a user that a manual change may name. */
const present = (model: Model, user: string): ModelMemory[] =>
  model.memories.filter(({ owner, isGone, expires }) => owner === user && !isGone && expires > model.now);

async function give(
  { model, memoryOf }: History,
  step: Step,
  to: { readonly user: string } | { readonly group: string },
  owner: string,
): Promise<void> {
  const what = contentOf(
    step,
    model.memories.filter((memory) => memory.owner === owner && !memory.isGone),
  );
  const until = step.lasts ? Number.POSITIVE_INFINITY : model.now + 3 * HOUR;
  const { id } = await memoryOf(owner).share({
    ...to,
    ...what,
    ...(step.lasts ? {} : { until: new Date(until) }),
  });
  model.grants.push({ id, owner, ...to, what, until, isOver: false, declined: new Set() });
}

const COUNTS = { histories: 0, steps: 0, checks: 0, sharedItems: 0, recalledItems: 0 };

/** Compares what one user gets with the model. */
async function check(
  { model, memoryOf }: History,
  user: string,
  topic: string,
  isLast = false,
): Promise<void> {
  const memory = memoryOf(user);
  const visible = new Map(model.visibleTo(user).map((one) => [one.id, one]));
  const listed = await memory.shared({ limit: 1000 });
  expect(listed.items.map(({ id }) => id).sort()).toEqual([...visible.keys()].sort());
  for (const { id, owner, text } of listed.items) {
    const known = visible.get(id);
    expect([owner, text]).toEqual([known?.owner, textOf(known?.topic ?? "", known?.word ?? "")]);
  }
  const question = `Where is the ${topic} note?`;
  const recalled = await memory.recall(question, { limit: 100, explain: true });
  const shared = recalled.items.filter(({ owner }) => owner !== undefined);
  for (const { id, owner } of shared)
    expect([id, owner]).toEqual([visible.get(id)?.id, visible.get(id)?.owner]);
  // A user who has stored nothing keeps no receipt of a recall for longer than a moment.
  const hasStored = model.memories.some(({ owner }) => owner === user);
  const more = isLast
    ? [
        await memory.context(question),
        await memory.answer(question),
        ...(hasStored ? [await memory.explain(recalled.id)] : []),
        await memory.converse(question, { extract: "never" }),
      ]
    : [];
  const told = JSON.stringify([listed, recalled, more]);
  const hidden = model.memories.filter((one) => one.owner !== user && !visible.has(one.id));
  expect(hidden.filter(({ word }) => told.includes(word)).map(({ word }) => word)).toEqual([]);
  COUNTS.checks += 1;
  COUNTS.sharedItems += listed.items.length;
  COUNTS.recalledItems += shared.length;
}

describe.each(STORES)("what users see of each other in the store %s", (name, histories, open) => {
  let keepsake: Keepsake;
  let clock: () => number = () => 0;

  beforeAll(async () => {
    keepsake = await createMemory({ record: open, clock: () => new Date(clock()) });
  });
  afterAll(() => keepsake.close());

  it(`is what the model says, in ${histories} random histories`, { timeout: 3_600_000 }, async () => {
    const before = { ...COUNTS };
    let number = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        number += 1;
        const model = new Model();
        clock = () => model.now;
        const project = `p${number}`;
        const history: History = { model, number, memoryOf: (user) => keepsake.scope({ project, user }) };
        for (const one of taken) {
          await DO[one.action](history, one, USERS[one.user] ?? "ana");
          COUNTS.steps += 1;
          if (one.pick % 4 === 0) await check(history, USERS[one.other] ?? "ana", TOPICS[one.topic] ?? "tea");
        }
        for (const user of USERS) await check(history, user, "tea", true);
        COUNTS.histories += 1;
      }),
      { numRuns: histories, endOnFailure: true },
    );
    const made = Object.fromEntries(
      Object.entries(COUNTS).map(([key, count]) => [key, count - before[key as keyof typeof COUNTS]]),
    );
    process.stdout.write(`sharing histories, ${name}: ${JSON.stringify(made)}\n`);
    // Else it would compare nothing with nothing.
    if (histories >= 10) expect(made.sharedItems).toBeGreaterThan(0);
  });
});
