import { type UpdateCopy, updateCopies } from "../../adapters/sqlite/index.ts";
import { EXIT } from "../exit.ts";
import { day, type Printer, several, table } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";
import { lookAtIndexes } from "./doctor-indexes.ts";

export async function doctor(options: CommonOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print, path, isFile }) => {
    const faults = await keepsake.check();
    const { space, left } = await keepsake.embedding();
    const { broken, backups } = await keepsake.audit();
    const isWell = faults.length === 0;
    const waiting = left > 0 ? { embedding: { space, left } } : {};
    const indexes = await lookAtIndexes(keepsake, print);
    const copies = lookAtCopies(isFile ? updateCopies(path) : [], print);
    print.result({ healthy: isWell, faults, ...waiting, ...indexes.json, ...copies.json }, () =>
      isWell
        ? [`All is well with ${path}.`]
        : table([
            ["count", "place", "problem"],
            ...faults.map((one) => [`${one.count}`, one.place, one.problem]),
          ]),
    );
    if (left > 0) {
      print.note(
        `${several(left, "text")} to be embedded by ${space}: \`keepsake serve\` does it meanwhile, \`keepsake reindex\` now.`,
      );
    }
    if (broken.length > 0) {
      print.note(
        `${several(broken.length, "fault")} in the receipts of erasures: \`keepsake audit\` says which.`,
      );
    }
    // A server of a database has its own, of which nothing is known here.
    if (isFile) print.note(ofBackups(backups));
    copies.tell();
    if (!isWell) print.note(ofRescue(isFile));
    indexes.tell();
    return isWell && indexes.areInOrder ? EXIT.done : EXIT.failed;
  });
}

function ofBackups(backups: readonly { readonly at: string }[]): string {
  const newest = backups
    .map(({ at }) => at)
    .sort()
    .at(-1);
  return newest === undefined
    ? "There is no backup of it yet: `keepsake backup FILE` makes one."
    : `The newest backup is of ${day(newest)}.`;
}

function lookAtCopies(
  copies: readonly UpdateCopy[],
  print: Printer,
): { readonly json: { readonly copies?: readonly UpdateCopy[] }; tell(): void } {
  return {
    json: copies.length > 0 ? { copies } : {},
    tell() {
      for (const copy of copies) print.note(ofCopy(copy));
    },
  };
}

function ofCopy({ name, until }: UpdateCopy): string {
  return `${name} is a copy from before an update. It is deleted on ${day(until)}, or at the next erasure.`;
}

function ofRescue(isFile: boolean): string {
  const back = isFile ? "Keep a copy of the file. `keepsake restore` takes a backup back; " : "";
  return `${back}\`keepsake export\` saves what can be read.`;
}
