import { fileLedger, fileSecret, openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { createMemory } from "../../src/memory.ts";

/**
 * Forgets something and is killed in the middle. `PATH WHAT WHEN`: with `commit`, once the erasure is committed and
 * nothing after it has happened; with `check`, before the places are read again; with `seal`, after that.
 */
const [, , path = "", what = "", when = ""] = process.argv;
const record = await openSqliteStore({ path });
const die = (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
};
const ledger = fileLedger(`${path}.erasures`, await record.identity());
await using memory = await createMemory({
  path,
  record: {
    ...record,
    ...(when === "check" ? { erasures: { ...record.erasures, scrub: die } } : {}),
    ...(when === "seal" ? { erasures: { ...record.erasures, seal: die } } : {}),
  },
  ledger: {
    ...ledger,
    ...(when === "commit" ? { append: (traces) => (traces.length > 0 ? die() : Promise.resolve()) } : {}),
  },
  secret: fileSecret(`${path}.secret`).secret,
});
await memory.scope({ user: "ana" }).forget(what);
