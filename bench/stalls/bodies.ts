import { pick, seeded, vocabulary } from "../speed/vocabulary.ts";

/** The start of a chat that holds something else beside its one message. */
const CHAT = '{"model":"stub","user":"heavy","messages":[{"role":"user","content":"Hello."}],"metadata":';

/** A chat whose body is nested as deep as it is long. */
export function nested(bytes: number, open: string, close: string): Buffer {
  const levels = Math.floor(bytes / (open.length + close.length));
  return Buffer.from(`${CHAT}${open.repeat(levels)}1${close.repeat(levels)}}`);
}

export function flatNumbers(bytes: number): Buffer {
  return Buffer.from(`${CHAT}[${"1,".repeat(bytes / 2)}1]}`);
}

export function flatObjects(bytes: number): Buffer {
  const parts: string[] = [];
  for (let size = 0, i = 0; size < bytes; i += 1) {
    const part = `{"k${i % 5000}":${i % 10}}`;
    parts.push(part);
    size += part.length + 1;
  }
  return Buffer.from(`${CHAT}[${parts.join(",")}]}`);
}

export function turnsOf(user: string, count: number, field: "messages" | "input" = "messages"): string {
  const turns = Array.from({ length: count }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: `turn ${i}`,
  }));
  return JSON.stringify({
    model: "stub",
    user,
    [field]: [...turns, { role: "user", content: "I use Shram." }],
  });
}

/** As a client sends a picture: base64 in a data URL, in about so many bytes. */
export function imageChat(user: string, bytes: number): string {
  const url = `data:image/png;base64,${Buffer.alloc(Math.floor((bytes * 3) / 4), "keepsake").toString("base64")}`;
  const content = [
    { type: "text", text: "What is in this picture?" },
    { type: "image_url", image_url: { url } },
  ];
  return JSON.stringify({ model: "stub", user, messages: [{ role: "user", content }] });
}

const drawWord = vocabulary(5);
const OPENINGS = ["I use", "I like", "I live in", "My sister has", "We talked about", "Yesterday I bought"];

/** Sentences as people write them, of about so many bytes. */
export function prose(bytes: number, seed = 1): string {
  const random = seeded(seed);
  const parts: string[] = [];
  for (let size = 0; size < bytes; ) {
    const words = Array.from({ length: 6 }, () => drawWord(random));
    const part = `${pick(random, OPENINGS)} ${words.join(" ")}. `;
    parts.push(part);
    size += part.length;
  }
  return parts
    .join("")
    .slice(0, bytes - 1)
    .trim();
}

/** One sentence of so many bytes: an opening, and piece after piece. */
export function chainOf(bytes: number, opening: string, piece: (number: number) => string): string {
  const parts = [opening];
  for (let size = opening.length, i = 0; size < bytes; i += 1) {
    const part = piece(i);
    parts.push(part);
    size += Buffer.byteLength(part);
  }
  return `${parts.join("")}end.`;
}
