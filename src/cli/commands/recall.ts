import type { Explanation, Item, Recall } from "../../domain/recall.ts";
import { EXIT } from "../exit.ts";
import { dimText, formatDay, toShortLine } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

interface RecallCommandOptions extends CommonOptions {
  readonly limit?: number;
  readonly asOf?: string;
  readonly knownAt?: string;
  readonly explain?: boolean;
}

export async function runRecall(query: string, options: RecallCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { limit, asOf, knownAt, explain } = options;
    const found = await memory.recall(query, {
      ...(limit === undefined ? {} : { limit }),
      ...(asOf === undefined ? {} : { asOf }),
      ...(knownAt === undefined ? {} : { knownAt }),
      ...(explain ? { explain } : {}),
    });
    if (found.abstained) print.note("Nothing relevant is known.");
    print.result(found, () => formatRecall(found));
    return found.abstained ? EXIT.nothingFound : EXIT.done;
  });
}

function formatRecall({ id, items, explanation }: Recall): string[] {
  const shown = items.flatMap((item) => [formatRecalledItem(item), ...formatItemReasons(item)]);
  return explanation
    ? [
        ...shown,
        ...formatExplanation(explanation),
        `Recall ${id}: \`keepsake explain\` tells it again later.`,
      ]
    : shown;
}

function formatRecalledItem({ score, at, type, status, text, sources }: Item): string {
  const mark = status === "current" ? "" : ` (${status})`;
  const [source] = sources;
  const speaker = type === "passage" && source ? `${toShortLine(source.name ?? source.role, 30)}: ` : "";
  return `${score.toFixed(2)}  ${formatDay(at)}  ${type.padEnd(7)}  ${speaker}${toShortLine(text)}${mark}`;
}

function formatItemReasons({ type, why, sources }: Item): string[] {
  if (!why) return [];
  const arms = Object.entries(why.arms).map(([arm, { rank }]) => `${arm} #${rank}`);
  const words = why.words.length > 0 ? `; shares ${why.words.join(", ")}` : "";
  const quotes = type === "memory" ? sources : [];
  return [
    dimText(`      ${arms.join(", ")}${words}`),
    ...quotes.map(({ quote, name, role, at }) =>
      dimText(`      “${toShortLine(quote, 100)}”  ${toShortLine(name ?? role, 30)}, ${formatDay(at)}`),
    ),
  ];
}

const MOST_DROPPED = 20;

function formatExplanation({ profile, considered, threshold, dropped }: Explanation): string[] {
  const shown = dropped
    .slice(0, MOST_DROPPED)
    .map(({ id, score, why }) => `  ${score.toFixed(3)}  ${toShortLine(id, 60)}  ${why}`);
  const more = dropped.length - shown.length;
  return [
    "",
    `${considered} considered; threshold ${threshold.toFixed(3)}; weights "${profile}".`,
    ...(shown.length > 0 ? ["Dropped:", ...shown] : []),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
