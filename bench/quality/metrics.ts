/** Metrics of one question, by name: shares from 0 to 1. */
export type Metrics = { readonly [name: string]: number };

/**
 * How well a ranking finds what it should. Each place of the ranking holds the ids that it gives (a memory gives all
 * its sources), and `k` counts places. recall = share of the gold found; any, all = 0 or 1; ndcg with gains of 1;
 * mrr over the whole ranking.
 */
export function score(
  places: readonly (readonly string[])[],
  gold: ReadonlySet<string>,
  cuts: readonly number[],
): Metrics {
  const out: Record<string, number> = {};
  for (const k of cuts) {
    const top = places.slice(0, k);
    const found = new Set(top.flat().filter((id) => gold.has(id)));
    out[`recall@${k}`] = found.size / gold.size;
    out[`any@${k}`] = found.size > 0 ? 1 : 0;
    out[`all@${k}`] = found.size === gold.size ? 1 : 0;
    out[`ndcg@${k}`] =
      gain(newFinds(top, gold)) / gain(Array.from({ length: Math.min(k, gold.size) }, (_, i) => i));
  }
  const first = places.findIndex((ids) => ids.some((id) => gold.has(id)));
  out.mrr = first < 0 ? 0 : 1 / (first + 1);
  return out;
}

/** The places that give a gold id for the first time; one place counts once. */
function newFinds(places: readonly (readonly string[])[], gold: ReadonlySet<string>): number[] {
  const seen = new Set<string>();
  return places.flatMap((ids, place) => {
    const fresh = ids.filter((id) => gold.has(id) && !seen.has(id));
    for (const id of fresh) seen.add(id);
    return fresh.length > 0 ? [place] : [];
  });
}

function gain(places: readonly number[]): number {
  return places.reduce((sum, place) => sum + 1 / Math.log2(place + 2), 0);
}

/** A mean in per cent with one digit; an exact half goes to the even digit, as in the scripts it is compared with. */
export function percent(shares: readonly number[]): number {
  const mean = (100 * shares.reduce((sum, share) => sum + share, 0)) / shares.length;
  if (!Number.isInteger(mean * 4) || Number.isInteger(mean * 2)) return Number(mean.toFixed(1));
  const below = Math.floor(mean * 10);
  return (below % 2 === 0 ? below : below + 1) / 10;
}

/** Metrics of many questions by group, and their means. */
export interface Table {
  add(group: string, metrics: Metrics): void;
  groups(): string[];
  count(group: string): number;
  /** The mean of a metric in per cent. */
  mean(group: string, metric: string): number;
  /** A metric of each question (of a group), in the order in which they came. */
  values(metric: string, group?: string): number[];
}

export const ALL = "all";

export function table(): Table {
  const rows = new Map<string, Metrics[]>();
  return {
    add(group, metrics) {
      for (const name of [group, ALL]) rows.set(name, [...(rows.get(name) ?? []), metrics]);
    },
    groups: () =>
      [...rows.keys()].sort(
        (one, other) => Number(one === ALL) - Number(other === ALL) || (one < other ? -1 : 1),
      ),
    count: (group) => rows.get(group)?.length ?? 0,
    mean: (group, metric) => percent((rows.get(group) ?? []).map((row) => row[metric] ?? 0)),
    values: (metric, group = ALL) => (rows.get(group) ?? []).map((row) => row[metric] ?? 0),
  };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / (values.length || 1);
}

/**
 * Means of `columns` under names such as `turn_recall@10`, and for each group `turn_recall@10 (1 multi-hop)`. Without a
 * prefix, under the columns' own names.
 */
export function named(prefix: string, kept: Table, columns: readonly string[]): Record<string, number> {
  const out: Record<string, number> = {};
  for (const group of kept.groups().reverse()) {
    for (const column of columns) {
      const name = prefix === "" ? column : `${prefix}_${column}`;
      out[group === ALL ? name : `${name} (${group})`] = kept.mean(group, column);
    }
  }
  return out;
}
