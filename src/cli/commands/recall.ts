import type {
  Answer,
  AnsweredBy,
  AnswerTrouble,
  ExplainedDrop,
  ExplainedItem,
  Explanation,
  Item,
  Recall,
  RecallExplanation,
  Source,
} from "../../domain/recall.ts";
import type { ScopedMemory } from "../../engine/api.ts";
import { isMemoryError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { dimText, formatDay, toShortLine } from "../printer.ts";
import { type CommonOptions, withMemory } from "../with-memory.ts";

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

interface AnswerCommandOptions extends CommonOptions {
  readonly asOf?: string;
  readonly knownAt?: string;
}

export async function runAnswer(question: string, options: AnswerCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { asOf, knownAt } = options;
    const given = await memory.answer(question, {
      ...(asOf === undefined ? {} : { asOf }),
      ...(knownAt === undefined ? {} : { knownAt }),
    });
    print.result(given, () => [given.text]);
    const why = explainModelTrouble(given);
    if (why) print.note(why);
    // What it rests on is for a person who looks at it, not for what the answer is piped into.
    if (process.stderr.isTTY)
      for (const line of await formatAnswerSources(memory, given, process.stderr)) print.note(line);
    return given.abstained ? EXIT.nothingFound : EXIT.done;
  });
}

interface ExplainCommandOptions extends CommonOptions {
  readonly about?: string;
}

/** Why an earlier recall gave what it gave; with `--about`, why one thing was or was not among it. */
export async function runExplain(id: string, options: ExplainCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { about } = options;
    const explained = await memory.explain(id, about === undefined ? {} : { about });
    print.result(explained, () => formatRecallExplanation(explained));
    return EXIT.done;
  });
}

function formatRecallExplanation(explained: RecallExplanation): string[] {
  const { about, items, dropped, used } = explained;
  if (about) return [about.text];
  return [
    formatHeading(explained),
    formatBounds(explained),
    ...(items.length > 0 ? ["", "Given, best first:"] : ["", "Nothing was given."]),
    ...items.flatMap((item, i) => formatExplainedItem(item, i + 1, used?.includes(item.id) === true)),
    ...(dropped.length > 0 ? ["", "Left out:", ...dropped.map(formatExplainedDrop)] : []),
  ].filter((line, i, all) => line !== "" || all[i - 1] !== "");
}

function formatHeading({
  kind,
  at,
  session,
  message,
  revision,
  considered,
  threshold,
  profile,
}: RecallExplanation): string {
  const where = [
    ...(session === undefined ? [] : [`in session ${toShortLine(session, 60)}`]),
    ...(message === undefined ? [] : [`asked by message ${toShortLine(message, 60)}`]),
  ];
  const what = kind === "answer" ? "An answer" : "A recall";
  return (
    `${[what, `of ${at.slice(0, 16).replace("T", " ")}`, ...where].join(" ")}, on revision ${revision}: ` +
    `${considered} considered; threshold ${threshold.toFixed(3)}; weights "${profile}".`
  );
}

function formatBounds({ bounds }: RecallExplanation): string {
  const { limit, minScore, asOf, knownAt, session, agent, kinds, types, where } = bounds;
  const said = [
    `limit ${limit}`,
    ...(minScore > 0 ? [`score at least ${minScore}`] : []),
    ...(asOf === undefined ? [] : [`true on ${formatDay(asOf)}`]),
    ...(knownAt === undefined ? [] : [`known on ${formatDay(knownAt)}`]),
    ...(session === undefined ? [] : [`session ${toShortLine(session, 60)}`]),
    ...(agent === undefined ? [] : [`agent ${toShortLine(agent, 60)}`]),
    ...(kinds ? [`kinds ${kinds.join(", ")}`] : []),
    ...(types ? [`types ${types.join(", ")}`] : []),
    ...(where ? ["a filter"] : []),
  ];
  return `Bounded by ${said.join("; ")}.`;
}

function formatExplainedItem(item: ExplainedItem, place: number, isUsed: boolean): string[] {
  const number = String(place).padStart(3);
  if (item.now === "erased") return [`${number}  erased`];
  const arms = Object.entries(item.arms).map(([arm, { rank }]) => `${arm} #${rank}`);
  const parts = Object.entries(item.parts)
    .sort(([, one], [, other]) => other - one)
    .slice(0, 4)
    .map(([part, value]) => `${part} ${value.toFixed(2)}`);
  const marks = [
    ...(isUsed ? ["the answer rests on it"] : []),
    ...(item.status === "current" ? [] : [`${item.status} then`]),
    ...(item.now === "current" ? [] : [`${item.now} now`]),
  ];
  const mark = marks.length > 0 ? ` (${marks.join("; ")})` : "";
  const [source] = item.sources;
  return [
    `${number}  ${item.score.toFixed(2)}  ${toShortLine(item.text)}${mark}`,
    dimText(`           ${arms.join(", ")}${parts.length > 0 ? `; ${parts.join(", ")}` : ""}`),
    ...(source && item.type === "memory"
      ? [dimText(`           “${toShortLine(source.quote, 100)}”  ${formatDay(source.at)}`)]
      : []),
  ];
}

function formatExplainedDrop(one: ExplainedDrop): string {
  if (one.now === "erased") return "     erased";
  return `     ${one.score.toFixed(3)}  ${toShortLine(one.id, 60)}  ${one.why}`;
}

/** What an answer rests on, a line for each quote, dimmed. */
export async function formatAnswerSources(
  memory: ScopedMemory,
  { used, recall }: Answer,
  stream: NodeJS.WriteStream,
): Promise<string[]> {
  const lines: string[] = [];
  for (const id of used) {
    const sources = recall.items.find((item) => item.id === id)?.sources ?? (await findSources(memory, id));
    for (const { quote, at, role, name } of sources) {
      lines.push(
        dimText(`  “${toShortLine(quote, 100)}”  ${toShortLine(name ?? role, 30)}, ${formatDay(at)}`, stream),
      );
    }
  }
  return [...new Set(lines)];
}

async function findSources(memory: ScopedMemory, id: string): Promise<readonly Source[]> {
  try {
    return (await memory.get(id)).sources;
  } catch (error) {
    // It was forgotten since the answer was given.
    if (isMemoryError(error) && error.code === "not_found") return [];
    throw error;
  }
}

const TROUBLE_TEXTS: { readonly [trouble in AnswerTrouble]: string } = {
  unavailable: "The model cannot be reached",
  slow: "The model took too long",
  over_quota: "The budget for the model is used up",
  refused: "The model refused",
  empty: "The model said nothing",
  ungrounded: "The model named nothing that is known",
  cut: "The model was cut off",
  failed: "The model could not be asked",
};

/** Why an answer is from memory alone, for a person; nothing where it is not, or nobody was asked. */
export function explainModelTrouble({ by, trouble }: AnsweredBy): string | undefined {
  return by === "memory" && trouble ? `${TROUBLE_TEXTS[trouble]}, so this is from memory alone.` : undefined;
}
