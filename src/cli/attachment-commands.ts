import type { Command } from "commander";
import { Option } from "commander";
import { addCommand, createCountParser, formatExamples } from "./command.ts";

/** Adds the command for images and recordings. */
export function addAttachmentCommands(root: Command): void {
  addCommand(
    root,
    "attachments [ID]",
    "list images and recordings, newest first, or show one",
    async ([id], options) => (await import("./commands/attachments.ts")).runAttachments(id, options),
  )
    .addOption(new Option("--type <TYPE>", "only these").choices(["image", "audio"]))
    .option("--session <ID>", "only those of one conversation")
    .option("--limit <N>", "maximum number (50)", createCountParser(1, 1000))
    .option("--save <FILE>", "write the bytes of one to a new file")
    .addHelpText(
      "after",
      formatExamples(
        'remember "From the garden:" --attach cat.png --description "My cat is called Quixote."',
        "attachments --type image",
        "attachments 5f70bf18… --save cat.png",
        "forget --attachment 5f70bf18…",
      ),
    );
}
