import type { BudgetState, CallTotals, Usage, UsageBy, UsageRow } from "../../../domain/model-usage.ts";
import { EXIT } from "../../exit.ts";
import { formatCount, formatDay, formatTable, toShortLine } from "../../printer.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface StatsCommandOptions extends CommonOptions {
  readonly by?: UsageBy;
  readonly since?: string;
  readonly until?: string;
  readonly ofUser?: boolean;
}

/** Prints the cost of model calls for a project or for one user. */
export async function runStats(options: StatsCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ keepsake, memory, print }) => {
    const { by, since, until, project } = options;
    const filter = {
      ...(by === undefined ? {} : { by }),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    };
    if (options.ofUser) {
      const stats = await memory.stats(filter);
      print.result(stats, () => [
        `${formatCount(stats.current, "memory", "memories")} from ${formatCount(stats.messages, "message")}` +
          `${stats.pending > 0 ? `; ${stats.pending} not processed yet` : ""}` +
          `${stats.review > 0 ? `; ${stats.review} to review` : ""}.`,
        ...formatUsage(stats.usage),
      ]);
      return EXIT.done;
    }
    const stats = await keepsake.stats({ ...filter, ...(project === undefined ? {} : { project }) });
    print.result(stats, () => [`${formatCount(stats.users, "user")}.`, ...formatUsage(stats.usage)]);
    return EXIT.done;
  });
}

function formatUsage(usage: Usage): string[] {
  const { failures, budgets, calls, chat, since } = usage;
  const isNothing = calls + chat.calls === 0;
  return [
    ...(isNothing
      ? [`No model calls${since === undefined ? "" : ` since ${formatDay(since)}`}.`]
      : ["", ...formatSpending(usage)]),
    ...formatSection(
      "Failures",
      failures.map((failure) => [
        failure.purpose,
        toShortLine(failure.model, 60),
        failure.outcome,
        formatNumber(failure.calls),
      ]),
    ),
    ...formatSection("Budgets", budgets.map(formatBudget)),
  ];
}

function formatSpending(usage: Usage): string[] {
  const { rows, turns, chat, cost, unpriced, costPerThousandTurns: perThousand } = usage;
  const totalLabel = chat.calls > 0 ? "total without chat" : "total";
  return [
    ...formatTable([
      ["", "calls", "failed", "tokens in", "cached", "tokens out", "cost"],
      ...rows.map(formatUsageRow),
      [totalLabel, ...formatTotals(usage)],
    ]),
    "",
    perThousand === undefined
      ? `Cost: ${formatDollars(cost)}.`
      : `Cost: ${formatDollars(cost)} for ${formatCount(turns, "turn")}, ${formatDollars(perThousand)} for 1,000 turns.`,
    ...(chat.calls > 0
      ? [`Not included, chat calls that the proxy forwarded: ${formatDollars(chat.cost)}.`]
      : []),
    ...(unpriced > 0
      ? [`${formatCount(unpriced, "call")} without a price: set KEEPSAKE_PRICES to a file with prices.`]
      : []),
  ];
}

function formatSection(title: string, rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ["", `${title}:`, ...formatTable(rows)];
}

function formatUsageRow(row: UsageRow): string[] {
  const { purpose, model, day: date } = row;
  const name = [purpose, model === undefined ? undefined : toShortLine(model, 60), date]
    .filter(Boolean)
    .join("  ");
  return [name, ...formatTotals(row)];
}

function formatTotals({
  calls,
  failed,
  tokensIn,
  tokensCached,
  tokensOut,
  cost,
  unpriced,
}: CallTotals): string[] {
  const price = unpriced === calls && calls > 0 ? "no price" : formatDollars(cost);
  return [calls, failed, tokensIn, tokensCached, tokensOut].map(formatNumber).concat(price);
}

function formatBudget({ of, per, unit, limit, spent, left, until }: BudgetState): string[] {
  const show = unit === "usd" ? formatDollars : (value: number): string => `${formatNumber(value)} tokens`;
  const rest = left > 0 ? `${show(left)} left` : "used up: work that needs a model waits";
  return [`each ${of}, each ${per}`, `${show(spent)} of ${show(limit)}`, rest, `until ${formatDay(until)}`];
}

function formatNumber(value: number): string {
  return value.toLocaleString("en");
}

/** Formats dollars with cents; below one dollar, with more decimal places if they matter. */
function formatDollars(value: number): string {
  const places = value > 0 && value < 1 ? Math.min(9, 2 - Math.floor(Math.log10(value))) : 2;
  return `$${value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: places })}`;
}
