import { describe, expect, it } from "vitest";
import { englishReplies } from "../../language/en/replies/replies.ts";
import { memoryToWire, omitUndefined, toWire } from "./wire.ts";

describe("shapes on the wire", () => {
  it("have keys in snake_case, at every depth", () => {
    expect(toWire({ storedAt: "now", sources: [{ validFrom: 1, deeper: { oneMoreThing: null } }] })).toEqual({
      stored_at: "now",
      sources: [{ valid_from: 1, deeper: { one_more_thing: null } }],
    });
  });

  it("keep the caller's names inside metadata", () => {
    expect(toWire({ metadata: { myField: 1 }, items: [{ metadata: { otherField: 2 } }] })).toEqual({
      metadata: { myField: 1 },
      items: [{ metadata: { otherField: 2 } }],
    });
  });

  it("give a memory common field names in addition to the library's", () => {
    const memory = {
      id: "m1",
      version: 2,
      text: "The user uses Shram.",
      kind: "fact",
      status: "current",
      confidence: 0.9,
      importance: 0.5,
      evidence: 1,
      origin: "api",
      at: "2026-03-01T12:00:00.000Z",
      storedAt: "2026-03-02T12:00:00.000Z",
      metadata: { source_turn: 7 },
      sources: [],
      revision: 3,
      action: "updated",
    } as const;
    expect(memoryToWire("ana", memory, englishReplies)).toMatchObject({
      user_id: "ana",
      content: "The user uses Shram.",
      text: "The user uses Shram.",
      display: "You use Shram.",
      type: "fact",
      kind: "fact",
      created_at: memory.at,
      updated_at: memory.storedAt,
      source_turn: 7,
    });
  });

  it("omit undefined options, but keep false and null", () => {
    expect(omitUndefined({ a: undefined, b: false, c: null, d: 0 })).toEqual({ b: false, c: null, d: 0 });
  });
});
