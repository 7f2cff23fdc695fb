import type { WhereText } from "../../../domain/filters/text-filter.ts";
import type { Kind, KindGroup } from "../../../domain/memory.ts";
import type {
  Answer,
  AnsweredBy,
  AnswerTrouble,
  ExplainedDrop,
  ExplainedItem,
  Explanation,
  Item,
  RankingWeights,
  Recall,
  RecallExplanation,
  RecallOptions,
  Reranking,
  RerankOutcome,
  ScoreParts,
  Source,
  Why,
} from "../../../domain/recall.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { isMemoryError } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import { dimText, formatDay, toShortLine } from "../../printer.ts";
import { findItemId } from "../../short-ids.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface RecallCommandOptions extends CommonOptions {
  readonly limit?: number;
  readonly asOf?: string;
  readonly knownAt?: string;
  readonly explain?: boolean;
  readonly whereText?: WhereText;
  readonly kind?: Kind | KindGroup;
  readonly profile?: string;
  readonly weights?: RankingWeights;
}

export async function runRecall(query: string, options: RecallCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const found = await memory.recall(query, toRecallOptions(options));
    if (found.abstained) print.note("No relevant memories found.");
    print.result(found, () => formatRecall(found));
    return found.abstained ? EXIT.nothingFound : EXIT.done;
  });
}

function toRecallOptions(options: RecallCommandOptions): RecallOptions {
  const { limit, asOf, knownAt, explain, whereText, kind, profile, weights } = options;
  const given = {
    limit,
    asOf,
    knownAt,
    explain,
    profile,
    weights,
    whereText,
    kinds: kind === undefined ? undefined : [kind],
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function formatRecall({ id, items, explanation }: Recall): string[] {
  const shown = items.flatMap((item) => [formatRecalledItem(item), ...formatItemReasons(item)]);
  return explanation
    ? [
        ...shown,
        ...formatExplanation(explanation),
        `Recall ${id}: \`keepsake explain\` shows this again later.`,
      ]
    : shown;
}

function formatRecalledItem({ score, at, type, status, text, sources, owner }: Item): string {
  const mark =
    owner === undefined
      ? status === "current"
        ? ""
        : ` (${status})`
      : ` (shared by ${toShortLine(owner, 30)})`;
  const [source] = sources;
  const speaker = type === "passage" && source ? `${toShortLine(source.name ?? source.role, 30)}: ` : "";
  return `${score.toFixed(2)}  ${formatDay(at)}  ${type.padEnd(7)}  ${speaker}${toShortLine(text)}${mark}`;
}

function formatItemReasons({ type, why, sources }: Item): string[] {
  if (!why) return [];
  const ranks = Object.entries(why.arms).map(([retriever, { rank }]) => `${retriever} #${rank}`);
  const words = why.words.length > 0 ? `; shares ${why.words.join(", ")}` : "";
  const quotes = type === "memory" ? sources : [];
  return [
    dimText(`      ${ranks.join(", ")}${words}`),
    ...[...formatScoreParts(why), ...formatReranked(why)].map((line) => dimText(`      ${line}`)),
    ...quotes.map(({ quote, name, role, at }) =>
      dimText(`      “${toShortLine(quote, 100)}”  ${toShortLine(name ?? role, 30)}, ${formatDay(at)}`),
    ),
  ];
}

/** The score as a sum and factors; factors of 1 change nothing and are left out. */
function formatScoreParts({ adds, factors }: ScoreParts): string[] {
  if (!adds || !factors) return [];
  const show = ([name, value]: [string, number]): string => `${name} ${value.toFixed(3)}`;
  const sum = Object.entries(adds).map(show).join(" + ");
  const changing = Object.entries(factors).filter(([, factor]) => Math.abs(factor - 1) >= 0.0005);
  return [[sum, ...changing.map(show)].join(" × ")];
}

function formatReranked({ reranked }: Why): string[] {
  return reranked ? [`reranker #${reranked.rank}, ${reranked.score.toFixed(3)}`] : [];
}

const MOST_DROPPED = 20;

const RERANK_OUTCOME_TEXTS: { readonly [outcome in RerankOutcome]: string } = {
  reranked: "reordered them",
  late: "took too long, so the order stayed",
  failed: "failed, so the order stayed",
  busy: "has too many requests, so the order stayed",
};

function formatReranking(reranking: Reranking | undefined): string[] {
  if (!reranking || reranking.candidates === 0) return [];
  const { name, outcome, error, candidates } = reranking;
  const code = error === undefined ? "" : ` (${error})`;
  return [`The reranker ${name} was given ${candidates}; it ${RERANK_OUTCOME_TEXTS[outcome]}${code}.`];
}

function formatExplanation({ profile, considered, threshold, reranking, dropped }: Explanation): string[] {
  const shown = dropped
    .slice(0, MOST_DROPPED)
    .map(({ id, score, why }) => `  ${score.toFixed(3)}  ${toShortLine(id, 60)}  ${why}`);
  const more = dropped.length - shown.length;
  return [
    "",
    `${considered} considered; threshold ${threshold.toFixed(3)}; weights "${profile}".`,
    ...formatReranking(reranking),
    ...(shown.length > 0 ? ["Dropped:", ...shown] : []),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

interface ContextCommandOptions extends CommonOptions {
  readonly maxTokens?: number;
  readonly asOf?: string;
  readonly whereText?: WhereText;
}

/** Prints what a model is told before it answers a request. */
export async function runContext(request: string, options: ContextCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { maxTokens, asOf, whereText } = options;
    const context = await memory.context(request, {
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(asOf === undefined ? {} : { asOf }),
      ...(whereText === undefined ? {} : { whereText }),
    });
    if (context.text === "") print.note("Nothing is known that bears on this.");
    print.result(context, () => context.text.split("\n").filter((line) => line !== ""));
    if (context.left > 0) print.note(`${context.left} more did not fit into ${context.tokens} tokens.`);
    return context.text === "" ? EXIT.nothingFound : EXIT.done;
  });
}

interface AnswerCommandOptions extends CommonOptions {
  readonly asOf?: string;
  readonly knownAt?: string;
  readonly whereText?: WhereText;
}

export async function runAnswer(question: string, options: AnswerCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { asOf, knownAt, whereText } = options;
    const answer = await memory.answer(question, {
      ...(asOf === undefined ? {} : { asOf }),
      ...(knownAt === undefined ? {} : { knownAt }),
      ...(whereText === undefined ? {} : { whereText }),
    });
    print.result(answer, () => [answer.text]);
    const why = explainModelTrouble(answer);
    if (why) print.note(why);
    // Sources are shown to people only, not to a program that reads the answer.
    if (process.stderr.isTTY)
      for (const line of await formatAnswerSources(memory, answer, process.stderr)) print.note(line);
    return answer.abstained ? EXIT.nothingFound : EXIT.done;
  });
}

