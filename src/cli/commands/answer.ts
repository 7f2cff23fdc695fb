import { type CommonOptions, EXIT, withMemory } from "../run.ts";

export async function answer(
  question: string,
  options: CommonOptions & { readonly asOf?: string },
): Promise<void> {
  await withMemory(options, async ({ memory, print }) => {
    const { asOf } = options;
    const given = await memory.answer(question, asOf === undefined ? {} : { asOf });
    print.result(given, () => [given.text]);
    return given.abstained ? EXIT.nothingFound : EXIT.done;
  });
}
