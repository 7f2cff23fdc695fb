import { expect, it } from "vitest";
import type { Embedder } from "../ports/language/embedder.ts";
import { hashEmbedder } from "../testing/test-doubles.ts";
import { abortQueries, embedQuery } from "./query-embedding.ts";

const hash = hashEmbedder(64);

/** A remote embedder that answers when its latch opens, and remembers with which signals it was asked. */
function slow(
  fields: Partial<Embedder> = {},
): Embedder & { open: () => void; signals: (AbortSignal | undefined)[] } {
  let open = (): void => {};
  const latch = new Promise<void>((resolve) => {
    open = resolve;
  });
  const signals: (AbortSignal | undefined)[] = [];
  return {
    ...hash,
    local: false,
    ...fields,
    open: () => open(),
    signals,
    async embed(texts, options) {
      signals.push(options?.signal);
      await latch;
      return hash.embed(texts);
    },
  };
}

it("gives the embedder's vector, local or remote", async () => {
  const [wanted] = await hash.embed(["Porto"]);
  expect(await embedQuery(hash, "Porto")).toEqual(wanted);
  expect(await embedQuery({ ...hash, local: false }, "Porto")).toEqual(wanted);
});

it("gives nothing when a remote embedder fails, and throws when a local one does", async () => {
  const failing = { embed: async () => Promise.reject(new Error("down")) };
  expect(await embedQuery({ ...hash, ...failing, local: false }, "Porto")).toBeUndefined();
  await expect(embedQuery({ ...hash, ...failing }, "Porto")).rejects.toThrow("down");
});

it("gives nothing when a remote embedder is late, without waiting for it", async () => {
  const embedder = slow({ patienceMs: 20 });
  const begun = performance.now();
  expect(await embedQuery(embedder, "Porto")).toBeUndefined();
  expect(performance.now() - begun).toBeLessThan(500);
  // On its way still, for an embedder that keeps it.
  expect(embedder.signals.map((signal) => signal?.aborted)).toEqual([false]);
});

it("waits as long as the embedder's limit", async () => {
  const embedder = slow({ patienceMs: 5000 });
  setTimeout(embedder.open, 100);
  expect(await embedQuery(embedder, "Porto")).toHaveLength(64);
});

it("sends no further query to an overloaded embedder", async () => {
  const embedder = slow({ patienceMs: 1 });
  await Promise.all(Array.from({ length: 40 }, (_, i) => embedQuery(embedder, `question ${i}`)));
  expect(embedder.signals).toHaveLength(32);
  embedder.open();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(await embedQuery(embedder, "Porto")).toHaveLength(64);
});

it("rejects with the signal's reason", async () => {
  const reason = new Error("enough");
  const stopping = new AbortController();
  const asked = embedQuery(slow({ patienceMs: 5000 }), "Porto", { signal: stopping.signal });
  const aborted = { ...slow({ patienceMs: 30 }) };
  stopping.abort(reason);
  await expect(embedQuery(aborted, "Porto", { signal: stopping.signal })).rejects.toBe(reason);
  void asked.catch(() => undefined);
});

it("aborts queries in flight when the program ends", async () => {
  const embedder = slow({ patienceMs: 1 });
  await embedQuery(embedder, "Porto");
  abortQueries(embedder);
  expect(embedder.signals.map((signal) => signal?.aborted)).toEqual([true]);
});
