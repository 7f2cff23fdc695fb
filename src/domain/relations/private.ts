import type { RelationArea } from "./row.ts";

/** Health, beliefs and money: what most people would not shout across a room. */
export const PRIVATE: RelationArea = {
  relations: [
    {
      relation: "be allergic to",
      holds: "many",
      kind: "fact",
      sensitive: true,
      answeredBy: ["be intolerant to", "have", "react to"],
    },
    {
      relation: "be intolerant to",
      holds: "many",
      kind: "fact",
      sensitive: true,
      also: ["be intolerant of"],
    },
    { relation: "be diagnosed with", holds: "many", kind: "fact", sensitive: true },
    {
      relation: "suffer from",
      holds: "many",
      kind: "fact",
      sensitive: true,
      answeredBy: ["have", "be diagnosed with", "be"],
    },
    { relation: "take", holds: "many", kind: "fact", answeredBy: ["be on", "use", "be prescribed"] },
    { relation: "be on", holds: "many", kind: "fact" },
    { relation: "smoke", holds: "many", kind: "fact", sensitive: true },
    { relation: "vote for", holds: "many", kind: "fact", sensitive: true, answeredBy: ["support"] },
    { relation: "believe in", holds: "many", kind: "fact", sensitive: true, answeredBy: ["be", "practise"] },
    { relation: "bank with", holds: "many", kind: "fact", sensitive: true },
  ],
  nouns: {
    allergy: ["be allergic to"],
    intolerance: ["be intolerant to", "be allergic to"],
    condition: ["have", "be", "suffer from", "be diagnosed with"],
    illness: ["have", "be", "suffer from", "be diagnosed with"],
    diagnosis: ["have", "be", "be diagnosed with"],
    disease: ["have", "suffer from", "be diagnosed with"],
    medication: ["take", "be on"],
    medicine: ["take", "be on"],
    supplement: ["take"],
    addiction: ["be addicted to"],
    religion: ["be", "believe in", "practise"],
    faith: ["be", "believe in"],
    politics: ["vote for", "vote", "support", "be a member of"],
    bank: ["bank with", "be with"],
  },
};
