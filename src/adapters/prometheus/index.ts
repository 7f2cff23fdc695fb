import { monitorEventLoopDelay } from "node:perf_hooks";
import { type LabelValues, type MetricDefinition, SERVED_METRICS } from "../../domain/operations/metrics.ts";
import type { Meter, MetricLabels } from "../../ports/telemetry.ts";

/** A meter with readable values. */
export interface PrometheusMeter extends Meter {
  /** All values in the text format of Prometheus, version 0.0.4. */
  text(): string;
}

/** The media type of `text`. */
export const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Counts in this process, in the format of Prometheus (prometheus.io/docs/instrumenting/exposition_formats). It only counts the
 * metrics of `domain/operations/metrics.ts`. Labels only have allowed values; any other value becomes "other".
 */
export function prometheusMeter(): PrometheusMeter {
  const allSeries = SERVED_METRICS.map((metric) => ({
    metric,
    kept: createMetricSeries(metric.name, metric),
  }));
  const byName = Map.groupBy(allSeries, ({ metric }) => metric.countedAs);
  const forEachSeries = (name: string, apply: (kept: MetricSeries, factor: number) => void): void => {
    for (const { metric, kept } of byName.get(name) ?? []) apply(kept, metric.factor);
  };
  const updateProcessMetrics = createProcessMetrics();
  const meter: Meter = {
    count(name, labels?: MetricLabels, by = 1) {
      if (by > 0) forEachSeries(name, (kept) => kept.add(labels, by));
    },
    observe(name, value, labels) {
      if (Number.isFinite(value)) forEachSeries(name, (kept, factor) => kept.observe(labels, value * factor));
    },
    set(name, value, labels) {
      forEachSeries(name, (kept) => kept.set(labels, value));
    },
  };
  return {
    ...meter,
    text() {
      updateProcessMetrics(meter);
      const sections = allSeries.map(({ metric: { name, help, type }, kept }) =>
        [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...kept.lines()].join("\n"),
      );
      return `${sections.join("\n")}\n`;
    },
  };
}

/** The values of one metric, by its label values. */
interface MetricSeries {
  /** Adds to a counter or a gauge. */
  add(labels: MetricLabels | undefined, by: number): void;
  set(labels: MetricLabels | undefined, value: number): void;
  observe(labels: MetricLabels | undefined, value: number): void;
  lines(): string[];
}

/** The label for a value that is not allowed. */
const OTHER_LABEL = "other";
/** The limit of names from the code or the settings. More are a mistake, and are counted as `other`. */
const MOST_NAMES = 200;
const LONGEST_NAME = 200;

interface SeriesValue {
  readonly text: string;
  value: number;
  count: number;
  readonly buckets: number[];
}

/** The label value for a given value: itself if it is allowed, or else `other`. */
function toAllowedLabel(values: LabelValues, value: string, known: Set<string>): string {
  if (values === "code") return toKnownName(value, known);
  const isAllowed = values instanceof RegExp ? values.test(value) : values.includes(value);
  return isAllowed ? value : OTHER_LABEL;
}

function toKnownName(value: string, known: Set<string>): string {
  if (known.has(value)) return value;
  if (known.size >= MOST_NAMES || value.length > LONGEST_NAME) return OTHER_LABEL;
  known.add(value);
  return value;
}

function createMetricSeries(
  name: string,
  { type, labels = {}, buckets = [] }: MetricDefinition,
): MetricSeries {
  const series = new Map<string, SeriesValue>();
  const labelSets = Object.entries(labels).map(([label, values]) => ({
    label,
    values,
    known: new Set<string>(),
  }));
  const at = (given: MetricLabels | undefined): SeriesValue => {
    const text = labelSets
      .map(
        ({ label, values, known }) =>
          `${label}="${escapeLabel(toAllowedLabel(values, given?.[label] ?? OTHER_LABEL, known))}"`,
      )
      .join(",");
    const found = series.get(text);
    if (found) return found;
    const created = { text, value: 0, count: 0, buckets: buckets.map(() => 0) };
    series.set(text, created);
    return created;
  };
  // A metric without labels exists from the start, with 0.
  if (labelSets.length === 0) at(undefined);

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
      const sorted = [...series.values()].sort((one, other) => (one.text < other.text ? -1 : 1));
      return sorted.flatMap((one) =>
        type === "histogram" ? formatHistogram(name, buckets, one) : [formatLine(name, one.text, one.value)],
      );
    },
  };
}

function formatHistogram(name: string, bounds: readonly number[], one: SeriesValue): string[] {
  const within = one.text === "" ? "" : `${one.text},`;
  let sum = 0;
  const lines = bounds.map((bound, i) => {
    sum += one.buckets[i] ?? 0;
    return formatLine(`${name}_bucket`, `${within}le="${bound}"`, sum);
  });
  return [
    ...lines,
    formatLine(`${name}_bucket`, `${within}le="+Inf"`, one.count),
    formatLine(`${name}_sum`, one.text, one.value),
    formatLine(`${name}_count`, one.text, one.count),
  ];
}

function formatLine(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${value}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Measures this process: CPU time, memory, and the event loop delay. Gives a function that updates the values. */
function createProcessMetrics(): (meter: Meter) => void {
  // Samples every 50 ms, and does not keep the program running.
  const delay = monitorEventLoopDelay({ resolution: 50 });
  delay.enable();
  let counted = 0;
  return (meter) => {
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6;
    meter.count("process_cpu_seconds_total", {}, seconds - counted);
    counted = seconds;
    const { rss, heapUsed } = process.memoryUsage();
    meter.set("process_resident_memory_bytes", rss);
    meter.set("nodejs_heap_used_bytes", heapUsed);
    meter.set("process_start_time_seconds", performance.timeOrigin / 1000);
    const lagSeconds = delay.percentile(99) / 1e9;
    meter.set("nodejs_eventloop_lag_p99_seconds", Number.isFinite(lagSeconds) ? lagSeconds : 0);
    delay.reset();
  };
}
