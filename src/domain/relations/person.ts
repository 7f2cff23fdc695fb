import type { RelationArea } from "./row.ts";

/** Who somebody is: names, age, languages, habits. */
export const PERSON: RelationArea = {
  relations: [
    {
      relation: "be called",
      holds: "one",
      kind: "entity",
      also: ["be named", "go by", "answer to"],
      answeredBy: ["be", "wish to be called", "be nicknamed"],
    },
    { relation: "be nicknamed", holds: "many", kind: "entity" },
    { relation: "wish to be called", holds: "one", kind: "instruction" },
    { relation: "be aged", holds: "one", kind: "fact" },
    { relation: "be born on", holds: "one", kind: "fact" },
    {
      relation: "speak",
      holds: "many",
      kind: "fact",
      answeredBy: ["grow up speaking", "be fluent in", "know", "learn"],
    },
    { relation: "be scared of", holds: "many", kind: "fact", also: ["be afraid of", "be terrified of"] },
    { relation: "weigh", holds: "one", kind: "fact", sensitive: true, answeredBy: ["be"] },
    {
      relation: "go to bed",
      holds: "many",
      kind: "fact",
      answeredBy: ["get to bed", "be in bed", "be asleep"],
    },
    { relation: "get up", holds: "many", kind: "fact", answeredBy: ["wake up", "wake", "rise", "be up"] },
  ],
  nouns: {
    name: ["be called"],
    nickname: ["be nicknamed", "wish to be called", "be called"],
    surname: ["be called"],
    age: ["be aged"],
    birthday: ["be born on"],
    language: ["speak"],
    nationality: ["be", "be from"],
    fear: ["be scared of"],
    phobia: ["be scared of"],
    weight: ["weigh"],
    hometown: ["be from", "grow up in", "be born in"],
    birthplace: ["be born in"],
    status: ["be", "be diagnosed with", "have"],
  },
};
