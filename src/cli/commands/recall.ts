import type { Explanation, Item, Recall } from "../../domain/recall.ts";
import { EXIT } from "../exit.ts";
import { day, dim, short } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

interface RecallCommandOptions extends CommonOptions {
  readonly limit?: number;
  readonly asOf?: string;
  readonly knownAt?: string;
  readonly explain?: boolean;
}

export async function recall(query: string, options: RecallCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { limit, asOf, knownAt, explain } = options;
    const found = await memory.recall(query, {
      ...(limit === undefined ? {} : { limit }),
      ...(asOf === undefined ? {} : { asOf }),
      ...(knownAt === undefined ? {} : { knownAt }),
      ...(explain ? { explain } : {}),
    });
    if (found.abstained) print.note("Nothing relevant is known.");
    print.result(found, () => lines(found));
    return found.abstained ? EXIT.nothingFound : EXIT.done;
  });
}

function lines({ id, items, explanation }: Recall): string[] {
  const shown = items.flatMap((item) => [itemLine(item), ...whyLines(item)]);
  return explanation
    ? [...shown, ...explanationLines(explanation), `Recall ${id}: \`keepsake explain\` tells it again later.`]
    : shown;
}

function itemLine({ score, at, type, status, text, sources }: Item): string {
  const mark = status === "current" ? "" : ` (${status})`;
  const [source] = sources;
  const speaker = type === "passage" && source ? `${short(source.name ?? source.role, 30)}: ` : "";
  return `${score.toFixed(2)}  ${day(at)}  ${type.padEnd(7)}  ${speaker}${short(text)}${mark}`;
}

function whyLines({ type, why, sources }: Item): string[] {
  if (!why) return [];
  const arms = Object.entries(why.arms).map(([arm, { rank }]) => `${arm} #${rank}`);
  const words = why.words.length > 0 ? `; shares ${why.words.join(", ")}` : "";
  const quotes = type === "memory" ? sources : [];
  return [
    dim(`      ${arms.join(", ")}${words}`),
    ...quotes.map(({ quote, name, role, at }) =>
      dim(`      “${short(quote, 100)}”  ${short(name ?? role, 30)}, ${day(at)}`),
    ),
  ];
}

const MOST_DROPPED = 20;

function explanationLines({ profile, considered, threshold, dropped }: Explanation): string[] {
  const shown = dropped
    .slice(0, MOST_DROPPED)
    .map(({ id, score, why }) => `  ${score.toFixed(3)}  ${short(id, 60)}  ${why}`);
  const more = dropped.length - shown.length;
  return [
    "",
    `${considered} considered; threshold ${threshold.toFixed(3)}; weights "${profile}".`,
    ...(shown.length > 0 ? ["Dropped:", ...shown] : []),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
