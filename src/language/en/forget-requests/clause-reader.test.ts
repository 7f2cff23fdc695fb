import { describe, expect, it } from "vitest";
import type { Message } from "../../../domain/message.ts";
import { splitSegments } from "../transformer/segments.ts";
import { type ClauseToRead, readMeantClauses } from "./clause-reader.ts";

function clausesOf(texts: readonly string[], promiseOf: (i: number) => number): ClauseToRead[] {
  return texts.flatMap((content, i) => {
    const message = { id: `m${i}`, role: "user", content } as Message;
    return splitSegments(content).map((segment) => ({
      ...segment,
      message,
      text: content.slice(segment.start, segment.end),
      isEarlier: false,
      promise: promiseOf(i),
    }));
  });
}

describe("the clauses that are read for a request", () => {
  it("are all of a short memory, each with a probability", async () => {
    const clauses = clausesOf(["I keep geese, and my sister keeps a mule.", "We live in Bath."], () => 0);
    const found = await readMeantClauses({ phrase: "the geese" }, undefined, clauses);
    expect(found).toHaveLength(clauses.length);
    for (const one of found) expect(one).toBeGreaterThan(0);
    expect(found[0]).toBeGreaterThan(found[2] as number);
  });

  it("are the most promising of a long one, with the message before each", async () => {
    const texts = Array.from({ length: 400 }, (_, i) => `Neighbour number ${i} keeps geese.`);
    const clauses = clausesOf(texts, (i) => (i === 200 ? 1 : i / 1_000));
    const found = await readMeantClauses({ phrase: "the geese" }, undefined, clauses);
    expect(found[200]).toBeDefined();
    expect(found[199]).toBeDefined();
    expect(found[0]).toBeUndefined();
    expect(found.filter((one) => one !== undefined).length).toBeLessThan(120);
  });

  it("are none for a request without words", async () => {
    const clauses = clausesOf(["I keep geese."], () => 0);
    expect(await readMeantClauses({ phrase: "" }, undefined, clauses)).toEqual([undefined]);
  });
});
