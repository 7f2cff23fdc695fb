import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KEY_SCOPES } from "../../src/http/keys/api-keys.ts";
import type { Operation } from "../../src/http/operation.ts";
import { alike, bearer, CLOSED, createCanary, idOf, marksOf, requestFor, rowOf } from "./requests.ts";
import {
  openWorld,
  settle,
  type TenantRequest,
  type TenantResponse,
  type TenantUser,
  type World,
} from "./world.ts";

/**
 * Readers who may see one memory of somebody, and nothing else: every operation as each of them, with everything that is the
 * owner's. The granted memory has a word of its own, and it is counted where it was seen.
 */

let world: World;
/** Who shares one memory with each reader. */
let ana: TenantUser;
/** The word of the shared memory, and its id. */
const GRANTED = createCanary();
let granted: string;
/** A key for one user, with every right that such a key can have. */
const RIGHTS = KEY_SCOPES.filter((scope) => scope !== "admin");
const OPERATIONS = CLOSED.filter((operation) => {
  const { needs } = rowOf(operation);
  return !(Array.isArray(needs) && needs.includes("admin"));
});
/** The operations that may show a memory of another user. */
const SHOWING = ["buildContext", "listShared", "searchMemories"];

interface Reader {
  readonly person: TenantUser;
  /** The grant by which this one reads. */
  readonly grant: string;
  send(sent: TenantRequest): Promise<TenantResponse>;
}

async function openReader(name: string): Promise<Reader> {
  const person = await settle(world, "acme", `reader ${name}`, createCanary());
  // A project may have fewer webhooks than there are operations.
  await world.keepsake.webhooks.remove(person.webhook, "acme");
  const grant = await anasMemory().share({ user: person.user, ids: [granted] });
  const { key } = world.keys.create({ project: "acme", user: person.user, scopes: RIGHTS });
  const send = (sent: TenantRequest) => world.send({ ...sent, headers: { ...bearer(key), ...sent.headers } });
  return { person, grant: grant.id, send };
}

const anasMemory = () => world.keepsake.scope({ project: "acme", user: "ana" });

/** What of ana's an answer shows, but for what the request itself says. */
function leaksOf(sent: TenantRequest, { text, headers }: TenantResponse): string[] {
  const said = JSON.stringify(sent);
  return marksOf(ana).filter((mark) => !said.includes(mark) && `${text}${headers}`.includes(mark));
}

beforeAll(async () => {
  world = await openWorld();
  ana = await settle(world, "acme", "ana", createCanary());
  const { memories } = await anasMemory().add({
    text: `Which word is it? The word of the door is ${GRANTED}.`,
  });
  granted = memories[0]?.id ?? "";
});
afterAll(() => world.close());

describe("a reader of one memory", () => {
  it("sees it in recalls, contexts and the list of what is shared, and nothing else of its owner's anywhere", async () => {
    const seen: string[] = [];
    const leaks: string[] = [];
    for (const operation of OPERATIONS) {
      const { person, grant, send } = await openReader(operation.id);
      const isList = operation.id === "listShared";
      const sent = requestFor(operation, isList ? { ...person, grant } : person);
      const answered = await send(sent);
      expect([operation.id, answered.status]).toEqual([operation.id, rowOf(operation).status]);
      if (answered.text.includes(GRANTED)) seen.push(operation.id);
      if (operation.id === "searchMemories") expect(answered.text).toContain(person.gift);
      leaks.push(...leaksOf(sent, answered).map((mark) => `${operation.id} shows ${mark}`));
    }
    expect(leaks).toEqual([]);
    expect(seen.sort()).toEqual(SHOWING);
  });

  it("finds nothing under the owner's other ids, nor the shared memory under its own", async () => {
    const { person, grant, send } = await openReader("of ids");
    const withIds = OPERATIONS.filter((operation) => rowOf(operation).id !== undefined);
    expect(withIds.length).toBeGreaterThan(10);
    for (const operation of withIds) {
      const ids = { ofAna: idOf(operation, ana), unknown: randomUUID(), ...idsOfShared(operation, grant) };
      const refusals = new Set<string>();
      for (const [of, id] of Object.entries(ids)) {
        const sent = requestFor(operation, person, id);
        const answered = await send(sent);
        expect([operation.id, of, answered.status]).toEqual([operation.id, of, 404]);
        expect([operation.id, leaksOf(sent, answered)]).toEqual([operation.id, []]);
        refusals.add(alike(answered));
      }
      expect([operation.id, [...refusals].slice(1)]).toEqual([operation.id, []]);
    }
  });

  it("gets nothing by the owner's ids in bodies and queries, nor in the owner's name", async () => {
    const { person, send } = await openReader("of bodies");
    // What a reader does with a grant that was received is the reader's business.
    const stateOfAna = async () =>
      (await world.stateOf(ana)).split("\n").filter((line) => !line.includes(person.user));
    const before = await stateOfAna();
    for (const operation of OPERATIONS) {
      const { user } = person;
      for (const sent of [
        requestFor(operation, { ...ana, user }, idOf(operation, person)),
        requestFor(operation, { ...person, memory: granted, other: ana.memory }),
        requestFor(operation, ana),
      ]) {
        const answered = await send(sent);
        expect([operation.id, leaksOf(sent, answered)]).toEqual([operation.id, []]);
        if (!SHOWING.includes(operation.id))
          expect([operation.id, answered.text.includes(GRANTED)]).toEqual([operation.id, false]);
      }
    }
    expect(await stateOfAna()).toEqual(before);
  });

  it("sees it nowhere once the grant is withdrawn", async () => {
    const { person, grant, send } = await openReader("of withdrawals");
    const sees = async (): Promise<string[]> => {
      const answers = await Promise.all(
        OPERATIONS.filter(({ id }) => SHOWING.includes(id) && id !== "listShared").map(async (operation) => {
          const { text } = await send(requestFor(operation, person));
          return text.includes(GRANTED) ? operation.id : "";
        }),
      );
      return answers.filter((id) => id !== "").sort();
    };
    expect(await sees()).toEqual(["buildContext", "searchMemories"]);
    await anasMemory().withdraw(grant);
    expect(await sees()).toEqual([]);
  });
});

/** Ids of what is shared that only its owner may name. */
function idsOfShared(operation: Operation, grant: string): { readonly [of: string]: string } {
  const kind = rowOf(operation).id;
  if (kind === "memory") return { shared: granted };
  return kind === "grant" ? { received: grant } : {};
}
