import type { PageFigures } from "./measure-page.ts";

interface Row {
  readonly name: string;
  readonly value: number;
  /** In milliseconds; without one, the figure is shown only. */
  readonly bar?: number;
}

function rowsOf({ firstList, opened, keystroke, frame }: PageFigures): readonly Row[] {
  return [
    { name: "First list, page loaded anew, median", value: firstList.warm.p50, bar: 300 },
    { name: "First list, page loaded anew, 95 of 100", value: firstList.warm.p95 },
    { name: "First list, server just started", value: firstList.cold },
    { name: "List shown again in an open page, 95 of 100", value: opened.p95 },
    { name: "Keystroke in the search to its result, median", value: keystroke.p50 },
    { name: "Keystroke in the search to its result, 95 of 100", value: keystroke.p95, bar: 100 },
    { name: "Longest frame while scrolling", value: frame.longest, bar: 50 },
    { name: "Frame while scrolling, 95 of 100", value: frame.p95 },
  ];
}

/** Says which figures are above their bar. */
export function findSlow(figures: PageFigures): readonly string[] {
  return rowsOf(figures).flatMap(({ name, value, bar }) =>
    bar !== undefined && value > bar ? [`${name}: ${value} ms, the bar is ${bar} ms.`] : [],
  );
}

const BUSY = "\nOther programs ran at the same time, so the times are upper bounds.";

/** The page of results. */
export function renderPage(figures: PageFigures): string {
  const { machine, memories, keystroke, frame, firstList } = figures;
  const isBusy = machine.load.before > machine.cores / 2;
  const rows = rowsOf(figures).map(
    ({ name, value, bar }) => `| ${name} | ${value} | ${bar === undefined ? "" : bar} |`,
  );
  return `# Speed of the page

The page of memories in Chromium, for a user with ${memories.toLocaleString("en")} memories. \`node bench/page/main.ts --page\`
measures it and writes this page.

| What | Milliseconds | Bar |
|---|---|---|
${rows.join("\n")}

${firstList.warm.n} loads, ${keystroke.n} keystrokes 80 ms apart, ${frame.n} frames. A keystroke counts until the first result on the
screen that is not older than itself. The server and the browser share one machine: ${machine.cores} cores, ${machine.cpu}, Node
${machine.node}. The load of the machine was ${machine.load.before} before the run and ${machine.load.after} after it.${isBusy ? BUSY : ""}
`;
}
