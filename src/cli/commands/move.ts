import { readSettings } from "../../config/settings.ts";
import { moveWhole } from "../../engine/whole/move.ts";
import { invalid } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { moveBeside, moveSecret } from "../moving/beside.ts";
import { keyOf, openPlace } from "../moving/place.ts";
import { printer, several } from "../print.ts";
import { progress } from "../progress.ts";
import { type CommonOptions, reporting } from "../run.ts";

interface MoveOptions extends CommonOptions {
  readonly to: string;
}

const STEPS = { copying: "copied", checking: "checked" } as const;

/** Copies the whole database into another, empty one, and checks by digest that both hold the same. */
export async function moveTo(options: MoveOptions): Promise<void> {
  const print = printer(options.json ?? false);
  await reporting(print, async () => {
    const [source, target] = [readSettings(undefined, options.db), readSettings(undefined, options.to)];
    if (keyOf(source) === keyOf(target)) throw invalid("move: both are the same database.");
    const from = await openPlace(source, "reads");
    try {
      const to = await openPlace(target, "writes");
      const bar = progress(print.json);
      try {
        moveSecret(from, to, source);
        const moved = await moveWhole(from.record, to.record, {
          onProgress: (done, of, step) => bar.show(done, of, `${STEPS[step]}, row ${done} of about ${of}`),
          beforeEnd: () => moveBeside(from, to),
        });
        bar.end();
        const { users = 0, messages = 0, memories = 0 } = moved.rows;
        if (moved.resumedAt > 0)
          print.note(`Went on after ${several(moved.resumedAt, "row")} of an earlier run.`);
        print.result({ from: from.shown, to: to.shown, ...moved }, () => [
          `${several(users, "user")}, ${several(messages, "message")}, ${several(memories, "memory", "memories")}: ${to.shown} holds what ${from.shown} holds.`,
          `Digest of both: ${moved.digest}`,
        ]);
        print.note(
          `${from.shown} is as it was. Let nothing write to it any more, and delete it when you like.`,
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
