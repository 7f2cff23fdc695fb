import { EXIT } from "../exit.ts";
import { day, several, short, table } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

export async function doctor(options: CommonOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print, path }) => {
    const faults = await keepsake.check();
    const { space, left } = await keepsake.embedding();
    const isWell = faults.length === 0;
    const waiting = left > 0 ? { embedding: { space, left } } : {};
    print.result({ healthy: isWell, faults, ...waiting }, () =>
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
    if (!isWell) print.note("Keep a copy of the file. `keepsake export` saves what can be read.");
    return isWell ? EXIT.done : EXIT.failed;
  });
}

export async function audit(options: CommonOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) => {
    const { receipts, broken } = await keepsake.audit();
    print.result({ valid: broken.length === 0, receipts, broken }, () => [
      ...table(
        receipts.map(({ id, at, user, erased, complete }) => [
          id,
          day(at),
          short(user, 40),
          `${several(erased.memories, "memory", "memories")}, words in ${several(erased.messages, "message")}${complete ? "" : " (not verified)"}`,
        ]),
      ),
      ...broken.map(({ id, problem }) => `${id}: ${problem}`),
      broken.length === 0
        ? `${several(receipts.length, "receipt")}; the chain holds.`
        : `${several(broken.length, "fault")} in ${several(receipts.length, "receipt")}.`,
    ]);
    return broken.length === 0 ? EXIT.done : EXIT.failed;
  });
}
