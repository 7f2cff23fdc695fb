import type { RelationArea } from "./row.ts";

/** Who somebody is together with. */
export const PEOPLE_RELATIONS: RelationArea = {
  relations: [
    {
      relation: "be married to",
      holds: "one",
      kind: "fact",
      answeredBy: ["marry"],
      example: {
        says: "I'm married to Joana.",
        gives: "user | be married to | Joana",
        asks: "Who am I married to?",
        answer: "Joana",
      },
    },
    {
      relation: "be engaged to",
      holds: "one",
      kind: "fact",
      example: {
        says: "I'm engaged to Tomas.",
        gives: "user | be engaged to | Tomas",
        asks: "Who am I engaged to?",
        answer: "Tomas",
      },
    },
    {
      relation: "be in a relationship with",
      holds: "one",
      kind: "fact",
      example: {
        says: "I'm in a relationship with Nadia.",
        gives: "user | be in a relationship with | Nadia",
        asks: "Who am I in a relationship with?",
        answer: "Nadia",
      },
    },
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
      example: {
        says: "I'm dating Paul.",
        gives: "user | date | Paul",
        asks: "Who am I dating?",
        answer: "Paul",
      },
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
      example: {
        says: "I'm with Vodafone.",
        gives: "user | be with | Vodafone",
        asks: "Who am I with?",
        answer: "Vodafone",
      },
    },
    {
      relation: "bring up",
      holds: "many",
      kind: "fact",
      answeredBy: ["raise"],
      example: {
        says: "I'm bringing up two boys.",
        gives: "user | bring up | two boys",
        asks: "How many boys am I bringing up?",
        answer: "two boys",
      },
    },
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
