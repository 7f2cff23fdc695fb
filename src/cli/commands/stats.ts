import type { BudgetState, CallTotals, Usage, UsageBy, UsageRow } from "../../domain/model-usage.ts";
import { EXIT } from "../exit.ts";
import { formatCount, formatDay, formatTable, toShortLine } from "../printer.ts";
import { type CommonOptions, withMemory } from "../with-memory.ts";

interface StatsCommandOptions extends CommonOptions {
  readonly by?: UsageBy;
  readonly since?: string;
  readonly until?: string;
  readonly ofUser?: boolean;
}

/** What calls to models came to: of the whole project, or of one user. */
export async function runStats(options: StatsCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ keepsake, memory, print }) => {
    const { by, since, until, project } = options;
    const asked = {
      ...(by === undefined ? {} : { by }),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    };
    if (options.ofUser) {
      const held = await memory.stats(asked);
      print.result(held, () => [
        `${formatCount(held.current, "memory", "memories")} from ${formatCount(held.messages, "message")}` +
          `${held.pending > 0 ? `, of which ${held.pending} wait to be understood` : ""}.`,
        ...formatUsage(held.usage),
      ]);
      return EXIT.done;
    }
    const held = await keepsake.stats({ ...asked, ...(project === undefined ? {} : { project }) });
    print.result(held, () => [`${formatCount(held.users, "user")}.`, ...formatUsage(held.usage)]);
    return EXIT.done;
  });
}

function formatUsage(usage: Usage): string[] {
  const { failures, budgets, calls, chat, since } = usage;
  const isNothing = calls + chat.calls === 0;
  return [
    ...(isNothing
      ? [`No model was asked${since === undefined ? "" : ` since ${formatDay(since)}`}.`]
      : ["", ...formatSpending(usage)]),
    ...formatSection(
      "Failures",
      failures.map((one) => [one.purpose, toShortLine(one.model, 60), one.outcome, formatNumber(one.calls)]),
    ),
    ...formatSection("Budgets", budgets.map(formatBudget)),
  ];
}

function formatSpending(usage: Usage): string[] {
  const { rows, turns, chat, cost, unpriced, costPerThousandTurns: perThousand } = usage;
  const all = chat.calls > 0 ? "all but the chat" : "all";
  return [
    ...formatTable([
      ["", "calls", "failed", "tokens in", "cached", "tokens out", "cost"],
      ...rows.map(formatUsageRow),
      [all, ...formatTotals(usage)],
    ]),
    "",
    perThousand === undefined
      ? `Cost: ${formatDollars(cost)}.`
      : `Cost: ${formatDollars(cost)} for ${formatCount(turns, "turn")}, ${formatDollars(perThousand)} for 1,000 turns.`,
    ...(chat.calls > 0 ? [`The chat that was passed on is not in it: ${formatDollars(chat.cost)}.`] : []),
    ...(unpriced > 0
      ? [
          `${formatCount(unpriced, "call")} without a price: KEEPSAKE_PRICES names a file that says what they cost.`,
        ]
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
  const rest = left > 0 ? `${show(left)} left` : "used up: what needs a model waits";
  return [`each ${of}, each ${per}`, `${show(spent)} of ${show(limit)}`, rest, `until ${formatDay(until)}`];
}

function formatNumber(value: number): string {
  return value.toLocaleString("en");
}

/** Cents; of what is less than a dollar, also the places behind them that say something. */
function formatDollars(value: number): string {
  const places = value > 0 && value < 1 ? Math.min(9, 2 - Math.floor(Math.log10(value))) : 2;
  return `$${value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: places })}`;
}
