import { describe, expect, it } from "vitest";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { asking, cleaned, scoreFound } from "./asking.ts";

const SAID = [
  { id: "0", role: "user", content: "My boat is called Heron.", at: "2024-03-15T10:00:00Z" },
  { id: "1", role: "user", content: "I had soup for lunch.", at: "2024-03-16T10:00:00Z" },
] as const;

describe("A memory that is asked", () => {
  it("brings the messages that a question is about, how much context they are, and how long it took", async () => {
    await using memory = await asking("ann", SAID, staticEmbedder());
    const { first, far, tokens, ms } = await memory.ask("What is my boat called?", "2024-04-01T10:00:00Z");
    expect(first[0]).toContain("0");
    expect(far[0]).toEqual(first[0]);
    expect(tokens).toBeGreaterThan(0);
    expect(ms).toBeGreaterThan(0);
  });

  it("waits until a remote embedder has read everything", async () => {
    const near = staticEmbedder();
    let read = 0;
    const embedder = {
      ...near,
      local: false,
      embed: async (texts: readonly string[]) => {
        await new Promise((resume) => setTimeout(resume, 5));
        read += texts.length;
        return near.embed(texts);
      },
    };
    await using _memory = await asking("ann", SAID, embedder);
    expect(read).toBeGreaterThanOrEqual(SAID.length);
  });

  it("sees the first ten through a limit of ten, and more through a wider one", () => {
    const gold = new Set(["a", "b"]);
    const metrics = scoreFound({ first: [["a"]], far: [["x"], ["a"], ["b"]] }, gold, [1, 10, 20]);
    expect(metrics).toMatchObject({ "recall@1": 0.5, "recall@10": 0.5, "recall@20": 1, mrr: 0.5 });
  });

  it("is given text without stray control characters or halves of a pair", () => {
    expect(cleaned("a\u0000b\tc\ud800")).toBe("a b\tc\ufffd");
  });
});
