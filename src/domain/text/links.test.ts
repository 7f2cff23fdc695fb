import { expect, it } from "vitest";
import { findLinks, rewriteText } from "./rewrite-text.ts";

const read = (text: string): string => rewriteText(text, findLinks(text)).text;

it.each([
  ["My dog is called [click](http://evil.example/x).", "My dog is called click."],
  ["My dog is called [click][1].", "My dog is called click."],
  ["My dog is called ![click](http://evil.example/x).", "My dog is called […]."],
  ["My dog is called <http://evil.example/x>.", "My dog is called […]."],
  ["My dog is called http://evil.example/x.", "My dog is called […]."],
  ["My cat is <a href='http://evil.example'>Luna</a>.", "My cat is Luna."],
  ["I got it at https://bikes.example/a?u=me last week.", "I got it at bikes.example last week."],
  ["Hi <script>alert(1)</script>there", "Hi there"],
  ["My website is https://example.org/a.", "My website is https://example.org/a."],
  ["My GitHub page is https://github.com/ana.", "My GitHub page is https://github.com/ana."],
  ["I live in [redacted] and 3 < 5.", "I live in [redacted] and 3 < 5."],
  ["I said <blockquote>I live in Rome</blockquote>", "I said <blockquote>I live in Rome</blockquote>"],
])("reads %s as %s", (text, plain) => {
  expect(read(text)).toBe(plain);
});

it("maps each position in the text read back to the original text", () => {
  const text = "My dog is called [Rex](http://evil.example/x), I work at <b>Acme</b>.";
  const { text: plain, toOrigin } = rewriteText(text, findLinks(text));
  const placeOf = (word: string): string => {
    const start = plain.indexOf(word);
    const span = toOrigin({ start, end: start + word.length });
    return text.slice(span.start, span.end);
  };
  expect(plain).toBe("My dog is called Rex, I work at Acme.");
  expect(placeOf("Rex")).toBe("Rex](http://evil.example/x)");
  expect(placeOf("My dog is called Rex")).toBe("My dog is called [Rex](http://evil.example/x)");
  expect(placeOf("I work at")).toBe("I work at");
});
