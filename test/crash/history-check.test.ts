import { describe, expect, it } from "vitest";
import {
  checkSet,
  type Fact,
  isLinearizable,
  type ReadCall,
  type RegisterCall,
  wordsIn,
} from "./history-check.ts";
import { uniqueWord } from "./many-commands.ts";

const [ONE, TWO] = [uniqueWord(1), uniqueWord(2)];

function fact(word: string, changes: Partial<Fact> = {}): Fact {
  return { user: "ana", word, isAcked: true, begin: 0, end: 10, ...changes };
}

function read(words: readonly string[], begin: number, changes: Partial<ReadCall> = {}): ReadCall {
  return { user: "ana", isWhole: true, words, begin, end: begin + 1, ...changes };
}

const erasure = { user: "ana", word: ONE, isAcked: true, isComplete: true, begin: 20, end: 30 };

describe("the check of what was acknowledged", () => {
  it("finds nothing where every read shows what was stored before it", () => {
    const found = checkSet([fact(ONE), fact(TWO)], [erasure], [read([ONE, TWO], 12), read([TWO], 40)]);
    expect(found).toEqual({ acked: 2, inDoubt: 0, lost: [], resurrected: [], phantoms: [] });
  });

  it("calls lost what a whole read after the acknowledgement does not show", () => {
    expect(checkSet([fact(ONE)], [], [read([], 12)]).lost).toEqual([ONE]);
    expect(checkSet([fact(ONE)], [], [read([], 12, { isWhole: false })]).lost).toEqual([]);
    expect(checkSet([fact(ONE)], [], [read([], 5)]).lost).toEqual([]);
  });

  it("does not miss what was in doubt, or what an erasure may have taken", () => {
    const unknown = fact(ONE, { isAcked: false, end: Number.POSITIVE_INFINITY });
    expect(checkSet([unknown], [], [read([], 12)])).toMatchObject({ inDoubt: 1, lost: [] });
    expect(checkSet([fact(ONE, { begin: 25, end: 35 })], [erasure], [read([], 40)]).lost).toEqual([]);
    expect(checkSet([fact(ONE, { begin: 31, end: 35 })], [erasure], [read([], 40)]).lost).toEqual([ONE]);
  });

  it("calls resurrected what a read shows that began after its erasure had ended", () => {
    expect(checkSet([fact(ONE)], [erasure], [read([ONE], 31)]).resurrected).toEqual([ONE]);
    expect(checkSet([fact(ONE)], [erasure], [read([ONE], 25)]).resurrected).toEqual([]);
  });

  it("calls phantom what nobody sent, and what another user said", () => {
    const found = checkSet([fact(ONE, { user: "bo" })], [], [read([ONE, TWO], 12)]);
    expect(found.phantoms.toSorted()).toEqual([ONE, TWO]);
  });

  it("finds the words of numbers in text, whatever their case", () => {
    expect(wordsIn(`You use ${ONE}, and ${TWO.toLowerCase()}.`)).toEqual([ONE, TWO]);
  });
});

describe("the check of the order of calls on one memory", () => {
  const call = (kind: RegisterCall["kind"], word: string | undefined, begin: number, end: number) => ({
    kind,
    word,
    begin,
    end,
  });

  it("accepts a read of either value while a write is under way", () => {
    const write = call("write", TWO, 0, 10);
    for (const word of [ONE, TWO]) expect(isLinearizable([write, call("read", word, 5, 6)], ONE)).toBe(true);
  });

  it("refuses a read of the old value after the write has ended", () => {
    expect(isLinearizable([call("write", TWO, 0, 10), call("read", ONE, 11, 12)], ONE)).toBe(false);
  });

  it("refuses two reads that see a write and then do not", () => {
    const calls = [call("write", TWO, 0, 20), call("read", TWO, 1, 2), call("read", ONE, 3, 4)];
    expect(isLinearizable(calls, ONE)).toBe(false);
  });

  it("lets a write whose outcome is not known take effect later, or never", () => {
    const write = call("write", TWO, 0, Number.POSITIVE_INFINITY);
    expect(isLinearizable([write, call("read", ONE, 5, 6), call("read", TWO, 7, 8)], ONE)).toBe(true);
    expect(isLinearizable([write, call("read", ONE, 50, 60)], ONE)).toBe(true);
  });

  it("refuses a read of what was erased before it", () => {
    const erase = call("erase", undefined, 0, 10);
    expect(isLinearizable([erase, call("read", undefined, 11, 12)], ONE)).toBe(true);
    expect(isLinearizable([erase, call("read", ONE, 11, 12)], ONE)).toBe(false);
    expect(isLinearizable([erase, call("write", TWO, 11, 12)], ONE)).toBe(false);
  });
});
