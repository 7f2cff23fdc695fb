import type { ScopedMemory } from "../../src/index.ts";

/** All that can be read of a user's memory, as text: the export (messages and memories), and every version of every memory. */
export async function everythingIn(memory: ScopedMemory): Promise<string> {
  const texts: string[] = [];
  for await (const line of memory.export()) texts.push(JSON.stringify(line));
  for await (const { id } of memory.list({ status: "all" })) {
    for (const version of await memory.history(id)) texts.push(JSON.stringify(version));
  }
  return texts.join("\n");
}
