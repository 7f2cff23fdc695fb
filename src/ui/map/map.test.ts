import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

/** The modules of the page are plain JavaScript, so their types are said here. */
async function load<Module>(file: string): Promise<Module> {
  return (await import(new URL(file, import.meta.url).href)) as Module;
}

interface MapMemory {
  readonly id: string;
  readonly claim?: { readonly subject: string; readonly value: string };
}
interface Graph {
  readonly nodes: readonly { readonly id: string }[];
  readonly hubs: readonly { readonly value: string; readonly members: readonly string[] }[];
  readonly edges: Int32Array;
  readonly links: readonly object[];
  readonly alone: number;
}
interface Layout {
  readonly x: Float32Array;
  readonly y: Float32Array;
  step(budget: number): boolean;
}
const { toGraph } = await load<{
  toGraph(memories: readonly MapMemory[], links: readonly { from: string; to: string }[]): Graph;
}>("./map-graph.js");
const { createLayout } = await load<{
  createLayout(count: number, edges: Int32Array, now?: () => number): Layout;
}>("./map-layout.js");

const about = (id: string, subject: string, value: string): MapMemory => ({ id, claim: { subject, value } });

describe("the graph of a map", () => {
  it("joins memories by whom and what two of them are about, and by stored associations, and counts the others", () => {
    const memories = [
      about("a", "user/sister", "Eva"),
      about("b", "Eva", "Vantor"),
      about("c", "user", "tea"),
      about("d", "user", "Faro"),
      { id: "e" },
      { id: "f" },
    ];
    const graph = toGraph(memories, [
      { from: "d", to: "e" },
      { from: "d", to: "gone" },
    ]);
    expect(graph.hubs.map(({ value, members }) => [value, members])).toEqual([["Eva", ["a", "b"]]]);
    const names = [...graph.edges].map((place) => graph.nodes[place]?.id);
    expect(names).toEqual(["d", "e", "about:eva", "a", "about:eva", "b"]);
    expect(graph.links).toHaveLength(1);
    expect(graph.alone).toBe(2);
  });
});

/** A tree of nodes, each joined to an earlier one. */
function tree(count: number): Int32Array {
  return Int32Array.from(Array.from({ length: count - 1 }, (_one, i) => [Math.floor(i / 7), i + 1]).flat());
}

function settle(layout: Layout): number {
  let steps = 1;
  while (!layout.step(1)) steps += 1;
  return steps;
}

describe("the layout of a map", () => {
  it("settles with every node at a place of its own, the same each time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (count) => {
        const [one, other] = [createLayout(count, tree(count)), createLayout(count, tree(count))];
        settle(one);
        settle(other);
        expect([...one.x, ...one.y].every(Number.isFinite)).toBe(true);
        expect(new Set([...one.x].map((x, i) => `${x} ${one.y[i]}`)).size).toBe(count);
        expect([one.x, one.y]).toEqual([other.x, other.y]);
      }),
      { numRuns: 20 },
    );
  });

  it("brings what is joined closer together than what is not", () => {
    const layout = createLayout(200, tree(200));
    settle(layout);
    const distance = (a: number, b: number): number =>
      Math.hypot((layout.x[a] ?? 0) - (layout.x[b] ?? 0), (layout.y[a] ?? 0) - (layout.y[b] ?? 0));
    const mean = (some: readonly number[]): number => some.reduce((sum, one) => sum + one, 0) / some.length;
    const joined = Array.from({ length: 199 }, (_one, i) => distance(Math.floor(i / 7), i + 1));
    const apart = Array.from({ length: 199 }, (_one, i) => distance(i, (i * 61 + 97) % 200));
    expect(mean(joined)).toBeLessThan(mean(apart) / 2);
  });

  it("looks at the clock after each slice of work, and stops when its time is up, at 5,000 nodes", () => {
    let reads = 0;
    // Each look at the clock takes a millisecond of it.
    const layout = createLayout(5000, tree(5000), () => {
      reads += 1;
      return reads;
    });
    for (let step = 0; step < 50; step += 1) {
      const before = reads;
      expect(layout.step(4)).toBe(false);
      expect(reads - before).toBe(5);
    }
  });
});
