import type { Interface } from "node:readline";

/** Asks a person. No, where it is closed instead of answered. */
export function askYesNo(lines: Interface, question: string): Promise<boolean> {
  return new Promise((resolve) => {
    lines.once("close", () => resolve(false));
    lines.question(`${question} [y/N] `, (reply) => resolve(/^y(?:es)?$/i.test(reply.trim())));
  });
}
