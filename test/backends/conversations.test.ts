import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { apiKeys, httpApp, passingKeys } from "../../src/http/index.ts";
import { createMemory, type Keepsake } from "../../src/index.ts";
import { openaiServer } from "../../src/testing/openai/openai-server.ts";
import { testPlace } from "../postgres/place.ts";
import { filesWith } from "./places.ts";

/** Conversations and chains of responses in both stores, and what an erasure leaves of them on the disk. */

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const CANARY = "Zorbimax";
const PICTURE = Buffer.from(`GIF89a ${CANARY}, and a grey day`);

interface Opened {
  readonly keepsake: Keepsake;
  /** The files or tables that hold some bytes. */
  holding(bytes: Buffer): Promise<readonly string[]>;
  close(): Promise<void>;
}

async function openFile(): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-conversations-"));
  const keepsake = await createMemory({ path: join(folder, "memory.db") });
  return {
    keepsake,
    holding: async (bytes) => filesWith(folder, bytes),
    async close() {
      await keepsake.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const place = url === undefined ? undefined : testPlace(url);
afterAll(() => place?.clear(), 60_000);

async function openPostgres(): Promise<Opened> {
  if (!place) throw new Error("there is no server");
  const store = await place.open();
  const keepsake = await createMemory({ record: store });
  return {
    keepsake,
    async holding(bytes) {
      await place.pool.query("CHECKPOINT");
      const { rows } = await place.pool.query<{ name: string }>(
        "SELECT c.relname AS name FROM pg_class c LEFT JOIN pg_class t ON t.oid = c.reltoastrelid " +
          "WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'i') AND (" +
          "position($2::bytea IN pg_read_binary_file(pg_relation_filepath(c.oid))) > 0 OR " +
          "(t.oid IS NOT NULL AND position($2::bytea IN pg_read_binary_file(pg_relation_filepath(t.oid))) > 0))",
        [place.schemaOf(store), bytes],
      );
      return rows.map(({ name }) => name);
    },
    close: () => keepsake.close(),
  };
}

const STORES: readonly (readonly [name: string, isThere: boolean, open: () => Promise<Opened>])[] = [
  ["an SQLite file", true, openFile],
  ["PostgreSQL", url !== undefined, openPostgres],
];

for (const [name, isThere, open] of STORES) {
  const missing = isThere ? "" : ' (left out: eval "$(test/services/up postgres)" starts the server)';
  describe.skipIf(!isThere)(`conversations in ${name}${missing}`, () => {
    it.each(["by words", "by session", "of the user", "by deletion"] as const)(
      "are given back whole, and an erasure %s leaves no byte of them",
      async (way) => {
        await using upstream = await openaiServer({
          reply: ({ turns }) =>
            turns.at(-1)?.role === "tool"
              ? `${CANARY} is open.`
              : { toolCalls: [{ id: "c1", name: "open", arguments: { app: CANARY } }] },
        });
        const opened = await open();
        const { keepsake } = opened;
        const keys = apiKeys({ store: passingKeys(), clock: () => new Date() });
        const app = httpApp({ keepsake, keys, proxy: { upstream: { baseUrl: upstream.url } } });
        // biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
        const call = async (method: string, path: string, body?: object): Promise<any> => {
          const headers = {
            authorization: `Bearer ${keys.first}`,
            "x-keepsake-user": "ana",
            "content-type": "application/json",
          };
          const response = await app.request(`/v1${path}`, {
            method,
            headers,
            ...(body ? { body: JSON.stringify(body) } : {}),
          });
          return response.json();
        };
        const ana = keepsake.scope({ user: "ana" });
        try {
          await keepsake.scope({ user: "bo" }).remember("I live in Porto.");
          const image = `data:image/gif;base64,${PICTURE.toString("base64")}`;
          const content = [
            { type: "input_text", text: `I use ${CANARY} and Shram.` },
            { type: "input_image", image_url: image, detail: "auto" },
          ];
          const { id } = await call("POST", "/conversations", { items: [{ role: "user", content }] });
          const tools = [{ type: "function", name: "open", parameters: { type: "object", properties: {} } }];
          const asked = { model: "gpt-4o-mini", tools, stream: true };
          await call("POST", "/responses", { ...asked, input: `Open ${CANARY}.`, conversation: id }).catch(
            () => {},
          );
          const output = { type: "function_call_output", call_id: "c1", output: `opened ${CANARY}` };
          await call("POST", "/responses", { ...asked, input: [output], conversation: id }).catch(() => {});
          const { data } = await call("GET", `/conversations/${id}/items?order=asc`);
          expect(data.map(({ type }: { type: string }) => type)).toEqual([
            "message",
            "message",
            "function_call",
            "function_call_output",
            "message",
          ]);
          expect(data[0].content).toEqual(content);
          expect(await opened.holding(Buffer.from(CANARY))).not.toEqual([]);
          if (way === "by deletion") await call("DELETE", `/conversations/${id}`);
          else if (way === "by session") await ana.forget({ session: id });
          else if (way === "of the user") await ana.forget({ everything: true });
          else {
            const [picture] = (await ana.attachments()).items;
            await ana.forget({ attachments: [picture?.id ?? ""] });
            await ana.forget(CANARY);
          }
          for (const { complete } of await ana.erasures()) expect(complete).toBe(true);
          expect(await opened.holding(Buffer.from(CANARY))).toEqual([]);
          expect(await keepsake.check()).toEqual([]);
        } finally {
          await opened.close();
        }
      },
    );
  });
}
