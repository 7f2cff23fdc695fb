import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

/** Messages of one conversation. */
const MESSAGES = 20;
const FIRST_MS = Date.UTC(2023, 0, 1);
const CITIES = ["Porto", "Ghent", "Lisbon", "Turin", "Bergen", "Graz", "Split", "Vaasa"];

/** What the user says in a message: one in five states something, the rest is talk. */
function sayNumber(number: number): string {
  if (number % 5 !== 0)
    return `Could you look at step ${number} of the plan, and tell me what you would change in it?`;
  if (number % 1000 === 0) return `I live in ${CITIES[(number / 1000) % CITIES.length]} now.`;
  return `I use Tool${number % 20_000}.`;
}

function createConversation(number: number, count: number): object {
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
  const mapping: { [id: string]: object } = {
    root: { id: "root", message: null, parent: null, children: ["m0"] },
  };
  for (let i = 0; i < count; i += 1) {
    const key = `m${i}`;
    const isUser = i % 2 === 0;
    const words = isUser
      ? sayNumber(number * MESSAGES + i)
      : `Here is what I would change. ${"First, the order of the work should follow the order of the parts. ".repeat(8)}`;
    mapping[key] = {
      id: key,
      parent: i === 0 ? "root" : `m${i - 1}`,
      children: i + 1 < count ? [`m${i + 1}`] : [],
      message: {
        id: key,
        author: { role: isUser ? "user" : "assistant", metadata: {} },
        create_time: (FIRST_MS + (number * MESSAGES + i) * 60_000) / 1000,
        content: { content_type: "text", parts: [words] },
        recipient: "all",
        metadata: { model_slug: "gpt-4o", citations: [], message_type: "next" },
      },
    };
  }
  const current_node = `m${count - 1}`;
  return {
    id,
    conversation_id: id,
    title: `Plan ${number}`,
    create_time: FIRST_MS / 1000,
    mapping,
    current_node,
  };
}

/** Writes a `conversations.json` in the shape of a ChatGPT export, with so many messages. Gives its size in bytes. */
export async function writeConversations(path: string, messages: number): Promise<number> {
  const file = createWriteStream(path);
  const written = finished(file);
  file.write("[");
  for (let number = 0; number * MESSAGES < messages; number += 1) {
    const count = Math.min(MESSAGES, messages - number * MESSAGES);
    const text = `${number === 0 ? "" : ","}\n${JSON.stringify(createConversation(number, count))}`;
    if (!file.write(text)) await once(file, "drain");
  }
  file.end("\n]\n");
  await written;
  return file.bytesWritten;
}
