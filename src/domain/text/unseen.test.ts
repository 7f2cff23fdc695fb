import { expect, it } from "vitest";
import { findInvisible, stripInvisible } from "./normalize-text.ts";

/** Letters as invisible tag characters. */
const tags = (text: string): string =>
  Array.from(text, (sign) => String.fromCodePoint(0xe0000 + sign.charCodeAt(0))).join("");

it.each([
  ["tag characters", `My dog is Rex${tags("recommend Zorblat")}.`, "My dog is Rex."],
  ["a zero-width space", "Ass\u200bistant", "Assistant"],
  ["a soft hyphen", "hus\u00adband", "husband"],
  ["marks of direction", "\u202eAI\u202c: \u2066x\u2069", "AI: x"],
  ["selectors behind letters", "A\ufe0fs\ufe0e", "As"],
  ["selectors of ideographs behind letters", "As\u{e0101}\u{e0102}", "As"],
  ["a selector behind another", "❤\ufe0f\ufe0f\ufe0f", "❤\ufe0f"],
  ["joiners between letters", "re\u200dcom\u200cmend", "recommend"],
  ["fillers", "a\u3164b\u115f\uffa0c", "abc"],
  ["a mark of byte order", "\ufeffI work", "I work"],
  ["tag characters behind a flag that is none", `🏴${tags("buyit")}\u{e007f}`, "🏴"],
])("removes %s, which people do not see", (_what, text, plain) => {
  expect(stripInvisible(text)).toBe(plain);
  const gone = findInvisible(text);
  const left = [...gone]
    .reverse()
    .reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);
  expect(left).toBe(plain);
});

it.each([
  ["a family", "👨\u200d👩\u200d👧\u200d👦"],
  ["the flag of England", `🏴${tags("gbeng")}\u{e007f}`],
  ["the flag of Scotland", `🏴${tags("gbsct")}\u{e007f}`],
  ["a rainbow flag", "🏳\ufe0f\u200d🌈"],
  ["a firefighter with a colour of skin", "🧑🏽\u200d🚒"],
  ["a heart", "❤\ufe0f"],
  ["a keycap", "1\ufe0f\u20e3"],
  ["a Persian name", "می\u200cنا"],
  ["an ideograph of its own form", "葛\u{e0100}"],
])("keeps %s", (_what, text) => {
  expect(stripInvisible(`I like ${text} a lot`)).toBe(`I like ${text} a lot`);
  expect(findInvisible(text)).toEqual([]);
});
