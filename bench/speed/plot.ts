/** One line of a plot: a value for each place on the x axis. */
export interface PlotLine {
  readonly name: string;
  readonly values: readonly number[];
  /** The one that the plot is about. */
  readonly isOurs?: boolean;
}

export interface LinePlot {
  readonly title: string;
  readonly unit: string;
  /** What stands below each place. */
  readonly places: readonly string[];
  readonly lines: readonly PlotLine[];
}

export interface BarPlot {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
}

const WIDTH = 640;
// Text and lines in greys that can be read on white and on black; colours that the colour-blind can tell apart.
const STYLE = `<style>
text { font: 13px system-ui, sans-serif; fill: #444 }
.title { font-size: 15px; font-weight: 600 }
.grid { stroke: #8884; stroke-width: 1 }
.line { fill: none; stroke-width: 2 }
.ours { stroke-width: 3 }
.c0 { stroke: #0072b2 } .f0 { fill: #0072b2 }
.c1 { stroke: #d55e00 } .f1 { fill: #d55e00 }
.c2 { stroke: #888888 } .f2 { fill: #888888 }
.c3 { stroke: #009e73 } .f3 { fill: #009e73 }
@media (prefers-color-scheme: dark) { text { fill: #ccc } .c0 { stroke: #56b4e9 } .f0 { fill: #56b4e9 } }
</style>`;

/** Lines over places, both axes logarithmic: a decade is as wide as any other. As SVG. */
export function linePlot({ title, unit, places, lines }: LinePlot): string {
  const [top, height, left, right] = [50, 240, 60, 470];
  const all = lines.flatMap(({ values }) => values).filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...all)));
  const high = Math.ceil(Math.log10(Math.max(...all)));
  const x = (i: number): number => round(left + (i / Math.max(1, places.length - 1)) * (right - left));
  const y = (value: number): number =>
    round(top + height * (1 - (Math.log10(value) - low) / Math.max(1, high - low)));
  const decades = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  const grid = decades.flatMap((value) => [
    `<line class="grid" x1="${left}" x2="${right}" y1="${y(value)}" y2="${y(value)}"/>`,
    `<text x="${left - 8}" y="${y(value) + 4}" text-anchor="end">${shown(value)}</text>`,
  ]);
  const below = places.map(
    (place, i) => `<text x="${x(i)}" y="${top + height + 22}" text-anchor="middle">${place}</text>`,
  );
  const ends = spaced(lines.map(({ values }) => y(values.at(-1) ?? 1)));
  const drawn = lines.flatMap(({ name, values, isOurs }, which) => [
    `<polyline class="line c${which}${isOurs ? " ours" : ""}" points="${values.map((value, i) => `${x(i)},${y(value)}`).join(" ")}"/>`,
    ...values.map((value, i) => `<circle class="f${which}" cx="${x(i)}" cy="${y(value)}" r="4"/>`),
    `<text x="${right + 12}" y="${(ends[which] ?? 0) + 4}"${isOurs ? ' font-weight="600"' : ""}>${name}: ${shown(values.at(-1) ?? 0)} ${unit}</text>`,
  ]);
  return svg(top + height + 40, title, [...grid, ...below, ...drawn]);
}

/** Bars from the left, each with its value. As SVG. */
export function barPlot({ title, unit, bars }: BarPlot): string {
  const [top, step, left, longest] = [50, 34, 220, 320];
  const most = Math.max(...bars.map(({ value }) => value));
  const drawn = bars.flatMap(({ name, value }, i) => {
    const width = round((value / most) * longest);
    const y = top + i * step;
    return [
      `<text x="${left - 10}" y="${y + 15}" text-anchor="end">${name}</text>`,
      `<rect class="f${i % 2 === 0 ? 0 : 1}" x="${left}" y="${y}" width="${width}" height="20" rx="3"/>`,
      `<text x="${left + width + 8}" y="${y + 15}">${shown(value)} ${unit}</text>`,
    ];
  });
  return svg(top + bars.length * step + 6, title, drawn);
}

function svg(height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img" aria-label="${title}">`,
    STYLE,
    `<text class="title" x="16" y="26">${title}</text>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

/** Places for labels, in the order given, with room between any two. */
function spaced(wanted: readonly number[]): number[] {
  const places = [...wanted];
  const order = wanted.map((_, i) => i).sort((one, other) => (wanted[one] ?? 0) - (wanted[other] ?? 0));
  for (const [rank, which] of order.entries()) {
    const above = places[order[rank - 1] ?? -1];
    if (above !== undefined) places[which] = Math.max(places[which] ?? 0, above + 18);
  }
  return places;
}

function shown(value: number): string {
  return value >= 1000 ? value.toLocaleString("en") : String(Number(value.toPrecision(3)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
