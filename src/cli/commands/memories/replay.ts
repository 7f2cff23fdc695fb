import type { FactDifference, ReplayedFact, ReplayReport } from "../../../engine/api/replay-types.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { EXIT } from "../../exit.ts";
import { createProgressBar, dimText, formatCount, formatTable, toShortLine } from "../../printer.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface ReplayCommandOptions extends CommonOptions {
  readonly askModel?: boolean;
}

/** Compares what is stored with what this version reads in the same messages. */
export async function runReplay(options: ReplayCommandOptions): Promise<void> {
  await runComparison(options, "replay");
}

/** Compares what the rules and the model read in the stored messages. */
export async function runCompare(options: CommonOptions): Promise<void> {
  await runComparison(options, "compareExtractors");
}

/** Exit status 1 if there are differences. No background job runs, so the store stays as it is. */
async function runComparison(
  options: ReplayCommandOptions,
  method: keyof Pick<ScopedMemory, "replay" | "compareExtractors">,
): Promise<void> {
  await withMemory(
    options,
    "checks",
    async ({ memory, print }) => {
      const bar = createProgressBar(print.json);
      const onProgress = (done: number, of: number): void => bar.show(done, of, `message ${done} of ${of}`);
      const { askModel = false } = options;
      const report = await memory[method]({ onProgress, askModel }).finally(() => bar.end());
      print.result(report, () => formatReport(report));
      const { unread, messages } = report.counts;
      if (messages === 0) print.note("No messages to read.");
      if (unread > 0) print.note(`${formatCount(unread, "message")} not read yet, and left out.`);
      if (messages + report.counts.same === 0 && report.isEqual) return EXIT.nothingFound;
      return report.isEqual ? EXIT.done : EXIT.failed;
    },
    () => ({ jobs: "elsewhere" }),
  );
}

function formatReport({ sides, counts, differences }: ReplayReport): string[] {
  return [
    ...formatTable([
      ["Messages read", String(counts.messages)],
      ["Same facts", String(counts.same)],
      ["Different", String(counts.different)],
      [`Only in the ${sides.left}`, String(counts.onlyLeft)],
      [`Only in the ${sides.right}`, String(counts.onlyRight)],
      ...(sides.left === "store" ? [["Taken from the log", String(counts.notFromMessages)]] : []),
    ]),
    ...differences.flatMap((difference) => ["", ...formatDifference(sides, difference)]),
  ];
}

function formatDifference(
  { left: leftName, right: rightName }: ReplayReport["sides"],
  { left, right, fields }: FactDifference,
): string[] {
  if (!left || !right) {
    const fact = left ?? right;
    return fact
      ? [`Only in the ${left ? leftName : rightName}:`, ...formatTable([formatFact("", fact)])]
      : [];
  }
  return [
    `Different ${fields.join(", ")}:`,
    ...formatTable([formatFact(leftName, left), formatFact(rightName, right)]),
  ];
}

function formatFact(side: string, { text, state, validFrom, validTo, when }: ReplayedFact): string[] {
  const times = [
    ...(validFrom === undefined ? [] : [`from ${validFrom}`]),
    ...(validTo === undefined ? [] : [`to ${validTo}`]),
    ...(when === undefined ? [] : [`on ${when}`]),
  ];
  return [`  ${side}`.trimEnd(), state, `${toShortLine(text)} ${dimText(times.join(" "))}`];
}
