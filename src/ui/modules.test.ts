import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ErasureReceipt } from "../domain/receipt.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { createMemory } from "../memory.ts";

/** The modules of the page are plain JavaScript, so their types are said here. */
async function load<Module>(file: string): Promise<Module> {
  return (await import(new URL(file, import.meta.url).href)) as Module;
}

type Piece = readonly [kind: "same" | "removed" | "added", text: string];
const { compareWords } = await load<{ compareWords(before: string, after: string): Piece[] }>(
  "./parts/diff.js",
);
const { verifyReceipts } = await load<{
  verifyReceipts(receipts: readonly ErasureReceipt[]): Promise<Map<string, string | undefined>>;
}>("./erasure/verify-receipts.js");
const { parseRoute, linkTo } = await load<{
  parseRoute(hash: string): { name: string; id?: string; part?: string; query: URLSearchParams };
  linkTo(name: string, id?: string, query?: Record<string, string | undefined>, part?: string): string;
}>("./parts/router.js");

describe("the difference between two texts", () => {
  it("has both texts in it, and nothing else", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c d", "\n", " ", "é, x"), { maxLength: 12 })
      .map((some) => some.join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const pieces = compareWords(before, after);
        const without = (kind: string) =>
          pieces
            .filter(([one]) => one !== kind)
            .map(([, piece]) => piece)
            .join("");
        expect([without("added"), without("removed")]).toEqual([before, after]);
      }),
    );
  });

  it("is short where little has changed", () => {
    expect(compareWords("The gym is open until ten.", "The gym is open until eleven.")).toEqual([
      ["same", "The gym is open until "],
      ["removed", "ten."],
      ["added", "eleven."],
    ]);
  });
});

describe("an address of the page", () => {
  it("names the place that it was made for, whatever the names are", () => {
    const name = fc.string({ minLength: 1 }).filter((one) => one.isWellFormed());
    fc.assert(
      fc.property(name, name, fc.string(), (id, part, q) => {
        const route = parseRoute(linkTo("memories", id, { q, state: undefined }, part));
        expect({ ...route, query: route.query.get("q") ?? "" }).toEqual({
          name: "memories",
          id,
          part,
          query: q,
        });
      }),
    );
  });

  it("is read without a fault, whatever it holds", () => {
    fc.assert(fc.property(fc.string(), (text) => void parseRoute(`#/${text}`)));
    expect(parseRoute("#/memories/%E0%A4%A").id).toBe("%E0%A4%A");
  });
});

describe("receipts in the browser", () => {
  let memory: Keepsake;
  let receipts: ErasureReceipt[];
  beforeEach(async () => {
    memory = await createMemory({ path: ":memory:" });
    const ana = memory.scope({ user: "ana" });
    for (const text of ["One thing", "Two things", "Three things"]) {
      const { memories } = await ana.add({ text });
      await ana.forget({ ids: [memories[0]?.id ?? ""] });
    }
    receipts = await ana.erasures();
  });
  afterEach(() => memory.close());

  const problems = async (some: readonly ErasureReceipt[]): Promise<(string | undefined)[]> => [
    ...(await verifyReceipts(some)).values(),
  ];

  it("hold as the server gives them", async () => {
    expect(await problems(receipts)).toEqual([undefined, undefined, undefined]);
  });

  it("do not hold if anything in them is changed", async () => {
    const [first, ...others] = receipts as [ErasureReceipt, ...ErasureReceipt[]];
    const changes: Partial<ErasureReceipt>[] = [
      { at: "2026-01-01T00:00:00.000Z" },
      { user: "eva" },
      { ids: [] },
      { erased: { ...first.erased, memories: 2 } },
      { verified: [] },
      { complete: false },
      { hash: "0".repeat(64) },
      { key: "A".repeat(43) },
      { signature: `ed25519:${"A".repeat(86)}` },
      { signature: "" },
    ];
    for (const change of changes) {
      const [found] = await problems([{ ...first, ...change }, ...others]);
      expect([Object.keys(change), found]).toEqual([Object.keys(change), expect.stringMatching(/signature/)]);
    }
  });

  it("show that one between them is missing, or in another order", async () => {
    const [first, second, third] = receipts as [ErasureReceipt, ErasureReceipt, ErasureReceipt];
    expect(await problems([first, third])).toEqual([undefined, expect.stringMatching(/missing/)]);
    expect((await problems([second, first, third])).filter(Boolean)).toHaveLength(3);
  });
});
