import { describe, expect, it } from "vitest";
import { toBaseForm } from "../../domain/search/base-forms.ts";
import { formatDateInWords } from "../../language/en/format-date.ts";
import {
  conjugate,
  joinList,
  toGerund,
  toPastTense,
  toSecondPerson,
  toSingular,
  toThirdPerson,
} from "./word-forms.ts";

const VERBS =
  "use live work love play take visit travel cancel stop plan promise move sell hike bake commute create decide provide replace switch drop quit study teach learn train adopt marry order book cook paint fix buy share manage run swim drive ride fly watch write follow prefer hate enjoy eat drink smoke try call change finish join leave subscribe collect grow raise walk volunteer save invest owe pay sleep exercise climb surf ski skate sing compose stream code program design build lead organize celebrate argue believe receive weave carry copy plug knit sew water brew juggle settle google email return borrow translate draw delete install swap trade camp fish trek shave dye stretch meditate pray vote protest explore snore store scare prepare hire tire admire agree free".split(
    " ",
  );

describe("forms of verbs", () => {
  it.each(VERBS)("reduces all forms of %s to it", (verb) => {
    expect([toThirdPerson(verb), toPastTense(verb), toGerund(verb)].map(toBaseForm)).toEqual([
      verb,
      verb,
      verb,
    ]);
  });

  it("keeps a form that is already a base form", () => {
    expect(["be", "have", "use", "live"].map(toBaseForm)).toEqual(["be", "have", "use", "live"]);
  });
});

describe("conjugate", () => {
  it.each([
    ["live in", "third", "lives in"],
    ["be allergic to", "you", "are allergic to"],
    ["be allergic to", "third", "is allergic to"],
    ["have been to", "you", "have been to"],
    ["not eat", "you", "do not eat"],
    ["not be", "third", "is not"],
    ["never have been to", "you", "have never been to"],
    ["be", "they", "are"],
  ] as const)("%s of %s is %s", (relation, person, said) => {
    expect(conjugate(relation, person)).toBe(said);
  });
});

describe("toSecondPerson", () => {
  it.each([
    ["The user uses Shram.", "You use Shram."],
    ["The user is allergic to nuts.", "You are allergic to nuts."],
    ["The user has a cat.", "You have a cat."],
    ["The user always drinks tea.", "You always drink tea."],
    ["The user does not eat meat.", "You do not eat meat."],
    ["The user left their job at Kite Labs.", "You left your job at Kite Labs."],
    ["The user's sister Nora lives in Bonn.", "Your sister Nora lives in Bonn."],
    ["The user's parents sold their house.", "Your parents sold their house."],
    ["Caroline paints.", "Caroline paints."],
  ])("%s becomes %s", (text, said) => {
    expect(toSecondPerson(text)).toBe(said);
  });
});

it("formats lists, dates and singulars", () => {
  expect(joinList(["a"])).toBe("a");
  expect(joinList(["a", "b", "c"])).toBe("a, b and c");
  expect(formatDateInWords("2026-04-17")).toBe("Friday, 17 April 2026");
  expect(formatDateInWords("2026-04")).toBe("April 2026");
  expect(formatDateInWords("2026-04-17T15:00:00.000Z", { weekday: false })).toBe("17 April 2026 at 15:00");
  expect(["tools", "children", "hobbies", "boxes", "news", "glass"].map(toSingular)).toEqual([
    "tool",
    "child",
    "hobby",
    "box",
    "news",
    "glass",
  ]);
});
