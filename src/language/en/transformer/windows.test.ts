import { describe, expect, it } from "vitest";
import { countPieces, splitIntoPieces } from "../embedding/sentence-vectors.ts";
import { requestPieces } from "../forget-requests/request-pieces.ts";
import { splitSegments } from "./segments.ts";
import { type ClauseWindow, toWindowEntries, toWindows, WINDOW } from "./windows.ts";

const USER = 7;
const entriesOf = (text: string, name?: string): ReturnType<typeof toWindowEntries> =>
  toWindowEntries(text, name, splitSegments(text), USER);
const piecesOf = (text: string): number[] => splitIntoPieces(text).map(({ row }) => row);

/** The pieces of each clause of a window. */
function clausesOf({ tokens, clauses }: ClauseWindow): number[][] {
  return clauses.map(({ from, to }) => tokens.slice(from, to));
}

describe("windows of what was said, with a request before each", () => {
  it("hold each clause with its own word pieces", async () => {
    const text = "The alarm code is 5502 and the safe code is 5520.";
    const windows = toWindows(await requestPieces("the alarm code", undefined), entriesOf(text));
    expect(windows.flatMap(clausesOf)).toEqual(
      splitSegments(text).map(({ start, end }) => piecesOf(text.slice(start, end))),
    );
  });

  it("begin with the request, between the two marks", async () => {
    const request = await requestPieces("the alarm code", undefined);
    const [window] = toWindows(request, entriesOf("It is 5502."));
    expect(window?.tokens.slice(0, request.tokens.length + 2)).toEqual([
      countPieces(),
      ...request.tokens,
      countPieces() + 1,
    ]);
  });

  it("take more messages than fit into one as several, in order, without losing a clause", async () => {
    const texts = Array.from({ length: 60 }, (_, i) => `Neighbour number ${i} keeps geese and a mule.`);
    const windows = toWindows(
      await requestPieces("the geese", undefined),
      texts.flatMap((text) => entriesOf(text)),
    );
    expect(windows.length).toBeGreaterThan(2);
    for (const { tokens } of windows) expect(tokens.length).toBeLessThan(WINDOW + 10);
    const read = windows.flatMap(({ clauses }) => clauses.map(({ entry }) => entry));
    expect([...new Set(read)]).toEqual([...texts.keys()]);
  });

  it("take a message that is too long for one in parts, at the ends of clauses", async () => {
    const text = Array.from({ length: 60 }, (_, i) => `Neighbour number ${i} keeps geese and a mule.`).join(
      " ",
    );
    const entries = entriesOf(text);
    expect(entries.length).toBeGreaterThan(2);
    expect(entries.flatMap(({ clauses }) => clauses)).toHaveLength(splitSegments(text).length);
  });

  it("put the name of the speaker before a message of a conversation among several", async () => {
    const [entry] = entriesOf("I keep geese.", "Mara");
    expect(entry?.tokens).toEqual(piecesOf("Mara: I keep geese."));
  });

  it("read a word that is longer than a window as far as it goes", async () => {
    const [window] = toWindows(await requestPieces("that", undefined), entriesOf("xq".repeat(5_000)));
    expect(window?.tokens.length ?? 0).toBeLessThan(WINDOW + 10);
  });
});
