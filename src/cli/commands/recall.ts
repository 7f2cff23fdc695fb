import type { Item, Recall } from "../../domain/recall.ts";
import { day, dim, short } from "../print.ts";
import { type CommonOptions, EXIT, withMemory } from "../run.ts";

interface RecallCommandOptions extends CommonOptions {
  readonly limit?: number;
  readonly asOf?: string;
  readonly explain?: boolean;
}

export async function recall(query: string, options: RecallCommandOptions): Promise<void> {
  await withMemory(options, async ({ memory, print }) => {
    const { limit, asOf, explain } = options;
    const found = await memory.recall(query, {
      ...(limit === undefined ? {} : { limit }),
      ...(asOf === undefined ? {} : { asOf }),
      ...(explain ? { explain } : {}),
    });
    if (found.abstained) print.note("Nothing relevant is known.");
    print.result(found, () => lines(found));
    return found.abstained ? EXIT.nothingFound : EXIT.done;
  });
}

function lines({ items, explanation }: Recall): string[] {
  const shown = items.flatMap((item) => [itemLine(item), ...whyLines(item)]);
  if (!explanation) return shown;
  const dropped = explanation.dropped
    .slice(0, 20)
    .map(({ id, score, why }) => `  ${id}  ${score.toFixed(3)}  ${why}`);
  return [
    ...shown,
    "",
    `Profile ${explanation.profile}; ${explanation.considered} considered; threshold ${explanation.threshold.toFixed(3)}.`,
    ...(dropped.length > 0 ? ["Dropped:", ...dropped] : []),
  ];
}

function itemLine({ score, at, type, status, text }: Item): string {
  const mark = status === "current" ? "" : ` (${status})`;
  return `${score.toFixed(2)}  ${day(at)}  ${type}${mark}  ${short(text, 160)}`;
}

function whyLines({ why, sources }: Item): string[] {
  if (!why) return [];
  const arms = Object.entries(why.arms).map(([arm, { rank }]) => `${arm} #${rank}`);
  const [source] = sources;
  return [
    dim(`      ${[arms.join(", "), why.words.join(" ")].filter(Boolean).join("; ")}`),
    ...(source ? [dim(`      “${short(source.quote)}”, ${source.role}, ${day(source.at)}`)] : []),
  ];
}
