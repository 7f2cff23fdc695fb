import { type Command, Option } from "commander";
import { KIND_NAMES } from "../domain/memory.ts";
import { addCommand, createCountParser, formatExamples, parseTimeOption } from "./command.ts";

const addToList = (value: string, list: readonly string[] = []): readonly string[] => [...list, value];

/** Adds the commands for sharing: grants and groups. */
export function addSharingCommands(root: Command): void {
  addCommand(
    root,
    "share [READER]",
    "let another user or a group read some memories",
    async ([reader], options) => (await import("./commands/sharing.ts")).runShare(reader, options),
  )
    .option("--group <NAME>", "share with the members of a group instead")
    .option("--about <WORDS>", "memories with these words; may be repeated", addToList)
    .addOption(
      new Option("--kind <KIND>", "memories of this kind or group of kinds; may be repeated")
        .choices(KIND_NAMES)
        .argParser(addToList),
    )
    .option("--where <JSON>", "memories with this metadata")
    .option("--where-text <JSON>", 'memories whose text matches, such as {"$contains": "Porto"}')
    .option("--id <ID>", "this memory; may be repeated", addToList)
    .option("--everything", "all memories")
    .option("--sensitive", "also sensitive ones: health, beliefs, money, secrets")
    .option("--messages", "also the words of messages")
    .option("--until <TIME>", "end the grant at this time", parseTimeOption)
    .addHelpText(
      "after",
      `
Conditions are combined: each must match. Nothing is copied. Memories with the metadata {"private": true} are never shared.
${formatExamples('share ben --about "holiday" --until 2026-09-01', "share --group home --kind commitment", "share ben --id 019f…")}`,
    );
  addCommand(root, "grants", "list the grants given and received, newest first", async (_operands, options) =>
    (await import("./commands/sharing.ts")).runGrants(options),
  ).option("--all", "also those that were withdrawn or have expired");
  addCommand(root, "unshare <GRANT>", "withdraw a grant: it ends at once", async ([id = ""], options) =>
    (await import("./commands/sharing.ts")).runUnshare(id, options),
  );
  addCommand(
    root,
    "decline <GRANT>",
    "decline a grant that was received: nothing of it is recalled",
    async ([id = ""], options) => (await import("./commands/sharing.ts")).runDecline(id, options),
  ).option("--undo", "accept it again");
  addCommand(
    root,
    "shared",
    "list the memories that others share, newest first",
    async (_operands, options) => (await import("./commands/sharing.ts")).runShared(options),
  )
    .option("--grant <ID>", "only those of this grant; its owner may name it too")
    .option("--limit <N>", "maximum number of memories (50)", createCountParser(1, 1000));
  addCommand(root, "group [NAME]", "list groups, or make or change one", async ([name], options) =>
    (await import("./commands/sharing.ts")).runGroup(name, options),
  )
    .option("--members <USERS>", "its members, separated by commas; they replace those before")
    .option("--delete", "delete it with all grants to it; a member leaves it instead")
    .addHelpText(
      "after",
      formatExamples("group home --members ana,ben,cleo", "group", "group home --delete"),
    );
}
