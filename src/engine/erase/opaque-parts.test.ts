import { afterEach, beforeEach, expect, it } from "vitest";
import type { Part } from "../../domain/message.ts";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let keepsake: Keepsake;
let ana: ScopedMemory;
beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:" });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(() => keepsake.close());

const callWith = (given: object): Part => ({
  type: "tool_call",
  id: "c1",
  name: "open",
  arguments: JSON.stringify(given),
});

async function exported(): Promise<string> {
  const lines: unknown[] = [];
  for await (const line of ana.export()) lines.push(line);
  return JSON.stringify(lines);
}

it.each([
  ["its only content", [callWith({ app: "Magnet" })]],
  ["beside a text without it", [{ type: "text", text: "Opening it." }, callWith({ app: "Magnet" })]],
  ["beside a text with it", [{ type: "text", text: "Opening Magnet." }, callWith({ app: "Magnet" })]],
  ["behind an escape", [callWith({ note: "first line\nMagnet" })]],
  ["as a field name", [callWith({ Magnet: true })]],
] as const)("a word in the arguments of a tool call, %s, is erased with it", async (_name, content) => {
  await ana.remember([
    { role: "user", content: "I live in Porto." },
    { role: "assistant", content: [...content] },
  ]);
  const { complete, erased } = await ana.forget("Magnet");
  expect({ complete, messages: erased.messages }).toEqual({ complete: true, messages: 1 });
  expect(await exported()).not.toContain("Magnet");
  expect(await exported()).toContain("I live in Porto.");
  expect(await keepsake.check()).toEqual([]);
});

it("a tool call about something else stays", async () => {
  await ana.remember([
    { role: "user", content: "I use Magnet and Shram." },
    { role: "assistant", content: [callWith({ app: "Shram" })] },
  ]);
  await ana.forget("Magnet");
  expect(await exported()).toContain("tool_call");
});

it("a tool call with an erased value does not come back by an import of the conversation", async () => {
  await ana.remember("I use Magnet every day.");
  const said = {
    role: "assistant",
    content: [callWith({ app: "Magnet" })],
    at: new Date(Date.now() - 60_000).toISOString(),
  } as const;
  await ana.forget("Magnet");
  for await (const _progress of ana.import([said]));
  expect(await exported()).not.toContain("Magnet");
});
