import { SERVED_METRICS } from "../../domain/metrics.ts";
import type { Meter, MetricLabels } from "../../ports/meter.ts";
import { createProcessMetrics } from "./process.ts";
import { createMetricSeries, type MetricSeries } from "./series.ts";

/** A meter whose values can be read. */
export interface PrometheusMeter extends Meter {
  /** All values in Prometheus's text format, version 0.0.4. */
  text(): string;
}

/** The media type of `text`. */
export const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Counts in this process, in the form that Prometheus reads (prometheus.io/docs/instrumenting/exposition_formats). Only the
 * metrics of `domain/metrics.ts` are counted, and a label has no value but those that it may have: anything else is "other".
 */
export function prometheusMeter(): PrometheusMeter {
  const all = SERVED_METRICS.map((metric) => ({ metric, kept: createMetricSeries(metric.name, metric) }));
  const byName = Map.groupBy(all, ({ metric }) => metric.countedAs);
  const each = (name: string, tell: (kept: MetricSeries, factor: number) => void): void => {
    for (const { metric, kept } of byName.get(name) ?? []) tell(kept, metric.factor);
  };
  const measured = createProcessMetrics();
  const meter: Meter = {
    count(name, labels?: MetricLabels, by = 1) {
      if (by > 0) each(name, (kept) => kept.add(labels, by));
    },
    observe(name, value, labels) {
      if (Number.isFinite(value)) each(name, (kept, factor) => kept.observe(labels, value * factor));
    },
    set(name, value, labels) {
      each(name, (kept) => kept.set(labels, value));
    },
  };
  return {
    ...meter,
    text() {
      measured(meter);
      const blocks = all.map(({ metric: { name, help, type }, kept }) =>
        [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...kept.lines()].join("\n"),
      );
      return `${blocks.join("\n")}\n`;
    },
  };
}
