import { describe, expect, it } from "vitest";
import { HOMES } from "../claims/homes.ts";
import { EMPLOYERS, PROMOTIONS } from "../claims/jobs.ts";
import { PAIRED } from "../claims/pairs.ts";
import { TAKES_BACK } from "../corrections/taken-back.ts";
import { SAME } from "../scraps/echoes.ts";
import { MISSPELLINGS } from "../words/repairs.ts";
import { DROPPED, FULFILLED } from "./change-plans.ts";
import { REWORDINGS } from "./change-swaps.ts";
import { ENDED_IT, IT_ENDED, OVER_WITH, TAKEN_OFF } from "./ending-idioms.ts";
import { KEEPS } from "./narrowings.ts";
import { NEWCOMERS, RENAMINGS } from "./newcomers.ts";
import { COUNTS } from "./quantities.ts";
import { RESUMES } from "./resumptions.ts";

/** An idiom with something in its place. */
function idioms(rows: readonly string[]): RegExp[] {
  return rows.map((row) => new RegExp(`^${row.replace("{}", "(?<what>.+?)")}$`, "iu"));
}

/** Each row of each table, in order, with a sentence that it reads: a new row needs a new sentence. */
const WAYS: readonly (readonly [string, readonly RegExp[], readonly string[]])[] = [
  [
    "what one ended",
    idioms(ENDED_IT),
    [
      "got shot of the piano",
      "gave up on Welsh",
      "gave the tent away",
      "gave back the keys",
      "packed in the choir",
      "jacked the course in",
      "threw out the toaster",
      "chucked the rug away",
      "had the pony to sleep",
      "parted ways with the agency",
      "switched the heater off",
      "moved away from the old editor",
      "cut sugar out",
      "let the pass lapse",
      "knocked the class on the head",
      "kicked the biscuit habit",
      "didn't renew the permit",
      "haven't worn heels since",
      "no bread for me",
      "don't need the cane anymore",
      "done volunteering at the museum",
      "got out of crypto",
      "gave notice on the flat",
      "stopped going to judo",
    ],
  ],
  [
    "what others ended",
    idioms(TAKEN_OFF),
    ["took me off statins", "kicked us out of the league", "axed the bus"],
  ],
  [
    "who one is no longer with",
    idioms(OVER_WITH),
    ["it's over with Nils", "me and Nils are done", "Nils and I split up"],
  ],
  [
    "what became of a thing",
    idioms(IT_ENDED),
    ["has been cancelled", "bit the dust", "isn't something I use anymore"],
  ],
  [
    "one stays of several",
    KEEPS,
    [
      "just the kayak now",
      "I only eat fish now",
      "these days I just drink water",
      "all I use now is Vim",
      "the only one I kept is the harp",
      "the harp is the only one left",
      "sold everything except the harp",
      "kept the harp, sold the rest",
      "sold the rest, kept the harp",
    ],
  ],
  [
    "a joke taken back",
    TAKES_BACK,
    ["that was a joke", "just kidding", "that isn't true", "I made that up", "scratch that"],
  ],
  [
    "taken up again",
    RESUMES,
    [
      "I'm back on Spotify",
      "picked Czech back up",
      "took up the lute again",
      "rejoined the club",
      "started learning Czech again",
      "I use Vim again",
      "Vim's back",
    ],
  ],
  [
    "plans dropped",
    DROPPED,
    [
      "changed our minds about the dog",
      "decided not to sell the house",
      "decided against the retreat",
      "not learning Basque after all",
      "won't be moving to Rome after all",
      "gave up on the marathon",
      "the trip isn't happening",
      "the deal fell through",
    ],
  ],
  ["things done", FULFILLED, ["the passport's done", "got the passport sorted", "done the tax return"]],
  [
    "a new home",
    HOMES,
    [
      "we bought a house in Jena and moved in",
      "moved into a flat in Jena",
      "settled in Jena now",
      "we've relocated to Jena",
      "Jena is home now",
      "home is Jena now",
      "in Jena now",
    ],
  ],
  [
    "a new employer",
    EMPLOYERS,
    [
      "started at a studio called Blaufuchs",
      "first day at Blaufuchs",
      "I'm at Blaufuchs now",
      "joined Blaufuchs as a designer",
      "new job: Blaufuchs",
      "my new employer is Blaufuchs",
      "Blaufuchs hired me",
    ],
  ],
  [
    "a promotion",
    PROMOTIONS,
    [
      "got promoted to team lead",
      "they made me store manager",
      "promoted, head curator since June",
      "been made captain",
    ],
  ],
  [
    "somebody new in a role",
    NEWCOMERS,
    [
      "we've got a new babysitter, Jonna",
      "new doctor: Dr Vega",
      "my coach is now Idris",
      "Hanne is my coach now",
      "Hanne is my new coach",
      "changed vets, we see Dr Amin",
      "Hanne took over as our coach",
    ],
  ],
  [
    "a new name",
    RENAMINGS,
    [
      "changed the team's name to The Badgers",
      "renamed the boat, it's now Osprey",
      "the boat was renamed to Osprey",
    ],
  ],
  [
    "a swap in short",
    REWORDINGS.map(([pattern]) => pattern),
    [
      "Excel is out, Numbers is in",
      "out with the sofa, in with the futon",
      "bye Excel, hello Numbers",
      "hello Numbers, bye Excel",
      "no more coffee, just tea now",
      "it's tea now, not coffee",
      "coffee was replaced by tea",
      "Numbers replaced Excel",
      "they moved me to goalkeeper",
      "sold one of them, the harp",
    ],
  ],
  ["a new number", COUNTS, ["I've upped it to 40 pages", "I'm at 74 kilos now"]],
  ["the same of somebody else", SAME, ["same here", "me too", "so am I", "same goes for my wife"]],
];

describe("ways to say a change", () => {
  it.each(WAYS)("%s: each row reads its sentence", (_name, rows, sentences) => {
    expect(sentences).toHaveLength(rows.length);
    const lowered = sentences.map((one) => [one, one.replace(/\bI\b/g, "i")]);
    expect(rows.filter((row, k) => !lowered[k]?.some((one) => row.test(one))).map(String)).toEqual([]);
  });

  it("couples are told in words that each row knows", () => {
    const said = ["engaged", "married", "together", "living together", "best friends", "colleagues"];
    expect(PAIRED.map(([words], k) => new RegExp(`^(?:${words})$`).test(said[k] ?? ""))).toEqual(
      said.map(() => true),
    );
  });

  it("mistyped words are not words themselves", () => {
    for (const [wrong, meant] of MISSPELLINGS) expect(MISSPELLINGS.has(meant) || wrong === meant).toBe(false);
  });
});
