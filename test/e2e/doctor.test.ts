import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it } from "vitest";
import { keepsake, place } from "./shell.ts";

function damage(sql: string): void {
  const handle = new DatabaseSync(join(place, "keepsake.db"));
  handle.exec(sql);
  handle.close();
}

describe("`keepsake doctor` on a database whose rows were changed by another program", {
  timeout: 120_000,
}, () => {
  beforeEach(async () => {
    expect((await keepsake("remember", "I live in Lisbon.")).status).toBe(0);
    expect((await keepsake("remember", "My dog is called Miso.")).status).toBe(0);
    expect((await keepsake("backup", "monday.db")).status).toBe(0);
  });

  it("finds a changed byte of a memory, says what can be restored from where, and restores it from the backup", async () => {
    expect((await keepsake("doctor", "--json")).json).toMatchObject({
      healthy: true,
      faults: [],
      remedies: [],
      durability: "full",
      checks: expect.arrayContaining([expect.objectContaining({ name: "disk" })]),
    });
    damage("UPDATE versions SET body = replace(body, 'Lisbon', 'Lisbom')");
    const { status, json } = await keepsake("doctor", "--json");
    expect(status).toBe(1);
    expect(json).toMatchObject({
      healthy: false,
      faults: [
        {
          place: "versions",
          problem: "changed since they were written",
          count: 1,
          rows: [{ table: "versions", user: "me" }],
        },
      ],
      integrity: { secret: "same", without_digest: 0 },
      remedies: [
        { from: "backup", what: "rows", count: 1, file: "monday.db" },
        { from: "messages", what: "memories", count: 1 },
      ],
    });
    expect((await keepsake("recall", "Where do I live?")).out).not.toContain("Lisbom");
    const fixed = await keepsake("doctor", "--fix", "--json");
    expect([fixed.status, fixed.json.healthy, fixed.json.repaired]).toEqual([0, true, 1]);
    expect((await keepsake("recall", "Where do I live?")).out).toContain("Lisbon");
  });

  it("makes a search unit anew that is missing, without a backup", async () => {
    rmSync(join(place, "monday.db"));
    damage("DELETE FROM units WHERE type = 'memory'");
    expect((await keepsake("doctor", "--json")).status).toBe(1);
    const fixed = await keepsake("doctor", "--fix", "--json");
    expect([fixed.status, fixed.json.healthy]).toEqual([0, true]);
    expect((await keepsake("recall", "dog")).out).toContain("Miso");
  });

  it("says that the secret is another one, where its file was lost, and not that all rows are damaged", async () => {
    rmSync(join(place, "keepsake.db.secret"));
    const { status, json, err } = await keepsake("doctor", "--json");
    expect(err).toBe("");
    expect(status).toBe(1);
    expect(json.faults.map(({ place: where }: { place: string }) => where)).toEqual(["secret"]);
    expect((await keepsake("doctor", "--fix", "--json")).json.healthy).toBe(true);
    damage("UPDATE messages SET body = replace(body, 'Miso', 'Mise')");
    expect((await keepsake("doctor", "--json")).json.faults).toMatchObject([{ place: "messages", count: 1 }]);
  });
});
