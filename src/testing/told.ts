import type { Message } from "../domain/message.ts";
import type { AddProposal, Extractor } from "../ports/extractor.ts";
import { makeMessage } from "./change-sets.ts";

/** A Tuesday, at noon: when everything is said to an extractor, where a test names no other time. */
export const SAID_AT = "2026-03-10T12:00:00.000Z";

/** A message of the user that no extractor has read yet. */
export function makeUserMessage(content: string, fields: Partial<Message> = {}): Message {
  return makeMessage("m", { turn: 1, content, at: SAID_AT, storedAt: SAID_AT, digest: "pending", ...fields });
}

/** What an extractor proposes to add for one message of the user, with nothing said or known before. */
export async function extractAdditions(extractor: Extractor, content: string): Promise<AddProposal[]> {
  const proposals = await extractor.propose({ messages: [makeUserMessage(content)], earlier: [], known: [] });
  return proposals.filter((one) => one.propose === "add");
}
