import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Audit } from "../../engine/surface.ts";
import { EXIT } from "../exit.ts";
import { formatCount, formatDay, formatTable, toShortLine } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

interface AuditCommandOptions extends CommonOptions {
  readonly head?: string;
}

/** Whether what was erased is proved: exit status 1 where anything is wrong with that. */
export async function runAudit(options: AuditCommandOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) => {
    const found = await keepsake.audit(options.head === undefined ? {} : { head: options.head });
    const isValid = found.broken.length === 0;
    print.result({ valid: isValid, ...found }, () => formatAudit(found));
    return isValid ? EXIT.done : EXIT.failed;
  });
}

function formatAudit({ receipts, broken, publicKey, head, backups }: Audit): string[] {
  return [
    ...formatTable(receipts.map(formatAuditRow)),
    ...(receipts.length > 0 ? [""] : []),
    ...broken.map(({ id, problem }) => (id === "" ? problem : `${id}: ${problem}`)),
    broken.length === 0
      ? `${formatCount(receipts.length, "receipt")}; all hold.`
      : `${formatCount(broken.length, "fault")} in ${formatCount(receipts.length, "receipt")}.`,
    ...formatTable([
      ["Public key", publicKey],
      ["Head", head],
      ...backups.map(({ name, at, until }) => [
        "Backup",
        `${toShortLine(name, 60)}, ${formatDay(at)}${until === undefined ? "" : `, kept until ${formatDay(until)}`}`,
      ]),
    ]),
  ];
}

function formatAuditRow({ id, at, user, erased, complete, replays }: ErasureReceipt): string[] {
  const memories = formatCount(erased.memories, "memory", "memories");
  const again = replays === undefined ? "" : " (again, on a backup)";
  const words = `words in ${formatCount(erased.messages, "message")}`;
  return [
    id,
    formatDay(at),
    toShortLine(user, 40),
    `${memories}, ${words}${again}${complete ? "" : " (not verified to the end)"}`,
  ];
}
