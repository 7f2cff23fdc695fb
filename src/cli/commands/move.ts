import { readSettings } from "../../config/settings.ts";
import { copyStore } from "../../engine/whole/move.ts";
import { invalid } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { moveLedgerAndKeys, moveSecret } from "../moving/beside.ts";
import { openEndpoint, toEndpointKey } from "../moving/place.ts";
import { createPrinter, formatCount } from "../print.ts";
import { createProgressBar } from "../progress.ts";
import { type CommonOptions, reportErrors } from "../run.ts";

interface MoveCommandOptions extends CommonOptions {
  readonly to: string;
}

const STEP_NAMES = { copying: "copied", checking: "checked" } as const;

/** Copies the whole database into another, empty one, and checks by digest that both hold the same. */
export async function runMove(options: MoveCommandOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const [source, target] = [readSettings(undefined, options.db), readSettings(undefined, options.to)];
    if (toEndpointKey(source) === toEndpointKey(target)) throw invalid("move: both are the same database.");
    const from = await openEndpoint(source, "reads");
    try {
      const to = await openEndpoint(target, "writes");
      const bar = createProgressBar(print.json);
      try {
        moveSecret(from, to, source);
        const moved = await copyStore(from.record, to.record, {
          onProgress: (done, of, step) =>
            bar.show(done, of, `${STEP_NAMES[step]}, row ${done} of about ${of}`),
          beforeEnd: () => moveLedgerAndKeys(from, to),
        });
        bar.end();
        const { users = 0, messages = 0, memories = 0 } = moved.rows;
        if (moved.resumedAt > 0)
          print.note(`Went on after ${formatCount(moved.resumedAt, "row")} of an earlier run.`);
        print.result({ from: from.displayName, to: to.displayName, ...moved }, () => [
          `${formatCount(users, "user")}, ${formatCount(messages, "message")}, ${formatCount(memories, "memory", "memories")}: ${to.displayName} holds what ${from.displayName} holds.`,
          `Digest of both: ${moved.digest}`,
        ]);
        print.note(
          `${from.displayName} is as it was. Let nothing write to it any more, and delete it when you like.`,
        );
        return EXIT.done;
      } finally {
        bar.end();
        await to.close();
      }
    } finally {
      await from.close();
    }
  });
}
