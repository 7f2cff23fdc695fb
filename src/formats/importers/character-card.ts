import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { invalid } from "../../errors.ts";
import { splitPoints } from "./claude.ts";
import { toContentUuid, toLabels, toShortName } from "./entries.ts";
import { type ImportSource, isObjectValue, readAll } from "./import-source.ts";

type Fields = { readonly [field: string]: unknown };

/** A card with its picture. */
const MOST_CARD_BYTES = 32 * 1024 * 1024;
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Fields that describe the character, with the words that go before them. */
const DESCRIPTIONS = ["description", "personality", "scenario"];
/** Fields that instruct a model, or show it how to speak. */
const INSTRUCTIONS = [
  "system_prompt",
  "post_history_instructions",
  "first_mes",
  "mes_example",
  "creator_notes",
];

export function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE);
}

export function isCharacterCard(value: unknown): value is Fields & { readonly data: Fields } {
  return (
    isObjectValue(value) &&
    (value.spec === "chara_card_v2" || value.spec === "chara_card_v3") &&
    isObjectValue(value.data)
  );
}

/**
 * Reads a character card (version 2 or 3), as JSON or in the picture that carries it. What it says about the character and
 * its world becomes memories. What instructs a model is passed over.
 */
export async function* readCharacterCard(source: ImportSource): AsyncIterable<ImportEntry> {
  const bytes = await readAll(source, MOST_CARD_BYTES);
  const text = isPng(bytes) ? findCardText(bytes) : bytes.toString("utf8");
  const card = parseCard(text);
  if (!isCharacterCard(card)) throw invalid("the file is not a character card of version 2 or 3.");
  const { data } = card;
  const name = toShortName(data.name) ?? "The character";
  const fill = (words: string): string =>
    words.replace(/\{\{char\}\}|<BOT>/gi, name).replace(/\{\{user\}\}|<USER>/gi, "the user");
  for (const field of DESCRIPTIONS) yield* toMemories(field, data[field], { name, fill });
  for (const field of INSTRUCTIONS)
    if (typeof data[field] === "string" && data[field] !== "")
      yield { place: field, skipped: "instructions of the card to a model" };
  const book = isObjectValue(data.character_book) ? data.character_book.entries : [];
  for (const [i, entry] of (Array.isArray(book) ? book : []).entries())
    yield* readBookEntry(`entry ${i + 1} of the book`, entry, { name, fill });
}

function* readBookEntry(place: string, entry: unknown, told: CardNames): Iterable<ImportEntry> {
  if (!isObjectValue(entry)) return;
  if (entry.enabled === false) yield { place, skipped: "an entry that is switched off" };
  else yield* toMemories(place, entry.content, told);
}

/** The character's name, and how placeholders in its texts are filled. */
interface CardNames {
  readonly name: string;
  readonly fill: (words: string) => string;
}

function* toMemories(place: string, text: unknown, { name, fill }: CardNames): Iterable<ImportEntry> {
  if (typeof text !== "string") return;
  for (const { point } of splitPoints(text)) {
    const words = fill(point);
    // Without the name, it is not clear whom it is about.
    const told = words.toLowerCase().includes(name.toLowerCase()) ? words : `${name}: ${words}`;
    yield {
      place,
      memory: {
        id: toContentUuid("character", name, told),
        text: told,
        kind: "context",
        metadata: toLabels({ character: name }),
      },
    };
  }
}

function parseCard(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("the card is not valid JSON.");
  }
}

/** Finds the card in a PNG: base64 in a text chunk, "ccv3" before "chara". */
function findCardText(bytes: Buffer): string {
  const found = new Map<string, string>();
  let at = PNG_SIGNATURE.length;
  while (at + 12 <= bytes.length) {
    const length = bytes.readUInt32BE(at);
    const data = bytes.subarray(at + 8, at + 8 + length);
    const end = data.indexOf(0);
    if (bytes.toString("latin1", at + 4, at + 8) === "tEXt" && end > 0)
      found.set(data.toString("latin1", 0, end), data.toString("latin1", end + 1));
    at += length + 12;
  }
  const encoded = found.get("ccv3") ?? found.get("chara");
  if (encoded === undefined) throw invalid("the picture has no character card in it.");
  return Buffer.from(encoded, "base64").toString("utf8");
}
