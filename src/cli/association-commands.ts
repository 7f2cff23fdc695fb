import { type Command, Option } from "commander";
import { ASSOCIATION_TYPES } from "../domain/change-set.ts";
import { addCommand, createCountParser, formatExamples, parseShareOption } from "./command.ts";

/** Adds the commands for associations between memories. */
export function addAssociationCommands(root: Command): void {
  const createTypeOption = (description: string): Option =>
    new Option("--type <TYPE>", description).choices(ASSOCIATION_TYPES);
  addCommand(
    root,
    "link <FROM> <TO>",
    "associate a memory with another, or change the strength",
    async ([from = "", to = ""], options) =>
      (await import("./commands/associations.ts")).runLink(from, to, options),
  )
    .addOption(createTypeOption("how the first bears on the second (related_to)"))
    .option("--strength <S>", "from 0 to 1 (1)", parseShareOption)
    .addHelpText(
      "after",
      `
What depends on another memory, or is derived from it, is marked for review when that memory is replaced, reworded, removed
or erased: \`list --review\` shows it, \`confirm\` says that it still holds.
${formatExamples("link 019f… 019e… --type depends_on --strength 0.8", "link 019f… 019d…")}`,
    );
  addCommand(
    root,
    "unlink <FROM> <TO>",
    "remove the associations from a memory to another",
    async ([from = "", to = ""], options) =>
      (await import("./commands/associations.ts")).runUnlink(from, to, options),
  ).addOption(createTypeOption("only associations of this type"));
  addCommand(
    root,
    "links [ID]",
    "list stored associations: all, or those of a memory",
    async ([id], options) => (await import("./commands/associations.ts")).runLinks(id, options),
  )
    .addOption(createTypeOption("only associations of this type"))
    .option("--limit <N>", "maximum number of associations (50)", createCountParser(1, 1000))
    .option("--cursor <CURSOR>", "continue after the page that gave this cursor");
  addCommand(
    root,
    "related <ID>",
    "find memories related to one, strongest first",
    async ([id = ""], options) => (await import("./commands/associations.ts")).runRelated(id, options),
  )
    .option("--depth <N>", "the most associations on the way (1)", createCountParser(1, 5))
    .option("--min-strength <S>", "the least strength, from 0 to 1 (0)", parseShareOption)
    .option("--limit <N>", "maximum number of memories (20)", createCountParser(1, 200))
    .addOption(createTypeOption("only along associations of this type"))
    .option("--no-inferred", "only along stored associations")
    .addHelpText(
      "after",
      `
Besides stored associations, it follows those that are read off the memories: told in one sentence, or about the same.
${formatExamples("related 019f…", "related 019f… --depth 3 --min-strength 0.3")}`,
    );
}
