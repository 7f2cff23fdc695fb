import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { makeTrace } from "../../../testing/memory-store/change-sets.ts";
import { fileLedger } from "./ledger.ts";

const folder = mkdtempSync(join(tmpdir(), "keepsake-ledger-"));
const path = join(folder, "memory.db.erasures");
const ledger = fileLedger(path, "one");
beforeEach(() => rmSync(path, { force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a ledger in a file", () => {
  it("does not exist before its first entry, and is readable by its owner only", async () => {
    expect(await ledger.read()).toBeUndefined();
    expect(await ledger.receipts()).toBeUndefined();
    await ledger.append([]);
    expect(await ledger.read()).toBeUndefined();
    await ledger.append([makeTrace("a")]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("gives all entries in order and once, and its receipts quickly", async () => {
    await ledger.append([makeTrace("b", "ann"), makeTrace('a"\\')]);
    await ledger.append([makeTrace("b", "ann"), makeTrace("c", 'bob","trace')]);
    expect(await ledger.read()).toEqual({
      traces: [makeTrace("b", "ann"), makeTrace('a"\\'), makeTrace("c", 'bob","trace')],
      damaged: 0,
    });
    expect([...((await ledger.receipts()) ?? [])].filter((id) => !id.startsWith("a"))).toEqual(["b", "c"]);
  });

  it("ignores entries of another store", async () => {
    const other = fileLedger(path, "two");
    await ledger.append([makeTrace("a")]);
    await other.append([makeTrace("b")]);
    await ledger.append([makeTrace("c")]);
    expect((await other.read())?.traces).toEqual([makeTrace("b")]);
    expect([...((await ledger.receipts()) ?? [])]).toEqual(["a", "c"]);
    expect([...((await other.receipts()) ?? [])]).toEqual(["b"]);
  });

  it("terminates a line that was cut off, and does not count it as complete", async () => {
    await ledger.append([makeTrace("a"), makeTrace("b")]);
    writeFileSync(path, readFileSync(path, "utf8").slice(0, -9));
    expect([...((await ledger.receipts()) ?? [])]).toEqual(["a"]);
    await ledger.append([makeTrace("b")]);
    expect(await ledger.read()).toEqual({ traces: [makeTrace("a"), makeTrace("b")], damaged: 0 });
    expect([...((await ledger.receipts()) ?? [])]).toEqual(["a", "b"]);
  });

  it("treats a line with zero bytes after a power failure as cut off instead of damaged", async () => {
    await ledger.append([makeTrace("a"), makeTrace("b")]);
    const whole = readFileSync(path);
    const end = whole.indexOf(0x0a) + 1;
    writeFileSync(path, whole.fill(0, end, end + 20));
    await ledger.append([makeTrace("b")]);
    expect(await ledger.read()).toEqual({ traces: [makeTrace("a"), makeTrace("b")], damaged: 0 });
  });

  it("throws if its folder is gone", async () => {
    const lost = fileLedger(join(folder, "no/where"), "one");
    await expect(lost.append([makeTrace("a")])).rejects.toMatchObject({ code: "unavailable" });
  });
});
