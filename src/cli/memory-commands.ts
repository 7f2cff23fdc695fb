import { type Command, Option } from "commander";
import { ASSOCIATION_TYPES } from "../domain/change-set.ts";
import { SESSION_STATE_FIELDS } from "../domain/conversation/session-state.ts";
import { KIND_NAMES } from "../domain/memory.ts";
import {
  addCommand,
  createCountParser,
  formatExamples,
  parseObjectOption,
  parseShareOption,
  parseTimeOption,
} from "./command.ts";

const addToList = (value: string, list: readonly string[] = []): readonly string[] => [...list, value];

/** Adds the commands for associations, sharing, attachments and conversations. */
export function addRelationCommands(root: Command): void {
  addAssociationCommands(root);
  addSharingCommands(root);
  addAttachmentCommands(root);
  addSessionCommands(root);
}

/** Adds the commands for sharing: grants and groups. */
function addSharingCommands(root: Command): void {
  addCommand(
    root,
    "share [READER]",
    "let another user or a group read some memories",
    async ([reader], options) => (await import("./commands/memories/sharing.ts")).runShare(reader, options),
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
Conditions are combined: each must match. Nothing is copied. Private memories are never shared: \`keepsake private ID\`.
${formatExamples('share ben --about "holiday" --until 2026-09-01', "share --group home --kind commitment", "share ben --id 019f…")}`,
    );
  addCommand(root, "grants", "list the grants given and received, newest first", async (_operands, options) =>
    (await import("./commands/memories/sharing.ts")).runGrants(options),
  ).option("--all", "also those that were withdrawn or have expired");
  addCommand(root, "unshare <GRANT>", "withdraw a grant: it ends at once", async ([id = ""], options) =>
    (await import("./commands/memories/sharing.ts")).runUnshare(id, options),
  );
  addCommand(
    root,
    "decline <GRANT>",
    "decline a received grant: its memories are not recalled",
    async ([id = ""], options) => (await import("./commands/memories/sharing.ts")).runDecline(id, options),
  ).option("--undo", "accept it again");
  addCommand(root, "private <ID>", "keep a memory out of all grants", async ([id = ""], options) =>
    (await import("./commands/memories/sharing.ts")).runPrivate(id, options),
  )
    .option("--undo", "let grants cover it, also if it was said in a private message")
    .addHelpText("after", formatExamples("private 019f…", "private 019f… --undo"));
  addCommand(
    root,
    "shared",
    "list the memories that others share, newest first",
    async (_operands, options) => (await import("./commands/memories/sharing.ts")).runShared(options),
  )
    .option("--grant <ID>", "only those of this grant; its owner may name it too")
    .option("--limit <N>", "maximum number of memories (50)", createCountParser(1, 1000));
  addCommand(root, "group [NAME]", "list groups, or make or change one", async ([name], options) =>
    (await import("./commands/memories/sharing.ts")).runGroup(name, options),
  )
    .option("--members <USERS>", "its members, separated by commas; they replace the earlier ones")
    .option("--delete", "delete it with all grants to it; a member leaves it instead")
    .addHelpText(
      "after",
      formatExamples("group home --members ana,ben,cleo", "group", "group home --delete"),
    );
}

