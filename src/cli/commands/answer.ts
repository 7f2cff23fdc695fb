import { EXIT } from "../exit.ts";
import { type CommonOptions, withMemory } from "../run.ts";
import { formatAnswerSources } from "./sources.ts";
import { explainModelTrouble } from "./trouble.ts";

interface AnswerCommandOptions extends CommonOptions {
  readonly asOf?: string;
  readonly knownAt?: string;
}

export async function runAnswer(question: string, options: AnswerCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { asOf, knownAt } = options;
    const given = await memory.answer(question, {
      ...(asOf === undefined ? {} : { asOf }),
      ...(knownAt === undefined ? {} : { knownAt }),
    });
    print.result(given, () => [given.text]);
    const why = explainModelTrouble(given);
    if (why) print.note(why);
    // What it rests on is for a person who looks at it, not for what the answer is piped into.
    if (process.stderr.isTTY)
      for (const line of await formatAnswerSources(memory, given, process.stderr)) print.note(line);
    return given.abstained ? EXIT.nothingFound : EXIT.done;
  });
}
