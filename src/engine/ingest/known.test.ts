import { expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { passingSecret, uuidv7 } from "../../adapters/system/index.ts";
import type { Message } from "../../domain/message.ts";
import { englishAnswerer } from "../../language/en/answers/answers.ts";
import { englishForgetRequests } from "../../language/en/forget-requests/forget-requests.ts";
import { createNeedReader } from "../../language/en/needs/needs.ts";
import { createOutdatedReader } from "../../language/en/needs/outdated-statements.ts";
import { englishPhrases as phrases } from "../../language/en/phrases.ts";
import { englishProfileWriter } from "../../language/en/profile/profile-lines.ts";
import { englishPromptGuard } from "../../language/en/prompt-injection/prompt-guard.ts";
import { englishReplies } from "../../language/en/replies/replies.ts";
import { englishVocabulary } from "../../language/en/vocabulary.ts";
import { blankQuestionReader, hashEmbedder, scriptedExtractor } from "../../testing/test-doubles.ts";
import { createKeepsake } from "../../wiring/keepsake.ts";
import { createMemoryDraft } from "../change-set.ts";
import { createUserStates } from "../user-state/user-state.ts";
import { findKnownMemories } from "./extract.ts";

const SCOPE = { project: "default", user: "ana" };
const AT = "2026-01-01T00:00:00.000Z";

function said(content: string): Message {
  return {
    id: "m",
    turn: 0,
    role: "user",
    content,
    origin: "user_message",
    at: AT,
    storedAt: AT,
    digest: "pending",
  };
}

it("shows all of a small memory, and of a large one the related memories, the names, and the newest", async () => {
  const record = createInMemoryStore();
  const states = createUserStates(record, hashEmbedder(), { phrases });
  const clock = (): Date => new Date(AT);
  const memory = createKeepsake(
    {
      store: record,
      states,
      clock,
      ids: uuidv7(clock),
      secret: passingSecret(),
      embedder: hashEmbedder(),
      extractor: scriptedExtractor(),
      questions: blankQuestionReader(),
      answerer: englishAnswerer({ questions: blankQuestionReader(), embedder: hashEmbedder() }),
      needs: createNeedReader(hashEmbedder()),
      outdated: createOutdatedReader(hashEmbedder()),
      replies: englishReplies,
      profileWriter: englishProfileWriter,
      forgetRequests: englishForgetRequests(blankQuestionReader()),
      promptGuard: englishPromptGuard,
      vocabulary: englishVocabulary,
    },
    { release: async () => {} },
  );
  const ana = memory.scope(SCOPE);
  await ana.add({
    text: "The user's cat is called Momo.",
    claim: { subject: "user/cat", relation: "be called", value: "Momo" },
  });
  const shown = async (words: string): Promise<string[]> => {
    const state = await states.of(SCOPE);
    return findKnownMemories(state, createMemoryDraft(state, AT), said(words), []).map(({ text }) => text);
  };
  expect(await shown("Hello.")).toEqual(["The user's cat is called Momo."]);
  await ana.remember(
    Array.from({ length: 900 }, (_, i) => ({ role: "user" as const, content: `I use Tool${i}.` })),
  );
  const known = await shown("I sold Tool17 today.");
  expect(known).toContain("The user's cat is called Momo.");
  expect(known).toContain("The user uses Tool17.");
  expect(known).toContain("The user uses Tool899.");
  expect(known.length).toBeLessThan(250);
  expect(known.indexOf("The user uses Tool17.")).toBeLessThan(known.indexOf("The user uses Tool899."));
});
