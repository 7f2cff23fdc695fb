import { request } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Keepsake } from "../../../engine/api/keepsake.ts";
import { createMemory } from "../../../memory.ts";
import { type Served, serve } from "../../server.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
const KEY = "a-key-for-this-test-only-1";

let keepsake: Keepsake;
let served: Served;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  served = await serve({ keepsake, clock, port: 0, apiKey: KEY });
});
afterEach(async () => {
  await served.close();
  await keepsake.close();
});

/** Sends a chat to the built-in model, with these bytes in the header. Gives the status and the user that the answer names. */
function chat(sent: string | readonly string[], content: string): Promise<[number, string | undefined]> {
  const toBytes = (text: string): string => Buffer.from(text).toString("latin1");
  const user = typeof sent === "string" ? toBytes(sent) : sent.map(toBytes);
  return new Promise((resolve, reject) => {
    const asked = request(
      `${served.url}/v1/chat/completions`,
      {
        method: "POST",
        headers: {
          authorization: `Bearer ${KEY}`,
          "content-type": "application/json",
          "x-keepsake-user": user,
        },
      },
      (answer) => {
        answer.resume();
        answer.once("end", () =>
          resolve([answer.statusCode ?? 0, answer.headers["x-keepsake-user"]?.toString()]),
        );
      },
    );
    asked.once("error", reject);
    // Bytes, because Node would encode the header together with a text.
    asked.end(Buffer.from(JSON.stringify({ model: "keepsake", messages: [{ role: "user", content }] })));
  });
}

it.each([
  ["müller", "müller"],
  ["m%C3%BCller", "müller"],
  ["ana maria", "ana maria"],
  ["ana%20maria", "ana maria"],
  ["佐藤", "佐藤"],
  ["50%", "50%"],
  ["50%2", "50%2"],
  ["m%c3%bcller", "m%c3%bcller"],
])("the header %s names the user %s", async (sent, user) => {
  expect(await chat(sent, "My cat is called Umlautina.")).toEqual([200, encodeURIComponent(user)]);
  expect(JSON.stringify(await keepsake.scope({ user }).list())).toContain("Umlautina");
  expect(await chat(encodeURIComponent(user), "What is my cat called?")).toEqual([
    200,
    encodeURIComponent(user),
  ]);
});

it("a header that names a user twice is a 400, and nothing is stored", async () => {
  expect((await chat(["ana", "bob"], "My cat is called Umlautina."))[0]).toBe(400);
  expect(await keepsake.users()).toEqual([]);
});
