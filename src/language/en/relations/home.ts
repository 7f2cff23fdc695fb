import type { RelationArea } from "./relation-row.ts";

/** Where a person lives and comes from. */
export const HOME_RELATIONS: RelationArea = {
  relations: [
    {
      relation: "live in",
      holds: "one",
      kind: "fact",
      also: [
        "reside in",
        "be based in",
        "be living in",
        "dwell in",
        "live over in",
        "live up in",
        "live down in",
        "live out in",
        "live outside",
      ],
      answeredBy: [
        "live at",
        "live on",
        "live near",
        "move to",
        "be in",
        "stay in",
        "relocate to",
        "settle in",
      ],
      example: {
        says: "I live in Porto.",
        gives: "user | live in | Porto",
        asks: "Where do I live?",
        answer: "Porto",
      },
    },
    {
      relation: "live at",
      holds: "one",
      kind: "fact",
      example: {
        says: "I live at 12 Mill Lane.",
        gives: "user | live at | 12 Mill Lane",
        asks: "What is my address?",
        answer: "12 Mill Lane",
      },
    },
    {
      relation: "live on",
      holds: "one",
      kind: "fact",
      example: {
        says: "I live on Harbour Street.",
        gives: "user | live on | Harbour Street",
        asks: "What street do I live on?",
        answer: "Harbour Street",
      },
    },
    {
      relation: "live with",
      holds: "many",
      kind: "fact",
      example: {
        says: "I live with Carla.",
        gives: "user | live with | Carla",
        asks: "Who do I live with?",
        answer: "Carla",
      },
    },
    {
      relation: "live near",
      holds: "one",
      kind: "fact",
      example: {
        says: "I live near the castle.",
        gives: "user | live near | the castle",
        asks: "Where do I live?",
        answer: "castle",
      },
    },
    {
      relation: "rent",
      holds: "many",
      kind: "fact",
      example: {
        says: "I rent a studio.",
        gives: "user | rent | a studio",
        asks: "What do I rent?",
        answer: "studio",
      },
    },
    {
      relation: "be born in",
      holds: "one",
      kind: "fact",
      example: {
        says: "I was born in Gdansk.",
        gives: "user | be born in | Gdansk",
        asks: "Where was I born?",
        answer: "Gdansk",
      },
    },
    {
      relation: "be from",
      holds: "one",
      kind: "fact",
      also: ["come from", "originate from", "hail from", "be originally from"],
      answeredBy: ["grow up in", "be born in", "be"],
      example: {
        says: "I'm from Quito.",
        gives: "user | be from | Quito",
        asks: "Where am I from?",
        answer: "Quito",
      },
    },
    {
      relation: "grow up in",
      holds: "many",
      kind: "fact",
      example: {
        says: "I grew up in Leeds.",
        gives: "user | grow up in | Leeds",
        asks: "Where did I grow up?",
        answer: "Leeds",
      },
    },
  ],
  nouns: {
    home: ["live in", "live at", "live on"],
    city: ["live in"],
    town: ["live in"],
    village: ["live in"],
    country: ["live in"],
    address: ["live at", "live on", "live in"],
    street: ["live on", "live at"],
  },
};
