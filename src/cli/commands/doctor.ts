import { type CommonOptions, EXIT, withMemory } from "../run.ts";

export async function doctor(options: CommonOptions): Promise<void> {
  await withMemory(options, async ({ keepsake, print }) => {
    const faults = await keepsake.check();
    const isWell = faults.length === 0;
    print.result({ healthy: isWell, faults }, () =>
      isWell ? ["All is well."] : faults.map(({ place, problem, count }) => `${count} ${place} ${problem}`),
    );
    return isWell ? EXIT.done : EXIT.failed;
  });
}

export async function audit(options: CommonOptions): Promise<void> {
  await withMemory(options, async ({ keepsake, print }) => {
    const { receipts, broken } = await keepsake.audit();
    print.result({ valid: broken.length === 0, receipts, broken }, () => [
      ...receipts.map(
        ({ id, at, user, erased }) =>
          `${id}  ${at.slice(0, 10)}  ${user}  ${erased.memories} memories, ${erased.messages} messages`,
      ),
      ...broken.map(({ id, problem }) => `${id}: ${problem}`),
      broken.length === 0
        ? `${receipts.length} receipts, the chain holds.`
        : `${broken.length} faults in ${receipts.length} receipts.`,
    ]);
    return broken.length === 0 ? EXIT.done : EXIT.failed;
  });
}
