import { describe, expect, it } from "vitest";
import { deliverUnderKills } from "../webhooks/deliver-under-kills.ts";
import { ownDatabase } from "./processes.ts";

const { KEEPSAKE_TEST_POSTGRES: server } = process.env;
const missing = server ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

describe.skipIf(!server)(`several servers on one PostgreSQL${missing}`, () => {
  it("send each event of a webhook in order, and take over from one that is killed", async () => {
    const database = await ownDatabase(server ?? "");
    try {
      const run = { events: 200, users: 8, failOneIn: 10, kills: 1, servers: 2, databaseUrl: database.url };
      const { events, delivered, repeated, ...figures } = await deliverUnderKills(run);
      expect(figures).toMatchObject({ outOfOrder: 0, badSignatures: 0, kills: 1 });
      expect([events >= 200, delivered]).toEqual([true, events]);
      // Two servers that both sent would repeat every second event.
      expect(repeated).toBeLessThan(60);
    } finally {
      await database.drop();
    }
  }, 120_000);
});
