import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Audit } from "../../engine/surface.ts";
import { EXIT } from "../exit.ts";
import { day, several, short, table } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

interface AuditOptions extends CommonOptions {
  readonly head?: string;
}

/** Whether what was erased is proved: exit status 1 where anything is wrong with that. */
export async function audit(options: AuditOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) => {
    const found = await keepsake.audit(options.head === undefined ? {} : { head: options.head });
    const isValid = found.broken.length === 0;
    print.result({ valid: isValid, ...found }, () => linesOf(found));
    return isValid ? EXIT.done : EXIT.failed;
  });
}

function linesOf({ receipts, broken, publicKey, head, backups }: Audit): string[] {
  return [
    ...table(receipts.map(rowOf)),
    ...(receipts.length > 0 ? [""] : []),
    ...broken.map(({ id, problem }) => (id === "" ? problem : `${id}: ${problem}`)),
    broken.length === 0
      ? `${several(receipts.length, "receipt")}; all hold.`
      : `${several(broken.length, "fault")} in ${several(receipts.length, "receipt")}.`,
    ...table([
      ["Public key", publicKey],
      ["Head", head],
      ...backups.map(({ name, at, until }) => [
        "Backup",
        `${short(name, 60)}, ${day(at)}${until === undefined ? "" : `, kept until ${day(until)}`}`,
      ]),
    ]),
  ];
}

function rowOf({ id, at, user, erased, complete, replays }: ErasureReceipt): string[] {
  const memories = several(erased.memories, "memory", "memories");
  const again = replays === undefined ? "" : " (again, on a backup)";
  const words = `words in ${several(erased.messages, "message")}`;
  return [
    id,
    day(at),
    short(user, 40),
    `${memories}, ${words}${again}${complete ? "" : " (not verified to the end)"}`,
  ];
}
