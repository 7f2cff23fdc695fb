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

it("is the embedder's vector, local or remote", async () => {
  const [wanted] = await hash.embed(["Porto"]);
  expect(await embedQuery(hash, "Porto")).toEqual(wanted);
  expect(await embedQuery({ ...hash, local: false }, "Porto")).toEqual(wanted);
});

it("is nothing where a remote embedder fails, and an error where a local one does", async () => {
  const failing = { embed: async () => Promise.reject(new Error("down")) };
  expect(await embedQuery({ ...hash, ...failing, local: false }, "Porto")).toBeUndefined();
  await expect(embedQuery({ ...hash, ...failing }, "Porto")).rejects.toThrow("down");
});

it("is nothing where a remote embedder is late, which is not waited for", async () => {
  const embedder = slow({ patienceMs: 20 });
  const begun = performance.now();
  expect(await embedQuery(embedder, "Porto")).toBeUndefined();
  expect(performance.now() - begun).toBeLessThan(500);
  // On its way still, for an embedder that keeps it.
  expect(embedder.signals.map((signal) => signal?.aborted)).toEqual([false]);
});

it("waits as long as the embedder says", async () => {
  const embedder = slow({ patienceMs: 5000 });
  setTimeout(embedder.open, 100);
  expect(await embedQuery(embedder, "Porto")).toHaveLength(64);
});

it("asks no further question of an embedder that has many to answer", async () => {
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

it("breaks off what is on the way when the program ends", async () => {
  const embedder = slow({ patienceMs: 1 });
  await embedQuery(embedder, "Porto");
  abortQueries(embedder);
  expect(embedder.signals.map((signal) => signal?.aborted)).toEqual([true]);
});
