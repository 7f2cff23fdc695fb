import { expect, it } from "vitest";
import { deliverUnderKills } from "./deliver-under-kills.ts";

it("a webhook gets every event in order, signed, although its server is killed twice and the receiver fails one in ten", {
  timeout: 120_000,
}, async () => {
  const run = { events: 200, users: 8, failOneIn: 10, kills: 2, servers: 1 };
  const { events, delivered, repeated, ...figures } = await deliverUnderKills(run);
  expect(figures).toMatchObject({ outOfOrder: 0, badSignatures: 0, kills: 2 });
  expect([events >= 200, delivered]).toEqual([true, events]);
  // What was sent in the fifth of a second before each kill, and a little.
  expect(repeated).toBeLessThan(100);
});
