import { createHash, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { LeaseResult } from "../../ports/leases.ts";
import type { SqliteDatabase } from "./database.ts";

/** A token tells whose it is: the machine, by a hash of its name, and the process. */
const MACHINE_ID = createHash("sha256").update(hostname()).digest("hex").slice(0, 12);

/**
 * Whether the process that took a lease is known to be gone. Nobody need wait then until it runs out. One that has got the
 * number of the dead one since, or runs on another machine, is taken for alive.
 */
function isOrphan(token: unknown): boolean {
  const [machine, pid] = String(token).split(".");
  if (machine !== MACHINE_ID || !/^[1-9]\d*$/.test(pid ?? "")) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/**
 * No lease is taken, and none rests, for longer. One that would was written before the clock was set back: it is let go of, or
 * nobody would get it until the clock is there again.
 */
const LONGEST_MS = 2 * 24 * 60 * 60 * 1000;

/**
 * Takes a lease, by this machine's clock: all who share the file share the machine. Those that ran out go on the way, and so
 * does one whose process was killed.
 */
export function acquireLocalLease(
  database: SqliteDatabase,
  name: string,
  { forMs, isUrgent = false }: { readonly forMs: number; readonly isUrgent?: boolean },
): LeaseResult {
  const find = database.statement(
    "SELECT token, until FROM leases WHERE name = :name AND until > :now AND until <= :latest",
  );
  const drop = database.statement(
    "DELETE FROM leases WHERE until <= :now OR until > :latest OR (name = :name AND (token IS NULL OR token = :orphan))",
  );
  const take = database.statement("INSERT INTO leases (name, token, until) VALUES (:name, :token, :until)");
  let orphan: string | null = null;
  const refusal = (now: number): LeaseResult | undefined => {
    const held = find.get({ name, now, latest: now + LONGEST_MS });
    if (!held || (held.token === null && isUrgent)) return undefined;
    if (held.token !== null && isOrphan(held.token)) {
      orphan = String(held.token);
      return undefined;
    }
    return { refused: held.token === null ? "resting" : "held", waitMs: Number(held.until) - now };
  };
  // Asked often, and refused mostly: that needs no write.
  const refused = refusal(Date.now());
  if (refused) return refused;
  return database.transaction(() => {
    const now = Date.now();
    const late = refusal(now);
    if (late) return late;
    const token = `${MACHINE_ID}.${process.pid}.${randomUUID()}`;
    drop.run({ name, now, orphan, latest: now + LONGEST_MS });
    take.run({ name, token, until: now + forMs });
    return { token };
  });
}

export function renewLocalLease(
  database: SqliteDatabase,
  name: string,
  token: string,
  forMs: number,
): boolean {
  const renew = database.statement(
    "UPDATE leases SET until = :until WHERE name = :name AND token = :token AND until > :now",
  );
  const now = Date.now();
  return Number(renew.run({ name, token, now, until: now + forMs }).changes) > 0;
}

export function releaseLocalLease(
  database: SqliteDatabase,
  name: string,
  token: string,
  restMs: number,
): boolean {
  // One that rests no time is over at once, and goes with the next one that is taken.
  const giveBack = database.statement(
    "UPDATE leases SET token = NULL, until = :until WHERE name = :name AND token = :token AND until > :now",
  );
  const now = Date.now();
  return Number(giveBack.run({ name, token, now, until: now + restMs }).changes) > 0;
}
