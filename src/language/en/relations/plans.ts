import type { RelationArea } from "./relation-row.ts";

/** What a person intends to do, has promised or owes. */
export const PLANS_RELATIONS: RelationArea = {
  relations: [
    {
      relation: "want to",
      holds: "many",
      kind: "commitment",
      example: {
        says: "I want to learn to sail.",
        gives: "user | want to learn to sail |",
        asks: "What do I want to do?",
        answer: "learn to sail",
      },
    },
    {
      relation: "plan to",
      holds: "many",
      kind: "commitment",
      answeredBy: ["be going to", "want to", "intend to", "hope to", "aim to"],
      example: {
        says: "I plan to buy a house.",
        gives: "user | plan to buy | a house",
        asks: "What do I plan to do?",
        answer: "buy a house",
      },
    },
    {
      relation: "be going to",
      holds: "many",
      kind: "commitment",
      example: {
        says: "I'm going to paint the fence.",
        gives: "user | be going to paint | the fence",
        asks: "What am I going to do?",
        answer: "paint the fence",
      },
    },
    {
      relation: "promise",
      holds: "many",
      kind: "commitment",
      answeredBy: ["promise to", "owe", "agree to", "swear to"],
      example: {
        says: "I promised my brother a lift.",
        gives: "user | promise | my brother a lift",
        asks: "What did I promise my brother?",
        answer: "lift",
      },
    },
    {
      relation: "tell",
      holds: "many",
      kind: "fact",
      answeredBy: ["promise", "promise to", "agree to"],
      example: {
        says: "I told Nina that I would water her plants.",
        gives: "user | promise | Nina that I would water her plants",
        asks: "What did I tell Nina?",
        answer: "water her plants",
      },
    },
    {
      relation: "owe",
      holds: "many",
      kind: "commitment",
      sensitive: true,
      example: {
        says: "I owe my brother 40 euros.",
        gives: "user | owe | my brother 40 euros",
        asks: "How much do I owe my brother?",
        answer: "40 euros",
      },
    },
    {
      relation: "train for",
      holds: "many",
      kind: "fact",
      answeredBy: ["prepare for", "practise for", "sign up for", "register for"],
      example: {
        says: "I'm training for a triathlon.",
        gives: "user | train for | a triathlon",
        asks: "What am I training for?",
        answer: "triathlon",
      },
    },
  ],
  nouns: {
    plan: ["plan to", "be going to"],
  },
};