interface ExplainCommandOptions extends CommonOptions {
  readonly about?: string;
}

/** Explains the result of an earlier recall; with `--about`, why one item was or was not in it. */
export async function runExplain(id: string, options: ExplainCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { about } = options;
    const explained = await memory.explain(
      id,
      about === undefined ? {} : { about: await findItemId(memory, about) },
    );
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
    ...(items.length > 0 ? ["", "Returned, best first:"] : ["", "Nothing was returned."]),
    ...items.flatMap((item, i) => formatExplainedItem(item, i + 1, used?.includes(item.id) === true)),
    ...(dropped.length > 0 ? ["", "Dropped:", ...dropped.map(formatExplainedDrop)] : []),
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
  const parts = [
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
  return `Limits: ${parts.join("; ")}.`;
}

function formatExplainedItem(item: ExplainedItem, place: number, isUsed: boolean): string[] {
  const number = String(place).padStart(3);
  if (item.now === "erased") return [`${number}  erased`];
  const ranks = Object.entries(item.arms).map(([retriever, { rank }]) => `${retriever} #${rank}`);
  const parts = Object.entries(item.parts)
    .sort(([, one], [, other]) => other - one)
    .slice(0, 4)
    .map(([part, value]) => `${part} ${value.toFixed(2)}`);
  const marks = [
    ...(isUsed ? ["used in the answer"] : []),
    ...(item.status === "current" ? [] : [`${item.status} then`]),
    ...(item.now === "current" ? [] : [`${item.now} now`]),
  ];
  const mark = marks.length > 0 ? ` (${marks.join("; ")})` : "";
  const [source] = item.sources;
  return [
    `${number}  ${item.score.toFixed(2)}  ${toShortLine(item.text)}${mark}`,
    dimText(`           ${ranks.join(", ")}${parts.length > 0 ? `; ${parts.join(", ")}` : ""}`),
    ...(source && item.type === "memory"
      ? [dimText(`           “${toShortLine(source.quote, 100)}”  ${formatDay(source.at)}`)]
      : []),
  ];
}

function formatExplainedDrop(drop: ExplainedDrop): string {
  if (drop.now === "erased") return "     erased";
  return `     ${drop.score.toFixed(3)}  ${toShortLine(drop.id, 60)}  ${drop.why}`;
}

/** Gives the sources of an answer: a dimmed line for each quote. */
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
    // The memory was erased after the answer.
    if (isMemoryError(error) && error.code === "not_found") return [];
    throw error;
  }
}

const TROUBLE_TEXTS: { readonly [trouble in AnswerTrouble]: string } = {
  unavailable: "The model cannot be reached",
  slow: "The model took too long",
  over_quota: "The budget for the model is used up",
  refused: "The model refused",
  empty: "The model gave no answer",
  ungrounded: "The model's answer was not based on memory",
  cut: "The model's answer was cut off",
  failed: "The call to the model failed",
  busy: "Too many others were being answered",
};

/** Explains why an answer is from memory alone; `undefined` if it is not, or if no model was called. */
export function explainModelTrouble({ by, trouble }: AnsweredBy): string | undefined {
  return by === "memory" && trouble ? `${TROUBLE_TEXTS[trouble]}, so this is from memory alone.` : undefined;
}
