import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { StoredAttachment } from "../../domain/attachment.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { BASE_TIME, makeChangeSet, makeErasureReceipt, makeMessage } from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases, requireCapability } from "./store-contents.ts";

/** An attachment whose digest is a name: a store computes it in its check only. */
export function makeAttachment(digest: string, bytes: readonly number[] = [0, 255, 10]): StoredAttachment {
  return { digest, mediaType: "image/png", at: BASE_TIME, bytes: Uint8Array.from(bytes) };
}

export const ATTACHMENT_CASES: MemoryStoreCases = {
  "keeps the bytes of attachments for their user only, once for each digest": async (store) => {
    const attachments = requireCapability(store, "attachments");
    const first = { ...makeAttachment("b", [1, 2, 3]), mediaType: "audio/wav" };
    await store.commit(
      ANN,
      makeChangeSet({ messages: [makeMessage("m1")], attachments: [first, makeAttachment("a", [0, 0])] }),
    );
    await store.commit(ANN, makeChangeSet({ base: 1, attachments: [makeAttachment("b", [9])] }));
    await store.commit(BOB, makeChangeSet({ attachments: [makeAttachment("b", [7])] }));
    expect(await attachments.list(ANN)).toEqual([
      { digest: "a", mediaType: "image/png", at: BASE_TIME, size: 2 },
      { digest: "b", mediaType: "audio/wav", at: BASE_TIME, size: 3 },
    ]);
    expect(await attachments.read(ANN, "b")).toEqual(first);
    expect((await attachments.read(BOB, "b"))?.bytes).toEqual(Uint8Array.of(7));
    expect(await attachments.read(BOB, "a")).toBeUndefined();
    expect(await attachments.list({ project: "other", user: "ann" })).toEqual([]);
  },

  "stores no attachment of a change-set that is refused": async (store) => {
    const attachments = requireCapability(store, "attachments");
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    const again = makeChangeSet({
      base: 1,
      messages: [makeMessage("m1")],
      attachments: [makeAttachment("a")],
    });
    await expect(store.commit(ANN, again)).rejects.toMatchObject({ code: "conflict" });
    await expect(store.commit(ANN, { ...again, base: 0 })).rejects.toMatchObject({ code: "conflict" });
    expect(await attachments.list(ANN)).toEqual([]);
  },

  "deletes attachments with an erasure, of its user only, and stores them again later": async (store) => {
    const attachments = requireCapability(store, "attachments");
    const two = [makeAttachment("a"), makeAttachment("b")];
    await store.commit(ANN, makeChangeSet({ attachments: two }));
    await store.commit(BOB, makeChangeSet({ attachments: two }));
    const erase = {
      messages: [],
      memories: [],
      rewrites: [],
      attachments: ["a", "none"],
      receipt: makeErasureReceipt("e1"),
    };
    await store.commit(ANN, makeChangeSet({ base: 1, erase }));
    expect((await attachments.list(ANN)).map(({ digest }) => digest)).toEqual(["b"]);
    expect(await attachments.read(ANN, "a")).toBeUndefined();
    expect(await attachments.list(BOB)).toHaveLength(2);
    await store.commit(ANN, makeChangeSet({ base: 2, attachments: [makeAttachment("a", [5])] }));
    expect((await attachments.read(ANN, "a"))?.bytes).toEqual(Uint8Array.of(5));
  },

  "keeps attachments of megabytes unchanged, byte for byte": async (store) => {
    const attachments = requireCapability(store, "attachments");
    const bytes = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 31 + (i >> 8)) % 256);
    await store.commit(ANN, makeChangeSet({ attachments: [{ ...makeAttachment("a"), bytes }] }));
    const stored = await attachments.read(ANN, "a");
    expect(Buffer.compare(stored?.bytes ?? new Uint8Array(), bytes)).toBe(0);
    expect((await attachments.list(ANN))[0]?.size).toBe(bytes.length);
  },

  "reports attachments whose bytes are not those of their digest": async (store) => {
    requireCapability(store, "attachments");
    const sound = [1, 2, 3];
    const digestOf = (bytes: readonly number[]): string =>
      createHash("sha256").update(Uint8Array.from(bytes)).digest("hex");
    await store.commit(ANN, makeChangeSet({ attachments: [makeAttachment(digestOf(sound), sound)] }));
    expect(await countAttachmentFaults(store)).toBe(0);
    await store.commit(BOB, makeChangeSet({ attachments: [makeAttachment(digestOf(sound), [1, 2, 7])] }));
    expect(await countAttachmentFaults(store)).toBe(1);
  },

  "reports attachments that a message names and that are missing": async (store) => {
    requireCapability(store, "attachments");
    const bytes = Uint8Array.of(4, 5);
    const id = createHash("sha256").update(bytes).digest("hex");
    const part = { type: "image", id, mediaType: "image/png", size: 2 } as const;
    const message = { ...makeMessage("m1"), parts: [{ type: "text", text: "Look:" }, part] };
    const attachments = [{ ...makeAttachment(id), bytes }];
    await store.commit(ANN, makeChangeSet({ messages: [message], attachments }));
    expect(await countAttachmentFaults(store)).toBe(0);
    await store.commit(BOB, makeChangeSet({ messages: [message] }));
    expect(await countAttachmentFaults(store)).toBe(1);
  },
};

async function countAttachmentFaults(store: MemoryStore): Promise<number> {
  const faults = await store.check();
  return faults.reduce((sum, { place, count }) => sum + (place === "attachments" ? count : 0), 0);
}
