import type { BudgetState } from "../../domain/budget.ts";
import type { CallTotals, Usage, UsageBy, UsageRow } from "../../domain/stats.ts";
import { EXIT } from "../exit.ts";
import { day, several, short, table } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

interface StatsCommandOptions extends CommonOptions {
  readonly by?: UsageBy;
  readonly since?: string;
  readonly until?: string;
  readonly ofUser?: boolean;
}

/** What calls to models came to: of the whole project, or of one user. */
export async function stats(options: StatsCommandOptions): Promise<void> {
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
        `${several(held.current, "memory", "memories")} from ${several(held.messages, "message")}` +
          `${held.pending > 0 ? `, of which ${held.pending} wait to be understood` : ""}.`,
        ...linesOf(held.usage),
      ]);
      return EXIT.done;
    }
    const held = await keepsake.stats({ ...asked, ...(project === undefined ? {} : { project }) });
    print.result(held, () => [`${several(held.users, "user")}.`, ...linesOf(held.usage)]);
    return EXIT.done;
  });
}

function linesOf(usage: Usage): string[] {
  const { failures, budgets, calls, chat, since } = usage;
  const isNothing = calls + chat.calls === 0;
  return [
    ...(isNothing
      ? [`No model was asked${since === undefined ? "" : ` since ${day(since)}`}.`]
      : ["", ...spending(usage)]),
    ...section(
      "Failures",
      failures.map((one) => [one.purpose, short(one.model, 60), one.outcome, number(one.calls)]),
    ),
    ...section("Budgets", budgets.map(budgetOf)),
  ];
}

function spending(usage: Usage): string[] {
  const { rows, turns, chat, cost, unpriced, costPerThousandTurns: perThousand } = usage;
  const all = chat.calls > 0 ? "all but the chat" : "all";
  return [
    ...table([
      ["", "calls", "failed", "tokens in", "cached", "tokens out", "cost"],
      ...rows.map(rowOf),
      [all, ...numbersOf(usage)],
    ]),
    "",
    perThousand === undefined
      ? `Cost: ${dollars(cost)}.`
      : `Cost: ${dollars(cost)} for ${several(turns, "turn")}, ${dollars(perThousand)} for 1,000 turns.`,
    ...(chat.calls > 0 ? [`The chat that was passed on is not in it: ${dollars(chat.cost)}.`] : []),
    ...(unpriced > 0
      ? [
          `${several(unpriced, "call")} without a price: KEEPSAKE_PRICES names a file that says what they cost.`,
        ]
      : []),
  ];
}

function section(title: string, rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ["", `${title}:`, ...table(rows)];
}

function rowOf(row: UsageRow): string[] {
  const { purpose, model, day: date } = row;
  const name = [purpose, model === undefined ? undefined : short(model, 60), date].filter(Boolean).join("  ");
  return [name, ...numbersOf(row)];
}

function numbersOf({
  calls,
  failed,
  tokensIn,
  tokensCached,
  tokensOut,
  cost,
  unpriced,
}: CallTotals): string[] {
  const price = unpriced === calls && calls > 0 ? "no price" : dollars(cost);
  return [calls, failed, tokensIn, tokensCached, tokensOut].map(number).concat(price);
}

function budgetOf({ of, per, unit, limit, spent, left, until }: BudgetState): string[] {
  const show = unit === "usd" ? dollars : (value: number): string => `${number(value)} tokens`;
  const rest = left > 0 ? `${show(left)} left` : "used up: what needs a model waits";
  return [`each ${of}, each ${per}`, `${show(spent)} of ${show(limit)}`, rest, `until ${day(until)}`];
}

function number(value: number): string {
  return value.toLocaleString("en");
}

/** Cents; of what is less than a dollar, also the places behind them that say something. */
function dollars(value: number): string {
  const places = value > 0 && value < 1 ? Math.min(9, 2 - Math.floor(Math.log10(value))) : 2;
  return `$${value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: places })}`;
}
