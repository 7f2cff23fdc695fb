import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import { createMemory } from "../../memory.ts";
import { httpApp } from "../app.ts";
import { type ApiKeys, apiKeys, passingKeys } from "../keys/api-keys.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
const PATH = "/api/v1/changes?user_id=ana";

let keepsake: Keepsake;
let keys: ApiKeys;
let app: ReturnType<typeof httpApp>;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
  app = httpApp({ keepsake, keys });
});
afterEach(() => keepsake.close());

const ana = () => keepsake.scope({ user: "ana" });
const get = (path: string, headers: Record<string, string> = {}) =>
  app.request(path, { headers: { authorization: `Bearer ${keys.first}`, ...headers } });

/** Opens a stream. `next` gives the ids and texts of so many further events. */
async function openStream(path = PATH, headers: Record<string, string> = {}) {
  const response = await get(path, { accept: "text/event-stream", ...headers });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    response,
    async next(count: number): Promise<{ id: string; text: string }[]> {
      const found: { id: string; text: string }[] = [];
      while (found.length < count) {
        const end = text.indexOf("\n\n");
        if (end === -1) {
          const part = await reader?.read();
          if (!part || part.done) break;
          text += part.value;
          continue;
        }
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        const id = /^id: (\d+)$/m.exec(event)?.[1];
        if (id !== undefined) found.push({ id, text: event });
      }
      return found;
    },
    close: () => reader?.cancel(),
  };
}

describe("pages of changes", () => {
  it("give every change once, oldest first, without a word of it", async () => {
    for (const tool of ["Shram", "Magnet", "Pencil"]) await ana().remember(`I use ${tool}.`);
    const seen: number[] = [];
    for (let after = 0, more = true; more; ) {
      const response = await get(`${PATH}&after=${after}&limit=2`);
      const text = await response.text();
      expect(text).not.toMatch(/Shram|Magnet|Pencil/);
      const page = JSON.parse(text) as { items: { revision: number }[]; after: number; more: boolean };
      seen.push(...page.items.map(({ revision }) => revision));
      ({ after, more } = page);
    }
    expect(seen).toEqual([1, 2, 3]);
    expect(await (await get(`${PATH}&after=3`)).json()).toEqual({
      user_id: "ana",
      items: [],
      after: 3,
      more: false,
    });
  });

  it("refuse a cursor ahead of the memory, and one that is no revision", async () => {
    expect((await get(`${PATH}&after=1`)).status).toBe(400);
    expect((await get(`${PATH}&after=x`)).status).toBe(400);
  });

  it("name what was erased, and give no text of it", async () => {
    await ana().remember("I use Shram.");
    const [memory] = (await ana().list()).items;
    await ana().forget("Shram");
    const text = await (await get(PATH)).text();
    expect(text).not.toContain("Shram");
    const { items } = JSON.parse(text) as { items: { erased: string[] }[] };
    expect(items.flatMap(({ erased }) => erased)).toContain(memory?.id);
  });
});

describe("a stream of changes", () => {
  it("sends what was, then what comes, in order", async () => {
    await ana().remember("I use Shram.");
    const stream = await openStream();
    expect(stream.response.headers.get("content-type")).toContain("text/event-stream");
    expect((await stream.next(1)).map(({ id }) => id)).toEqual(["1"]);
    await ana().remember("I use Magnet.");
    await keepsake.scope({ user: "ben" }).remember("I use Notion.");
    await ana().remember("I use Pencil.");
    const later = await stream.next(2);
    expect(later.map(({ id }) => id)).toEqual(["2", "3"]);
    expect(later.map(({ text }) => text).join()).not.toMatch(/Magnet|Pencil|Notion|ben/);
    await stream.close();
  });

  it("goes on after the last event, whatever its address says", async () => {
    for (const tool of ["Shram", "Magnet", "Pencil"]) await ana().remember(`I use ${tool}.`);
    const stream = await openStream(`${PATH}&after=0`, { "last-event-id": "2" });
    expect((await stream.next(1)).map(({ id }) => id)).toEqual(["3"]);
    await stream.close();
    expect((await openStream(PATH, { "last-event-id": "two" })).response.status).toBe(400);
  });

  it("is refused beyond twenty of a key, and again allowed after one has ended", async () => {
    const streams = [];
    for (let i = 0; i < 20; i += 1) streams.push(await openStream());
    expect((await openStream()).response.status).toBe(429);
    await streams[0]?.close();
    await expect.poll(async () => (await openStream()).response.status).toBe(200);
    for (const stream of streams.slice(1)) await stream.close();
  });

  it("is not open to a key of another user", async () => {
    const { key } = keys.create({ project: "default", scopes: ["read"], user: "ben" });
    const response = await app.request(PATH, {
      headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
    });
    expect(response.status).toBe(404);
  });
});
