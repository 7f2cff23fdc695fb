import * as z from "zod";
import { ANSWER_TROUBLES } from "../../domain/recall.ts";
import { CLAIM, KIND, SOURCE, STATUS } from "./memory.ts";
import { named, time, whole } from "./named.ts";
import { RECEIPT } from "./receipt.ts";

const ITEM_TYPE = z.enum(["memory", "passage"]);
const ARMS = z.record(z.string(), z.object({ rank: whole, score: z.number() }));
const PARTS = z.record(z.string(), z.number());

/** As `itemToWire` gives it. */
export const ITEM: z.ZodType = named(
  "Item",
  z.object({
    id: z.string(),
    type: ITEM_TYPE,
    content: z.string().describe("The same as `text`"),
    text: z.string(),
    kind: KIND.optional(),
    claim: CLAIM.optional(),
    status: STATUS,
    score: z.number().min(0).max(1),
    at: time.describe("When it was said"),
    when: z.string().optional(),
    valid_from: time.optional(),
    valid_to: time.optional(),
    sources: z.array(SOURCE),
    why: z
      .object({ arms: ARMS, parts: PARTS, words: z.array(z.string()) })
      .describe("Where `explain` was asked for")
      .optional(),
  }),
);

const DROPPED = z.object({ id: z.string(), type: ITEM_TYPE, score: z.number(), why: z.string() });

export const RECALL: z.ZodType = named(
  "Recall",
  z
    .object({
      id: z.string().describe("By which it can be explained later"),
      items: z.array(ITEM).describe("Best first"),
      context: z.string().describe("The items as text for a prompt, within the budget"),
      tokens: whole.describe("An estimate of the size of `context`"),
      abstained: z.boolean().describe("True where nothing is relevant"),
      explanation: z
        .object({
          query: z.string(),
          profile: z.string(),
          considered: whole,
          threshold: z.number(),
          dropped: z.array(DROPPED),
        })
        .optional(),
    })
    .describe("What was found."),
);

/** What an answer rests on: an item, or a memory that its recall did not rank. */
const USED = z.looseObject({ id: z.string(), type: ITEM_TYPE, content: z.string(), text: z.string() });

export const CONVERSATION_REPLY: z.ZodType = named(
  "ConversationReply",
  z.object({
    reply: z.string(),
    by: z.enum(["model", "memory"]).describe("Whose words they are: composed from memory, or a model's"),
    model: z.string().describe("The model that was asked, as its server names it").optional(),
    trouble: z.enum(ANSWER_TROUBLES).describe("Why the model did not reply, or not to the end").optional(),
    memories_used: z.array(USED).describe("What the reply rests on, best first"),
    receipt: RECEIPT,
    turn_number: whole,
    usage: z.object({
      memories_used: whole,
      prompt_tokens: whole.describe("0 where no model was asked"),
      cached_tokens: whole.describe("Of these, from the provider's cache"),
      completion_tokens: whole,
      total_tokens: whole,
    }),
  }),
);

const NOW = z.enum(["current", "superseded", "retracted", "expired", "undone", "erased"]);

export const RECALL_EXPLANATION: z.ZodType = named(
  "RecallExplanation",
  z
    .object({
      id: z.string(),
      at: time,
      kind: z.enum(["recall", "answer"]),
      revision: whole,
      session: z.string().optional(),
      message: z.string().optional(),
      bounds: z.object({
        limit: whole,
        min_score: z.number(),
        as_of: time.optional(),
        known_at: time.optional(),
        session: z.string().optional(),
        agent: z.string().optional(),
        kinds: z.array(z.string()).optional(),
        types: z.array(z.string()).optional(),
        where: z.literal(true).optional(),
      }),
      profile: z.string(),
      considered: whole,
      threshold: z.number(),
      items: z.array(
        z.object({
          id: z.string(),
          type: ITEM_TYPE,
          now: NOW.describe("What has become of it; of what is erased nothing else is said"),
          score: z.number().optional(),
          status: STATUS.optional(),
          arms: ARMS.optional(),
          parts: PARTS.optional(),
          text: z.string().optional(),
          sources: z.array(SOURCE).optional(),
        }),
      ),
      dropped: z.array(
        z.object({
          id: z.string(),
          type: ITEM_TYPE,
          now: NOW,
          score: z.number().optional(),
          why: z.string().optional(),
        }),
      ),
      used: z.array(z.string()).optional(),
      about: z.object({ id: z.string(), reason: z.string(), text: z.string() }).optional(),
    })
    .describe("Why a recall gave what it gave, and left out what it left out."),
);
