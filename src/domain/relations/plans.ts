import type { RelationArea } from "./row.ts";

/** What somebody means to do, promised or owes. */
export const PLANS: RelationArea = {
  relations: [
    { relation: "want to", holds: "many", kind: "commitment" },
    {
      relation: "plan to",
      holds: "many",
      kind: "commitment",
      answeredBy: ["be going to", "want to", "intend to", "hope to", "aim to"],
    },
    { relation: "be going to", holds: "many", kind: "commitment" },
    {
      relation: "promise",
      holds: "many",
      kind: "commitment",
      answeredBy: ["promise to", "owe", "agree to", "swear to"],
    },
    { relation: "tell", holds: "many", kind: "fact", answeredBy: ["promise", "promise to", "agree to"] },
    { relation: "owe", holds: "many", kind: "commitment", sensitive: true },
    {
      relation: "train for",
      holds: "many",
      kind: "fact",
      answeredBy: ["prepare for", "practise for", "sign up for", "register for"],
    },
  ],
  nouns: {
    plan: ["plan to", "be going to"],
  },
};
