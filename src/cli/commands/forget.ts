import { createInterface } from "node:readline/promises";
import type { ErasurePlan, ErasureReceipt } from "../../domain/receipt.ts";
import type { Forget } from "../../engine/surface.ts";
import { MemoryError } from "../../errors.ts";
import { day, short } from "../print.ts";
import { type CommonOptions, EXIT, type Working, withMemory } from "../run.ts";

interface ForgetOptions extends CommonOptions {
  readonly id?: readonly string[];
  readonly session?: string;
  readonly everything?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export async function forget(what: string | undefined, options: ForgetOptions): Promise<void> {
  await withMemory(options, async (working) => {
    const { memory, print } = working;
    const meant = meaning(what, options);
    const plan = await memory.forget(meant, { dryRun: true });
    const isEmpty = plan.memories.length === 0 && plan.messages.length === 0;
    if (options.dryRun) {
      print.result(plan, () => planLines(plan));
      return isEmpty ? EXIT.nothingFound : EXIT.done;
    }
    if (!isEmpty && !(await isAgreed(working, options, plan))) {
      print.note("Nothing was erased.");
      return EXIT.failed;
    }
    const receipt = await memory.forget(meant);
    print.result(receipt, () => (isEmpty ? ["Nothing like that is known."] : receiptLines(receipt)));
    if (isEmpty) return EXIT.nothingFound;
    return receipt.complete ? EXIT.done : EXIT.failed;
  });
}

function meaning(what: string | undefined, { id, session, everything }: ForgetOptions): Forget {
  const named = [what, id, session, everything].filter((one) => one !== undefined);
  if (named.length !== 1) {
    throw new MemoryError(
      "invalid_input",
      "say one thing to forget: words, --id, --session, or --everything.",
    );
  }
  if (id) return { ids: id };
  if (session !== undefined) return { session };
  return everything ? { everything: true } : (what ?? "");
}

/** Everything needs a yes; so does anything else where a person sits at the terminal. */
async function isAgreed(
  { print }: Working,
  { yes, everything }: ForgetOptions,
  plan: ErasurePlan,
): Promise<boolean> {
  if (yes) return true;
  const isAsked = process.stdin.isTTY && !print.json;
  if (!isAsked && everything)
    throw new MemoryError("invalid_input", "--everything takes all there is: add --yes.");
  if (!isAsked) return true;
  for (const line of planLines(plan)) print.note(line);
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await asking.question("Erase this for good? [y/N] ");
  asking.close();
  return /^y(es)?$/i.test(reply.trim());
}

function planLines({ memories, messages }: ErasurePlan): string[] {
  if (memories.length === 0 && messages.length === 0) return ["Nothing like that is known."];
  return [
    `Memories that would go (${memories.length}):`,
    ...memories.map(({ text }) => `  ${short(text)}`),
    `Words that would go, in ${messages.length} messages:`,
    ...messages.flatMap(({ at, words }) => words.map((one) => `  ${day(at)}  ${short(one)}`)),
  ];
}

function receiptLines({ id, erased, verified, complete }: ErasureReceipt): string[] {
  const left = verified.filter(({ found }) => found > 0).map(({ place, found }) => `${place} (${found})`);
  return [
    `Erased: ${erased.memories} memories with ${erased.versions} versions, words in ${erased.messages} messages, ${erased.vectors} vectors.`,
    complete
      ? `Checked: none of it is left in ${verified.map(({ place }) => place).join(", ")}.`
      : `Still found in: ${left.join(", ")}.`,
    `Receipt ${id}.`,
  ];
}