/** Adds the commands for associations between memories. */
function addAssociationCommands(root: Command): void {
  const createTypeOption = (description: string): Option =>
    new Option("--type <TYPE>", description).choices(ASSOCIATION_TYPES);
  addCommand(
    root,
    "link <FROM> <TO>",
    "associate a memory with another, or change the strength",
    async ([from = "", to = ""], options) =>
      (await import("./commands/memories/associations.ts")).runLink(from, to, options),
  )
    .addOption(createTypeOption("how the first relates to the second (related_to)"))
    .option("--strength <S>", "from 0 to 1 (1)", parseShareOption)
    .addHelpText(
      "after",
      `
What depends on another memory, or is derived from it, is marked for review when that memory is replaced, reworded, removed
or erased: \`list --review\` shows it, \`confirm\` says that it is still true.
${formatExamples("link 019f… 019e… --type depends_on --strength 0.8", "link 019f… 019d…")}`,
    );
  addCommand(
    root,
    "unlink <FROM> <TO>",
    "remove the associations from a memory to another",
    async ([from = "", to = ""], options) =>
      (await import("./commands/memories/associations.ts")).runUnlink(from, to, options),
  ).addOption(createTypeOption("only associations of this type"));
  addCommand(
    root,
    "links [ID]",
    "list stored associations: all, or those of a memory",
    async ([id], options) => (await import("./commands/memories/associations.ts")).runLinks(id, options),
  )
    .addOption(createTypeOption("only associations of this type"))
    .option("--limit <N>", "maximum number of associations (50)", createCountParser(1, 1000))
    .option("--cursor <CURSOR>", "continue after the page that gave this cursor");
  addCommand(
    root,
    "related <ID>",
    "find memories related to one, strongest first",
    async ([id = ""], options) =>
      (await import("./commands/memories/associations.ts")).runRelated(id, options),
  )
    .option("--depth <N>", "maximum number of associations on the path (1)", createCountParser(1, 5))
    .option("--min-strength <S>", "the least strength, from 0 to 1 (0)", parseShareOption)
    .option("--limit <N>", "maximum number of memories (20)", createCountParser(1, 200))
    .addOption(createTypeOption("only along associations of this type"))
    .option("--no-inferred", "only along stored associations")
    .addHelpText(
      "after",
      `
It also follows inferred associations: between memories from one sentence, or about the same person or thing.
${formatExamples("related 019f…", "related 019f… --depth 3 --min-strength 0.3")}`,
    );
}

/** Adds the command for images and recordings. */
function addAttachmentCommands(root: Command): void {
  addCommand(
    root,
    "attachments [ID]",
    "list images and recordings, newest first, or show one",
    async ([id], options) => (await import("./commands/memories/attachments.ts")).runAttachments(id, options),
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

/** Adds the commands for conversations and their states. */
function addSessionCommands(root: Command): void {
  const sessions = root
    .command("session")
    .description("list conversations, and manage what a conversation is about now")
    .helpCommand(false)
    .addHelpText(
      "after",
      `
A state has a topic, a context and preferences, and lasts for a day after its last change or message. It is for the program that
set it: no prompt shows it. Commands and servers share states in Redis (REDIS_URL); without it, a state is in its process alone.
${formatExamples("session list", 'session start trip --topic "a week in Porto"', "session update trip --context '{\"step\": 2}' --drop topic", "session show trip", "session end trip")}`,
    );
  const withFields = (command: Command): Command =>
    command
      .option("--topic <TEXT>", "what it is about")
      .option("--context <JSON>", "what a program needs to go on, as an object", parseObjectOption)
      .option("--preferences <JSON>", "wishes for this conversation, as an object", parseObjectOption);
  addCommand(sessions, "list", "list conversations, the last used first", async (_operands, options) =>
    (await import("./commands/memories/sessions.ts")).runSessionList(options),
  )
    .option("--limit <N>", "maximum number of conversations (50)", createCountParser(1, 1000))
    .option("--cursor <CURSOR>", "continue after the page that gave this cursor");
  withFields(
    addCommand(sessions, "start [ID]", "give a conversation a state", async ([id], options) =>
      (await import("./commands/memories/sessions.ts")).runSessionStart(id, options),
    ),
  );
  addCommand(sessions, "show <ID>", "show the state of a conversation", async ([id = ""], options) =>
    (await import("./commands/memories/sessions.ts")).runSessionShow(id, options),
  );
  withFields(
    addCommand(sessions, "update <ID>", "change the state of a conversation", async ([id = ""], options) =>
      (await import("./commands/memories/sessions.ts")).runSessionUpdate(id, options),
    ),
  ).addOption(new Option("--drop <FIELD...>", "remove these fields").choices(SESSION_STATE_FIELDS));
  addCommand(
    sessions,
    "end <ID>",
    "delete the state of a conversation; its messages stay",
    async ([id = ""], options) =>
      (await import("./commands/memories/sessions.ts")).runSessionEnd(id, options),
  );
}
