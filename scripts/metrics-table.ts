import { type LabelValues, SERVED_METRICS } from "../src/domain/operations/metrics.ts";

/** The table of docs/metrics.md, from the table that the meter counts by. */
export function metricsTable(): string {
  const current = SERVED_METRICS.filter(({ isDeprecated }) => !isDeprecated);
  const rows = current.map(({ name, countedAs, type, help, labels = {} }) => {
    const earlier = countedAs === name ? "" : `\`${countedAs}\``;
    const told = Object.entries(labels).map(([label, values]) => `\`${label}\`${valuesOf(values)}`);
    return `| \`${name}\` | ${type} | ${told.join("; ")} | ${help} | ${earlier} |`;
  });
  return ["| Name | Type | Labels | Is | Earlier name |", "|---|---|---|---|---|", ...rows].join("\n");
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
