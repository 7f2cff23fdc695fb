import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import untouched from "compromise/two";
import { expect, it } from "vitest";
import { createTagCorrections } from "./tag-corrections.ts";

type Tagger = typeof untouched;

const corrected = createRequire(import.meta.url)("compromise/two") as Tagger;
corrected.plugin(createTagCorrections());

const FIXTURES = new URL("../__fixtures__/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, FIXTURES), "utf8");

function tagsOf(tagger: Tagger, text: string): string[][] {
  return tagger(text).docs.flatMap((terms) =>
    terms.map((term) => [term.text, term.normal, ...(term.tags as unknown as Set<string>)]),
  );
}

it("corrects tags as the tagger does by itself", () => {
  const all = [
    ...read("changes.txt").split("\n"),
    ...JSON.stringify(JSON.parse(read("no-facts.json")))
      .split('"')
      .filter((text) => text.includes(" ")),
  ];
  const texts = [
    "We've booked it for next May, haven't we? It's $5 a night, I'd say; the 3rd of June, maybe.",
    "She should've walked the dogs, fed the cat and put the bins out, but didn't.",
    ...all.filter((_text, i) => i % 3 === 0),
  ];
  expect(texts.length).toBeGreaterThan(250);
  for (const text of texts) expect(tagsOf(corrected, text), text).toEqual(tagsOf(untouched, text));
});

it("can be used by a tagger that has built its own patterns", () => {
  corrected("They live there.");
  corrected.plugin(createTagCorrections());
  const text = "I will not drive, she said: the road was closed.";
  expect(tagsOf(corrected, text)).toEqual(tagsOf(untouched, text));
});
