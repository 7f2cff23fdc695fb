import { type Command, InvalidArgumentError, Option } from "commander";
import type { JsonObject } from "../domain/conversation/session-state.ts";
import type { WhereText } from "../domain/filters/text-filter.ts";
import { parseWeightList, type RankingWeights, WEIGHT_LIST_EXAMPLE } from "../domain/recall.ts";
import { toIsoTime } from "../domain/time.ts";
import type { CommonOptions } from "./with-memory.ts";

/** What a command does with its operands and options. */
export type CommandAction = (operands: readonly string[], options: CommonOptions) => Promise<void>;

/** Adds a command. Its action gets its operands, and its own and the global options. */
export function addCommand(
  root: Command,
  usage: string,
  description: string,
  action: CommandAction,
): Command {
  return root
    .command(usage)
    .description(description)
    .action(async (...given: unknown[]) => {
      const self = given.at(-1) as Command;
      await action(self.processedArgs as string[], self.optsWithGlobals());
    });
}

/** Adds a former name of a command. It does the same, and says its current name on stderr. */
export function addFormerCommand(
  root: Command,
  usage: string,
  current: string,
  action: CommandAction,
): Command {
  return root.command(usage, { hidden: true }).action(async (...given: unknown[]) => {
    const self = given.at(-1) as Command;
    noteFormerName(self.name(), current);
    await action(self.processedArgs as string[], self.optsWithGlobals());
  });
}

/** Adds a former name of an option without a value. It does the same, and says its current name on stderr. */
export function addFormerOption(command: Command, former: string, current: string): Command {
  return command.addOption(new Option(`--${former}`).hideHelp()).on(`option:${former}`, () => {
    noteFormerName(`--${former}`, `--${current}`);
    command.setOptionValue(current, true);
  });
}

function noteFormerName(former: string, current: string): void {
  process.stderr.write(`keepsake: ${former} is called ${current} now. The former name works until 1.0.\n`);
}

/** Examples for the end of a command's help. */
export function formatExamples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ keepsake ${line}`).join("\n")}`;
}

/** Gives a parser of whole numbers from `least` to `most`. It throws `InvalidArgumentError`. */
export function createCountParser(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** Parses weights of a ranking. Throws `InvalidArgumentError`. */
export function parseWeightsOption(text: string): RankingWeights {
  const weights = parseWeightList(text);
  if (weights) return weights;
  throw new InvalidArgumentError(`Give weights such as ${WEIGHT_LIST_EXAMPLE}.`);
}

/** Parses a time as the library does. Throws `InvalidArgumentError`. */
export function parseTimeOption(text: string): string {
  try {
    return toIsoTime(text, "It");
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : "It is not a valid time.");
  }
}

/** The option for a filter of texts. */
export function createWhereTextOption(description: string): Option {
  return new Option("--where-text <JSON>", description).argParser(parseTextFilterOption);
}

/** Parses the JSON of `--where-text`; its content is checked where it is used. Throws `InvalidArgumentError`. */
function parseTextFilterOption(text: string): WhereText {
  try {
    return JSON.parse(text) as WhereText;
  } catch {
    throw new InvalidArgumentError('It is not valid JSON: give a filter such as {"$contains": "Porto"}.');
  }
}

/** Parses an object of JSON; its content is checked where it is used. Throws `InvalidArgumentError`. */
export function parseObjectOption(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    throw new InvalidArgumentError('It is not valid JSON: give an object such as {"step": 2}.');
  }
}

/** Parses a number from 0 to 1. Throws `InvalidArgumentError`. */
export function parseShareOption(text: string): number {
  const value = Number(text);
  if (/^\d?(?:\.\d{1,9})?$/.test(text) && text !== "" && value <= 1) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 1.");
}

const DURATION_UNITS: { readonly [letter: string]: number } = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses a duration such as "90d", "24h", "30m", "45s" or "0". Gives milliseconds. */
export function parseDuration(text: string): number {
  const milliseconds = toDuration(text);
  if (milliseconds === undefined) throw new InvalidArgumentError("It must be a duration such as 24h or 7d.");
  return milliseconds;
}

/** Parses a time (ISO 8601) or a duration from now (milliseconds). */
export function parseMomentOrDuration(text: string): string | number {
  return toDuration(text) ?? parseTimeOption(text);
}

function toDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const [, count, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (DURATION_UNITS[unit] ?? 0);
}
