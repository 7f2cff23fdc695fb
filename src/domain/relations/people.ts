import type { RelationArea } from "./row.ts";

/** Who somebody is together with. */
export const PEOPLE: RelationArea = {
  relations: [
    { relation: "be married to", holds: "one", kind: "fact", answeredBy: ["marry"] },
    { relation: "be engaged to", holds: "one", kind: "fact" },
    { relation: "be in a relationship with", holds: "one", kind: "fact" },
    {
      relation: "date",
      holds: "one",
      kind: "fact",
      also: ["be dating", "go out with", "be going out with"],
      answeredBy: [
        "see",
        "be in a relationship with",
        "be married to",
        "be engaged to",
        "be with",
        "be together with",
        "go out with",
        "marry",
      ],
    },
    {
      relation: "be with",
      holds: "one",
      kind: "fact",
      answeredBy: [
        "be at",
        "use",
        "have",
        "bank with",
        "bank at",
        "date",
        "be in a relationship with",
        "be married to",
        "be engaged to",
        "be together with",
        "see",
      ],
    },
    { relation: "bring up", holds: "many", kind: "fact", answeredBy: ["raise"] },
  ],
  nouns: {
    partner: ["date", "see", "be married to", "be in a relationship with"],
    boyfriend: ["date", "see"],
    girlfriend: ["date", "see"],
    husband: ["be married to"],
    wife: ["be married to"],
    spouse: ["be married to"],
    fiance: ["be engaged to"],
    fiancee: ["be engaged to"],
  },
};
