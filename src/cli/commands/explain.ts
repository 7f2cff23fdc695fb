import type { ExplainedDrop, ExplainedItem, RecallExplanation } from "../../domain/recall-explanation.ts";
import { EXIT } from "../exit.ts";
import { dimText, formatDay, toShortLine } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

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
