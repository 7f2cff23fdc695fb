import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory, restoreMemory } from "../../src/index.ts";

let root = "";
let path = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "keepsake-attachments-"));
  path = join(root, "memory.db");
});
afterEach(() => rmSync(root, { recursive: true }));

/** A picture of bytes that nobody has seen before. */
const picture = (size: number): Buffer =>
  Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), randomBytes(size)]);

const idOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Some pieces of a picture, short enough that few span two pages of a file. */
function piecesOf(bytes: Buffer): Buffer[] {
  const count = Math.min(40, Math.ceil(bytes.length / 500));
  const places = Array.from({ length: count }, (_, i) => Math.floor((i * bytes.length) / count) + 8);
  return places.map((at) => bytes.subarray(at, at + 24)).filter(({ length }) => length === 24);
}

/** How many of a picture's pieces are in files of the folder, as they are, in base64 or in hex. */
function countPieces(bytes: Buffer): number {
  const files = readdirSync(root).map((name) => readFileSync(join(root, name)));
  const forms = piecesOf(bytes).flatMap((piece) => [piece, Buffer.from(piece.toString("hex"))]);
  const base64 = bytes.toString("base64");
  const middle = Buffer.from(base64.slice(40, 80));
  return [...forms, middle].filter((form) => files.some((file) => file.includes(form))).length;
}

describe("the bytes of an erased attachment", () => {
  it.each([300, 5000, 200_000, 3_000_000])(
    "are in no file after the erasure, and were before: %i bytes",
    async (size) => {
      const [mine, other] = [picture(size), picture(size)];
      const memory = await createMemory({ path });
      const ana = memory.scope({ user: "ana" });
      for (const [i, data] of [mine, other].entries()) {
        const description = i === 0 ? "My cat is called Quixote." : "My boat is called Fulmar.";
        await ana.remember({ role: "user", content: [{ type: "image", data, description }] });
        // Neighbours in the same pages, which are split and moved.
        for (let n = 0; n < 30; n += 1) await ana.remember(`On day ${i * 30 + n} I read chapter ${n}.`);
      }
      expect(countPieces(mine)).toBeGreaterThan(piecesOf(mine).length * 0.8);
      const receipt = await ana.forget("Quixote");
      expect(receipt).toMatchObject({ complete: true, erased: { attachments: 1 } });
      expect(countPieces(mine)).toBe(0);
      expect(Buffer.compare((await ana.attachment(idOf(other))).bytes ?? mine, other)).toBe(0);
      await memory.close();
      expect(countPieces(mine)).toBe(0);
      expect(countPieces(other)).toBeGreaterThan(0);
    },
    60_000,
  );

  it("are found, and make the receipt incomplete, in a copy beside the database", async () => {
    const mine = picture(5000);
    const memory = await createMemory({ path });
    const ana = memory.scope({ user: "ana" });
    await ana.remember({ role: "user", content: [{ type: "image", data: mine }] });
    writeFileSync(`${path}.picture.png`, mine);
    const receipt = await ana.forget({ everything: true });
    expect(receipt.verified).toContainEqual({ place: "other files beside it", found: expect.any(Number) });
    expect(receipt.complete).toBe(false);
    await memory.close();
  });

  it("stay for another user who has the same picture, and the receipt is complete", async () => {
    const mine = picture(20_000);
    const memory = await createMemory({ path });
    for (const user of ["ana", "ben"])
      await memory.scope({ user }).remember({ role: "user", content: [{ type: "image", data: mine }] });
    const receipt = await memory.scope({ user: "ana" }).forget({ everything: true });
    expect([receipt.complete, receipt.erased.attachments]).toEqual([true, 1]);
    const ben = memory.scope({ user: "ben" });
    expect((await ben.attachment(idOf(mine))).bytes?.length).toBe(mine.length);
    await ben.forget({ attachments: [idOf(mine)] });
    await memory.close();
    expect(countPieces(mine)).toBe(0);
  });

  it("are gone with the erasure of a user with thousands of messages, which is applied in parts", async () => {
    const pictures = Array.from({ length: 5 }, () => picture(40_000));
    const memory = await createMemory({ path });
    const ana = memory.scope({ user: "ana" });
    for (const data of pictures) await ana.remember({ role: "user", content: [{ type: "image", data }] });
    const many = Array.from({ length: 2100 }, (_, i) => ({
      role: "assistant" as const,
      content: `Note ${i}.`,
    }));
    await ana.remember(many, { extract: "never" });
    const receipt = await ana.forget({ everything: true });
    expect([receipt.complete, receipt.erased.attachments]).toEqual([true, 5]);
    await memory.close();
    expect(pictures.map((data) => countPieces(data))).toEqual([0, 0, 0, 0, 0]);
  }, 60_000);

  it("do not return with a backup: restoring one repeats the erasure, one attachment of two", async () => {
    const [mine, other] = [picture(5000), picture(5000)];
    const memory = await createMemory({ path });
    const ana = memory.scope({ user: "ana" });
    const content = [mine, other].map((data) => ({ type: "image" as const, data }));
    await ana.remember({ role: "user", content });
    await memory.backup(join(root, "monday.db"));
    await ana.forget({ attachments: [idOf(mine)] });
    await memory.close();
    await restoreMemory({ path, from: join(root, "monday.db"), replace: true });
    rmSync(join(root, "monday.db"));
    await using again = await createMemory({ path });
    const restored = again.scope({ user: "ana" });
    expect((await restored.attachments()).items.map(({ id }) => id)).toEqual([idOf(other)]);
    await expect(restored.attachment(idOf(mine))).rejects.toMatchObject({ code: "not_found" });
    expect(countPieces(mine)).toBe(0);
  });

  it("are told from what was stored if somebody changed them in the file", async () => {
    const mine = picture(5000);
    const memory = await createMemory({ path });
    await memory.scope({ user: "ana" }).remember({ role: "user", content: [{ type: "image", data: mine }] });
    await memory.close();
    const handle = new DatabaseSync(path);
    handle.prepare("UPDATE attachments SET bytes = :bytes").run({ bytes: picture(10) });
    handle.close();
    await using again = await createMemory({ path });
    await expect(again.scope({ user: "ana" }).attachment(idOf(mine))).rejects.toMatchObject({
      code: "corrupt",
    });
  });
});
