import { restoreMemory } from "../../src/index.ts";

/** Restores a backup and says when it begins: `FROM PATH`. Somebody kills it meanwhile. */
const [, , from = "", path = ""] = process.argv;
process.stdout.write("begins\n");
await restoreMemory({ from, path, replace: true });
