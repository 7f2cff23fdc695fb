import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer, CLOSED, createCanary, requestFor, rowOf } from "./requests.ts";
import { openWorld, settle, type TenantRequest, type TenantUser, type World } from "./world.ts";

/**
 * Every operation as one agent of a user, whose other agent was told a word. Agents are no tenants: the calls that know none
 * are listed, and all others may not show the word.
 */

/** Calls by id, the history, the conversations and the export, which have everything of the user. */
const KNOW_NO_AGENTS = [
  "exportUser",
  "getMemory",
  "getMemoryHistory",
  "getMessage",
  "getSession",
  "listChanges",
  "getHistory",
];

let world: World;
let ana: TenantUser;
const TOLD = createCanary();
let told: string;
let key: string;

beforeAll(async () => {
  world = await openWorld();
  ana = await settle(world, "acme", "ana", createCanary());
  const coach = world.keepsake.scope({ project: "acme", user: "ana", agent: "coach" });
  const { memories } = await coach.add({ text: `Which word is it? The word of the door is ${TOLD}.` });
  told = memories[0]?.id ?? "";
  await coach.remember({ role: "user", content: `I use ${TOLD} as a word.` }, { session: ana.session });
  key = world.keys.create({ project: "acme", user: "ana", scopes: ["read"] }).key;
});
afterAll(() => world.close());

const READING = CLOSED.filter((operation) => {
  const { needs } = rowOf(operation);
  return Array.isArray(needs) && needs.every((scope) => scope === "read");
});

const send = (sent: TenantRequest, agent: string) =>
  world.send({ ...sent, headers: { ...bearer(key), ...sent.headers, "x-keepsake-agent": agent } });

describe("an agent of a user", () => {
  it("is shown nothing that was said to another agent, but by calls that know no agents", async () => {
    const seenBy = async (agent: string): Promise<string[]> => {
      const seen: string[] = [];
      for (const operation of READING) {
        const of = rowOf(operation).id === "memory" ? { ...ana, memory: told } : ana;
        const { status, text } = await send(requestFor(operation, { ...of, cursor: "" }), agent);
        // What was told to no agent, no agent finds: the picture.
        expect([operation.id, [rowOf(operation).status, 404]]).toContainEqual(
          expect.arrayContaining([status]),
        );
        if (text.includes(TOLD)) seen.push(operation.id);
      }
      return seen;
    };
    expect((await seenBy("cook")).filter((id) => !KNOW_NO_AGENTS.includes(id))).toEqual([]);
    expect(await seenBy("coach")).toEqual(
      expect.arrayContaining(["listMemories", "searchMemories", "buildContext", "getProfile"]),
    );
  });
});
