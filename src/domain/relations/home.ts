import type { RelationArea } from "./row.ts";

/** Where somebody lives and comes from. */
export const HOME: RelationArea = {
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
    },
    { relation: "live at", holds: "one", kind: "fact" },
    { relation: "live on", holds: "one", kind: "fact" },
    { relation: "live with", holds: "many", kind: "fact" },
    { relation: "live near", holds: "one", kind: "fact" },
    { relation: "rent", holds: "many", kind: "fact" },
    { relation: "be born in", holds: "one", kind: "fact" },
    {
      relation: "be from",
      holds: "one",
      kind: "fact",
      also: ["come from", "originate from", "hail from", "be originally from"],
      answeredBy: ["grow up in", "be born in", "be"],
    },
    { relation: "grow up in", holds: "many", kind: "fact" },
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
