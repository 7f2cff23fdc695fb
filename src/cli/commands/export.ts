import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { type CommonOptions, EXIT, withMemory } from "../run.ts";

/** JSON lines: to a file (mode 0600, for it holds what people said), or to stdout. */
export async function exportTo(file: string | undefined, options: CommonOptions): Promise<void> {
  await withMemory(options, async ({ memory, print }) => {
    const target = file === undefined ? process.stdout : createWriteStream(file, { mode: 0o600 });
    let lines = 0;
    for await (const line of memory.export()) {
      lines += 1;
      if (!target.write(`${JSON.stringify(line)}\n`)) await once(target, "drain");
    }
    if (file === undefined) return EXIT.done;
    target.end();
    await finished(target);
    print.result({ file, lines }, () => [`${lines} lines in ${file}.`]);
    return EXIT.done;
  });
}
