import type { LabelValues, Metric } from "../../domain/metrics.ts";
import type { Labels } from "../../ports/meter.ts";

/** The values of one metric, by the values of its labels. */
export interface Series {
  /** To a counter or a gauge. */
  add(labels: Labels | undefined, by: number): void;
  set(labels: Labels | undefined, value: number): void;
  observe(labels: Labels | undefined, value: number): void;
  lines(): string[];
}

/** What stands in place of a value that no label may have. */
const OTHER = "other";
/** Names that stand in the code or the settings are not that many. What is more is a mistake, and is counted as `other`. */
const MOST_NAMES = 200;
const LONGEST_NAME = 200;

interface Bucketed {
  readonly text: string;
  value: number;
  count: number;
  readonly buckets: number[];
}

/** What a label may say of what it is told. */
function allowed(values: LabelValues, value: string, known: Set<string>): string {
  if (values === "code") return named(value, known);
  const isAllowed = values instanceof RegExp ? values.test(value) : values.includes(value);
  return isAllowed ? value : OTHER;
}

function named(value: string, known: Set<string>): string {
  if (known.has(value)) return value;
  if (known.size >= MOST_NAMES || value.length > LONGEST_NAME) return OTHER;
  known.add(value);
  return value;
}

export function series(name: string, { type, labels = {}, buckets = [] }: Metric): Series {
  const kept = new Map<string, Bucketed>();
  const all = Object.entries(labels).map(([label, values]) => ({ label, values, known: new Set<string>() }));
  const at = (given: Labels | undefined): Bucketed => {
    const text = all
      .map(
        ({ label, values, known }) =>
          `${label}="${escaped(allowed(values, given?.[label] ?? OTHER, known))}"`,
      )
      .join(",");
    const found = kept.get(text);
    if (found) return found;
    const made = { text, value: 0, count: 0, buckets: buckets.map(() => 0) };
    kept.set(text, made);
    return made;
  };
  // What has no labels is there from the start, with 0.
  if (all.length === 0) at(undefined);

  return {
    add(given, by) {
      at(given).value += by;
    },
    set(given, value) {
      at(given).value = value;
    },
    observe(given, value) {
      const one = at(given);
      one.value += value;
      one.count += 1;
      const first = buckets.findIndex((bound) => value <= bound);
      if (first !== -1) one.buckets[first] = (one.buckets[first] ?? 0) + 1;
    },
    lines() {
      const sorted = [...kept.values()].sort((one, other) => (one.text < other.text ? -1 : 1));
      return sorted.flatMap((one) =>
        type === "histogram" ? histogram(name, buckets, one) : [line(name, one.text, one.value)],
      );
    },
  };
}

function histogram(name: string, bounds: readonly number[], one: Bucketed): string[] {
  const within = one.text === "" ? "" : `${one.text},`;
  let sum = 0;
  const lines = bounds.map((bound, i) => {
    sum += one.buckets[i] ?? 0;
    return line(`${name}_bucket`, `${within}le="${bound}"`, sum);
  });
  return [
    ...lines,
    line(`${name}_bucket`, `${within}le="+Inf"`, one.count),
    line(`${name}_sum`, one.text, one.value),
    line(`${name}_count`, one.text, one.count),
  ];
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${value}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
