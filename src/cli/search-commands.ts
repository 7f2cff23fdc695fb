import { type Command, Option } from "commander";
import { KIND_NAMES } from "../domain/memory.ts";
import { WEIGHT_LIST_EXAMPLE } from "../domain/recall.ts";
import {
  addCommand,
  createCountParser,
  createWhereTextOption,
  formatExamples,
  parseTimeOption,
  parseWeightsOption,
} from "./command.ts";

/** Adds the commands that find memories, and answer from them. */
export function addSearchCommands(root: Command): void {
  addCommand(root, "recall <QUERY>", "find relevant memories, best first", async ([query = ""], options) =>
    (await import("./commands/memories/recall.ts")).runRecall(query, options),
  )
    .option("--limit <N>", "maximum number of items (10)", createCountParser(1, 1000))
    .option("--as-of <TIME>", "use what was true at this time", parseTimeOption)
    .option("--known-at <TIME>", "use what was known at this time", parseTimeOption)
    .addOption(createWhereTextOption('only items whose text matches, such as {"$contains": "Porto"}'))
    .addOption(new Option("--kind <KIND>", "only memories of this kind or group").choices(KIND_NAMES))
    .option("--profile <NAME>", "how to rank: default or classic")
    .option("--weights <LIST>", `weights of the classic ranking: ${WEIGHT_LIST_EXAMPLE}`, parseWeightsOption)
    .option("--explain", "show why each item was returned, and what was dropped")
    .addHelpText(
      "after",
      formatExamples(
        'recall "productivity tools"',
        'recall "where I live" --as-of 2023-06-01 --explain',
        'recall "holidays" --where-text \'{"$regex": "(?i)porto|lisbon"}\'',
      ),
    );
  addCommand(
    root,
    "search <TEXT>",
    "search memories by meaning and by their text",
    async ([text = ""], options) => (await import("./commands/memories/search.ts")).runSearch(text, options),
  )
    .option("--limit <N>", "maximum number of memories (20)", createCountParser(1, 1000))
    .addOption(new Option("--kind <KIND>", "only memories of this kind or group").choices(KIND_NAMES))
    .option("--all", "also outdated and removed memories")
    .addHelpText(
      "after",
      `
For browsing: it also finds parts of words, leaves no receipt, and does not count as a use of the memories.
${formatExamples('search "Porto"', 'search "holiday" --kind commitment --all')}`,
    );
  addQuestionCommands(root);
}

function addQuestionCommands(root: Command): void {
  addCommand(
    root,
    "context <REQUEST>",
    "show what a model is told before it answers a request",
    async ([request = ""], options) =>
      (await import("./commands/memories/recall.ts")).runContext(request, options),
  )
    .option("--max-tokens <N>", "maximum size in tokens (1,500)", createCountParser(1, 1_000_000))
    .option("--as-of <TIME>", "use what was true at this time", parseTimeOption)
    .addOption(createWhereTextOption("only what was said in words that match"))
    .addHelpText("after", formatExamples('context "plan my Saturday"', 'context "a snack" --max-tokens 400'));
  addCommand(
    root,
    "answer <QUESTION>",
    "answer a question from memory, or say that the answer is unknown",
    async ([question = ""], options) =>
      (await import("./commands/memories/recall.ts")).runAnswer(question, options),
  )
    .option("--as-of <TIME>", "use what was true at this time", parseTimeOption)
    .option("--known-at <TIME>", "use what was known at this time", parseTimeOption)
    .addOption(createWhereTextOption("use only items whose text matches"))
    .addHelpText(
      "after",
      formatExamples('answer "Where do I live?"', 'answer "Where did I live?" --as-of 2023-06-01'),
    );
}
