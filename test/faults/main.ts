import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { printFigures } from "../crash/kill.ts";
import { FAULTS, SURFACES } from "./table.ts";
import { tryFault } from "./trying.ts";

// The built server is what is tried.
spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
let wrong = 0;
console.log(["".padEnd(36), ...SURFACES.map((surface) => surface.padEnd(8))].join(""));
for (const fault of FAULTS) {
  const { seen, faults } = await tryFault(fault);
  const cells = SURFACES.map((surface) => (seen[surface] ?? "").slice(0, 7).padEnd(8));
  console.log([fault.name.padEnd(36), ...cells, faults.length === 0 ? "" : "WRONG"].join(""));
  for (const one of faults) console.error(`  ${one}`);
  wrong += faults.length;
}
console.log(`${FAULTS.length * SURFACES.length} cells, ${wrong} faults`);
printFigures("R5", { cells: FAULTS.length * SURFACES.length, faults: wrong });
process.exitCode = wrong === 0 ? 0 : 1;
