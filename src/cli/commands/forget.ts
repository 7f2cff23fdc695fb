import { createInterface } from "node:readline";
import type { ErasurePlan, ErasureReceipt } from "../../domain/receipt.ts";
import type { Forget, ScopedMemory } from "../../engine/surface.ts";
import { invalid } from "../../errors.ts";
import { confirmed } from "../confirm.ts";
import { EXIT, interrupted } from "../exit.ts";
import { day, several, short } from "../print.ts";
import { type CommonOptions, type Working, withMemory } from "../run.ts";

interface ForgetOptions extends CommonOptions {
  readonly id?: readonly string[];
  readonly session?: string;
  readonly everything?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export async function forget(what: string | undefined, options: ForgetOptions): Promise<void> {
  await withMemory(options, "reads", async (working) => {
    const { memory, print } = working;
    const meant = meaning(what, options);
    const plan = await memory.forget(meant, { dryRun: true });
    const isEmpty = isNothing(plan);
    if (options.dryRun) {
      print.result(plan, () => planLines(plan));
      return isEmpty ? EXIT.nothingFound : EXIT.done;
    }
    if (!isEmpty && !(await isAgreed(working, meant, options, plan))) {
      print.note("Nothing was erased.");
      return EXIT.failed;
    }
    const receipt = await memory.forget(meant);
    print.result(receipt, () => (isEmpty ? planLines(plan) : receiptLines(receipt)));
    if (isEmpty) return EXIT.nothingFound;
    return receipt.complete ? EXIT.done : EXIT.failed;
  });
}

function meaning(what: string | undefined, { id, session, everything }: ForgetOptions): Forget {
  const named = [what, id, session, everything].filter((one) => one !== undefined);
  if (named.length !== 1) {
    throw invalid(
      "say one thing to forget: words, --id (more than once if need be), --session or --everything.",
    );
  }
  if (id) return { ids: id };
  if (session !== undefined) return { session };
  return everything ? { everything: true } : (what ?? "");
}

/** All there is takes a yes; so does anything else where a person sits at the terminal. */
async function isAgreed(
  { memory, print }: Working,
  meant: Forget,
  { yes }: ForgetOptions,
  plan: ErasurePlan,
): Promise<boolean> {
  if (yes) return true;
  if (process.stdin.isTTY && process.stderr.isTTY && !print.json) {
    for (const line of planLines(plan)) print.note(line);
    return isConfirmed();
  }
  if (await takesAll(memory, meant, plan)) throw invalid("this takes all there is: add --yes.");
  return true;
}

async function isConfirmed(): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  asking.on("SIGINT", interrupted);
  try {
    return await confirmed(asking, "Erase this for good?");
  } finally {
    asking.close();
  }
}

/** Also "forget everything you know about me" takes all there is. */
async function takesAll(memory: ScopedMemory, meant: Forget, { memories }: ErasurePlan): Promise<boolean> {
  if (typeof meant === "object") return "everything" in meant;
  if (!/\b(?:everything|all)\b/i.test(meant)) return false;
  return memories.length === (await memory.list({ status: "all", limit: 1 })).total;
}

export function isNothing({ memories, messages }: ErasurePlan): boolean {
  return memories.length === 0 && messages.length === 0;
}

const MOST_SHOWN = 20;

/** What would go, for people. */
export function planLines(plan: ErasurePlan): string[] {
  if (isNothing(plan)) return ["Nothing like that is known."];
  const { memories, messages } = plan;
  const words = messages.flatMap(({ at, words }) => words.map((one) => `${day(at)}  “${short(one, 100)}”`));
  return [
    ...(memories.length > 0 ? [`${several(memories.length, "memory", "memories")} would go:`] : []),
    ...atMost(memories.map(({ text }) => short(text))),
    ...(words.length > 0 ? [`Words in ${several(messages.length, "message")} would go:`] : []),
    ...atMost(words),
  ];
}

function atMost(lines: readonly string[]): string[] {
  const more = lines.length - MOST_SHOWN;
  const shown = more > 1 ? [...lines.slice(0, MOST_SHOWN), `and ${more} more`] : lines;
  return shown.map((line) => `  ${line}`);
}

/** What an erasure did, for people. */
export function receiptLines({ id, erased, verified, complete }: ErasureReceipt): string[] {
  const left = verified.filter(({ found }) => found > 0).map(({ place, found }) => `${place} (${found})`);
  return [
    `Erased: ${several(erased.memories, "memory", "memories")} with ${several(erased.versions, "version")}, words in ${several(erased.messages, "message")}, ${several(erased.vectors, "vector")}.`,
    complete
      ? `Checked: none of it is left in ${verified.map(({ place }) => place).join(", ")}.`
      : `Some of it is still found in: ${left.join(", ")}.`,
    `Receipt ${id}.`,
  ];
}
