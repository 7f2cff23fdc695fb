import { type Command, Option } from "commander";
import { KIND_NAMES } from "../domain/memory.ts";
import { addCommand, createCountParser, formatExamples } from "./command.ts";

/** Adds the commands that keep memories in order, and those that give an overview. */
export function addUpkeepCommands(root: Command): void {
  addCommand(root, "clusters", "group memories by topic", async (_operands, options) =>
    (await import("./commands/overview.ts")).runClusters(options),
  )
    .option("--limit <N>", "maximum number of groups (12)", createCountParser(1, 50))
    .option("--memories <N>", "memories shown of each group (5)", createCountParser(0, 100))
    .addOption(new Option("--kind <KIND>", "only memories of this kind or group").choices(KIND_NAMES))
    .addHelpText(
      "after",
      `
A group is named by words that its memories have and others lack. Computed at each call; nothing is stored.
${formatExamples("clusters", "clusters --limit 5 --memories 10")}`,
    );
  addCommand(root, "reflect", "sum up what was said, by month and topic", async (_operands, options) =>
    (await import("./commands/overview.ts")).runReflect(options),
  )
    .option("--from <TIME>", "only what was said from then on")
    .option("--to <TIME>", "only what was said before then")
    .option("--topic <TOPIC>", 'only this topic, such as "work" or "health"')
    .option("--min-memories <N>", "the fewest memories to sum up (2)", createCountParser(1, 1000))
    .option("--limit <N>", "maximum number of reflections (50)", createCountParser(1, 1000))
    .addHelpText(
      "after",
      `
The words are those of the memories. Nothing is stored, so what was ended or erased is in no reflection.
${formatExamples("reflect", "reflect --topic work --from 2026-01-01T00:00:00Z")}`,
    );
  addCommand(root, "vacuum", "give the space of deleted data back", async (_operands, options) =>
    (await import("./commands/vacuum.ts")).runVacuum(options),
  ).addHelpText(
    "after",
    `
Safe while a server runs. With SQLite the file is rewritten: writes wait meanwhile, and the disk needs as much free space as
the database takes. With PostgreSQL the tables are vacuumed while others read and write; their space is free for new rows.
Nothing that was erased comes back. \`doctor\` checks the database for damage.
${formatExamples("vacuum")}`,
  );
}
