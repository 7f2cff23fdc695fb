import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiKeys, httpApp, passingKeys } from "../../src/http/index.ts";
import { createMemory } from "../../src/memory.ts";

const PROJECTS = ["default", "shop", 'default","ana'];
/** Names that a careless key, path or case rule would take for one another. */
const USERS = ["ana", "Ana", "ana ", "ana/b", "ana:b", 'ana","b', "%61na", "ａna", "default", "*"];

interface Facts {
  /** The user's name, and the address of their memories. */
  readonly name: string;
  readonly path: string;
  /** A word that no other text holds. */
  readonly word: string;
  /** A memory of anybody's. */
  readonly id: string;
  readonly number: number;
}

type Call = readonly [method: string, path: string, body?: object];

const ACTS: { readonly [act: string]: (facts: Facts) => Call } = {
  add: ({ name, word }) => ["POST", "/api/v1/memories", { user_id: name, content: `The code is ${word}.` }],
  say: ({ name, word }) => ["POST", "/message", { userId: name, message: `I use ${word} as a tool.` }],
  list: ({ path }) => ["GET", `${path}?status=all&limit=1000`],
  search: ({ path, word }) => ["POST", `${path}/search`, { query: `code tool ${word}`, explain: true }],
  undo: ({ path, number }) => ["POST", `${path}/undo`, { revision: 1 + (number % 5) }],
  empty: ({ path }) => ["DELETE", `${path}/all`],
  read: ({ path, id }) => ["GET", `${path}/${id}`],
  history: ({ path, id }) => ["GET", `${path}/${id}/history`],
  change: ({ path, id }) => ["PATCH", `${path}/${id}`, { importance: 0.9 }],
  remove: ({ path, id }) => ["DELETE", `${path}/${id}`],
  erase: ({ name, id }) => ["POST", "/api/v1/erasures", { user_id: name, ids: [id] }],
};
const NAMING_AN_ID: ReadonlySet<string> = new Set(["read", "history", "change", "remove", "erase"]);

const step = fc.record({
  act: fc.constantFrom("add", "add", ...Object.keys(ACTS)),
  project: fc.nat(PROJECTS.length - 1),
  user: fc.nat(USERS.length - 1),
  number: fc.nat(1000),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

describe("the walls between projects and users", () => {
  it("hold for every call, in every order", async () => {
    const steps = fc.array(step, { minLength: 10, maxLength: 40 });
    await fc.assert(fc.asyncProperty(steps, holds), { numRuns: 40 });
  }, 60_000);
});

interface Held {
  readonly id: string;
  readonly owner: string;
  readonly word: string;
}

/** A server with a key for each project. `send` looks for words of others in what comes back. */
async function openServer(owners: ReadonlyMap<string, string>): Promise<{
  send(owner: string, call: Call): Promise<{ status: number; text: string }>;
  close(): Promise<void>;
}> {
  const clock = () => new Date("2026-03-01T12:00:00Z");
  const keepsake = await createMemory({ path: ":memory:", clock });
  const keys = apiKeys({ store: passingKeys(), clock });
  const app = httpApp({ keepsake, keys });
  const bearers = PROJECTS.map((project) => keys.create({ project }).key);
  return {
    async send(owner, [method, path, body]) {
      const [project] = JSON.parse(owner) as [number];
      const response = await app.request(path, {
        method,
        headers: { authorization: `Bearer ${bearers[project]}`, "content-type": "application/json" },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      const seen = [...text.matchAll(/secret\d+x/g)].map(([word]) => word);
      expect(seen.filter((word) => owners.has(word) && owners.get(word) !== owner)).toEqual([]);
      return { status: response.status, text };
    },
    close: () => keepsake.close(),
  };
}

async function holds(steps: readonly Step[]): Promise<void> {
  const owners = new Map<string, string>();
  const { send, close } = await openServer(owners);
  let held: Held[] = [];
  /** What was ever there, so that ids of erased memories are tried too. */
  const ever: Held[] = [];
  for (const [count, { act, project, user, number }] of steps.entries()) {
    const owner = JSON.stringify([project, user]);
    const word = `secret${count}x`;
    const target = ever[number % Math.max(1, ever.length)];
    if (act === "add" || act === "say") owners.set(word, owner);
    const facts = { name: USERS[user] ?? "", path: pathOf(user), word, id: target?.id ?? "nothing", number };
    const { status, text } = await send(owner, ACTS[act]?.(facts) ?? ["GET", "/"]);
    const isForeign = target?.owner !== owner;
    if (NAMING_AN_ID.has(act) && isForeign) expect([act, status]).toEqual([act, 404]);
    const made = act === "add" ? [{ id: (JSON.parse(text) as { id: string }).id, owner, word }] : [];
    ever.push(...made);
    held = [...held, ...made].filter((one) => one.owner !== owner || !isGone(one, act, target));
  }

  // What its owner did not erase is still there, whatever the others did.
  for (const { id, owner, word } of held) {
    const [, user] = JSON.parse(owner) as [number, number];
    expect((await send(owner, ["GET", `${pathOf(user)}/${id}`])).text).toContain(word);
  }
  await close();
}

const pathOf = (user: number): string => `/api/v1/memories/${encodeURIComponent(USERS[user] ?? "")}`;

/** Whether an act of its owner took a memory away. */
const isGone = ({ id }: Held, act: string, target: Held | undefined): boolean =>
  act === "empty" || (act === "erase" && id === target?.id);
