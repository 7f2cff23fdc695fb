import { writeSync } from "node:fs";
import type { InputMessage } from "../../src/engine/api/writing-types.ts";
import { createMemory } from "../../src/memory.ts";

/**
 * The one that is killed. `write PATH FROM`: remembers message after message, and says each on stdout once it is
 * acknowledged. `import PATH COUNT`: takes a conversation in. Nothing here is ever closed in good order.
 */

export function sentence(number: number): string {
  const towns = ["Porto", "Ghent", "Leeds", "Lima", "Oslo", "Bergen", "Turin"];
  if (number % 10 === 7) return `I don't use Tool${number - 3} anymore.`;
  if (number % 10 === 9) return `I live in ${towns[number % towns.length]} now.`;
  return `I use Tool${number} and Gadget${number} for work. The day is grey.`;
}

export function conversation(count: number): InputMessage[] {
  return Array.from({ length: count }, (_, number) => ({
    id: `i-${number}`,
    role: number % 4 === 3 ? "assistant" : "user",
    content: number % 4 === 3 ? `Noted, number ${number}.` : sentence(number),
    at: new Date(Date.UTC(2024, 0, 1) + number * 60_000).toISOString(),
    session: `s-${Math.floor(number / 20)}`,
  }));
}

if (import.meta.main) {
  const [, , mode, path = "", count = "0"] = process.argv;
  const memory = await createMemory({ path });
  const ana = memory.scope({ user: "ana" });
  if (mode === "import") {
    for await (const { read } of ana.import(conversation(Number(count)), { batch: 20 }))
      writeSync(1, `${read}\n`);
    writeSync(1, "done\n");
    await memory.close();
  } else {
    for (let number = Number(count); ; number += 1) {
      await ana.remember({ id: `w-${number}`, role: "user", content: sentence(number) });
      writeSync(1, `${number}\n`);
    }
  }
}
