import { getStats, listMemories } from "../calls.js";
import { make } from "../parts/make.js";
import { number } from "../parts/words.js";
import { barChart } from "./bar-chart.js";

const MONTHS = 12;
const DAYS = 30;
const DAY_MS = 86_400_000;
const MONTH = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric", timeZone: "UTC" });

const dollars = (cost) => `$${cost.toFixed(cost < 1 ? 4 : 2)}`;

/** The beginning of the month after each of the last months, oldest first, with the month's name. */
function listMonths(now) {
  return Array.from({ length: MONTHS }, (_one, i) => {
    const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS + 1 + i);
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS + 2 + i);
    return { label: MONTH.format(start), end: new Date(end).toISOString() };
  });
}

/** How many current memories there are that were said until the end of each month. */
export async function growthPart(user) {
  const counts = await Promise.all(
    listMonths(new Date()).map(async ({ label, end }) => {
      const { total } = await listMemories(user, { status: "current", to: end, limit: 1 });
      return { label, value: total, cells: [number(total)] };
    }),
  );
  if (counts.every(({ value }) => value === 0)) return make("p", { class: "small" }, "Nothing is known yet.");
  return barChart({
    title: "Current memories, said until the end of each month",
    columns: ["Month", "Memories"],
    points: counts,
    shown: number,
  });
}

/** What models have cost on each of the last days, for this user. */
export async function costPart(user) {
  const today = new Date();
  const since = new Date(Math.floor(today.getTime() / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS);
  const { usage } = await getStats(user, { by: "day", since: since.toISOString() });
  if (usage.calls === 0)
    return make("p", { class: "small" }, `No model was called in the last ${DAYS} days.`);
  const rows = new Map(usage.rows.map((row) => [row.day, row]));
  const days = Array.from({ length: DAYS }, (_one, i) =>
    new Date(since.getTime() + i * DAY_MS).toISOString().slice(0, 10),
  );
  // Calls of models without a price cost nothing that is known.
  const isPriced = usage.cost > 0;
  const points = days.map((day) => {
    const { calls = 0, cost = 0, tokens_in: read = 0, tokens_out: written = 0 } = rows.get(day) ?? {};
    return {
      label: day,
      value: isPriced ? cost : calls,
      cells: [number(calls), number(read), number(written), dollars(cost)],
    };
  });
  return barChart({
    title: isPriced ? "Cost of models by day" : "Calls of models by day",
    columns: ["Day", "Calls", "Tokens in", "Tokens out", "Cost"],
    points,
    shown: isPriced ? dollars : number,
  });
}
