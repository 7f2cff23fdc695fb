import { type LabelValues, METRICS } from "../src/domain/metrics.ts";

/** The table of docs/metrics.md, from the table that the meter counts by. */
export function metricsTable(): string {
  const rows = Object.entries(METRICS).map(([name, { type, help, labels = {} }]) => {
    const told = Object.entries(labels).map(([label, values]) => `\`${label}\`${valuesOf(values)}`);
    return `| \`${name}\` | ${type} | ${told.join("; ")} | ${help} |`;
  });
  return ["| Name | Type | Labels | Is |", "|---|---|---|---|", ...rows].join("\n");
}

const MOST_SHOWN = 6;

function valuesOf(values: LabelValues): string {
  if (values === "code" || values instanceof RegExp || values.length > MOST_SHOWN) return "";
  return `: ${values.join(", ")}`;
}

const BEFORE = "<!-- This table is written by `npm run docs`. -->\n\n";

/** The page with the table as it should be now. */
export function metricsPage(page: string): string {
  const from = page.indexOf(BEFORE) + BEFORE.length;
  const to = page.indexOf("\n\n", from);
  return `${page.slice(0, from)}${metricsTable()}${page.slice(to)}`;
}
