import { afterAll, beforeAll, expect, it } from "vitest";
import { type HttpSurface, surface } from "./surface.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;

let here: HttpSurface;
beforeAll(async () => {
  here = await surface();
});
afterAll(() => here.close());

async function call(
  key: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; json: Json }> {
  const headers = { authorization: `Bearer ${key}` };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const { status, text, headers: told } = await here.send({ method, path, headers, ...sent });
  expect(here.rules.faults(method, path, { status, headers: told, body: text })).toEqual([]);
  return { status, json: text === "" ? undefined : JSON.parse(text) };
}

it("a key with admin makes, shows, rotates and revokes the keys of its project, each shown once", async () => {
  const wanted = { scopes: ["read"], user_id: "ana", label: "a phone", expires_at: "2027-01-01" };
  const made = await call(here.key, "POST", "/api/v1/keys", wanted);
  expect([made.status, made.json]).toEqual([
    201,
    {
      key: expect.stringMatching(/^ks_/),
      id: expect.any(String),
      project: "default",
      scopes: ["read"],
      status: "active",
      user_id: "ana",
      label: "a phone",
      created_at: "2026-03-01T12:00:00.000Z",
      expires_at: "2027-01-01T00:00:00.000Z",
    },
  ]);
  const { id, key } = made.json;
  expect((await call(key, "GET", "/api/v1/memories/ana")).status).toBe(200);
  expect((await call(key, "GET", "/api/v1/memories/bob")).status).toBe(404);

  const listed = await call(here.key, "GET", "/api/v1/keys");
  expect(listed.json.items).toHaveLength(listed.json.total);
  expect(listed.json.items.at(-1)).toMatchObject({ id, last_used_at: "2026-03-01T12:00:00.000Z" });
  expect(JSON.stringify(listed.json)).not.toMatch(/ks_|hash|[0-9a-f]{64}/);

  const rotated = await call(here.key, "POST", `/api/v1/keys/${id}/rotate`, { grace_seconds: 0 });
  expect(rotated.json).not.toHaveProperty("old_secret_until");
  expect((await call(key, "GET", "/api/v1/memories/ana")).status).toBe(401);
  expect((await call(rotated.json.key, "GET", "/api/v1/memories/ana")).status).toBe(200);

  expect((await call(here.key, "DELETE", `/api/v1/keys/${id}`)).status).toBe(204);
  expect((await call(rotated.json.key, "GET", "/api/v1/memories/ana")).status).toBe(401);
  expect((await call(here.key, "DELETE", `/api/v1/keys/${id}`)).status).toBe(404);
});

it("a key without admin learns nothing of keys, and makes none", async () => {
  const { key } = here.keys.create({ scopes: ["read", "write", "erase"] });
  const before = here.keys.list().length;
  for (const [method, path, body] of [
    ["GET", "/api/v1/keys", undefined],
    ["POST", "/api/v1/keys", {}],
    ["POST", `/api/v1/keys/${key.slice(3, 15)}/rotate`, {}],
    ["DELETE", `/api/v1/keys/${key.slice(3, 15)}`, undefined],
  ] as const) {
    expect((await call(key, method, path, body)).status).toBe(403);
  }
  expect(here.keys.list()).toHaveLength(before);
});

it("an Idempotency-Key does not make a secret be kept: each request makes a key", async () => {
  const headers = { "idempotency-key": "once" };
  const [one, other] = [1, 2].map(() => here.send({ path: "/api/v1/keys", body: "{}", headers }));
  expect(JSON.parse((await one)?.text ?? "{}").key).not.toBe(JSON.parse((await other)?.text ?? "{}").key);
});
