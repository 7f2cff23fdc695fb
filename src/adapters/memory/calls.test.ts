import { expect, it } from "vitest";
import { callsConformance, makeModelCall } from "../../testing/model-calls-conformance.ts";
import { memoryCalls } from "./index.ts";

callsConformance({ name: "memory", open: async () => memoryCalls() });

it("drops the oldest calls above the limit", async () => {
  const calls = memoryCalls({ most: 2 });
  await calls.note([makeModelCall({ id: "1" }), makeModelCall({ id: "2" })]);
  await calls.note([makeModelCall({ id: "3" })]);
  expect((await calls.list({ limit: 9 })).map(({ id }) => id)).toEqual(["3", "2"]);
});
