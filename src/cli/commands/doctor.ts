import { EXIT } from "../exit.ts";
import { day, several, short, table } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

export async function doctor(options: CommonOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print, path }) => {
    const faults = await keepsake.check();
    const isWell = faults.length === 0;
    print.result({ healthy: isWell, faults }, () =>
      isWell
        ? [`All is well with ${path}.`]
        : table([
            ["count", "place", "problem"],
            ...faults.map((one) => [`${one.count}`, one.place, one.problem]),
          ]),
    );
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
