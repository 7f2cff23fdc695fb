import { beforeEach, describe, expect, it } from "vitest";
import { passingSecret, uuidv7 } from "../../adapters/system/index.ts";
import type { Tombstone } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { englishPromptGuard } from "../../language/en/prompt-injection/prompt-guard.ts";
import { englishVocabulary } from "../../language/en/vocabulary.ts";
import type { AddProposal, EndProposal } from "../../ports/language/extractor.ts";
import { hashClaimTombstones } from "../erase/tombstones.ts";
import { createClaimIndex } from "../user-state/user-data.ts";
import { createMemoryDraft } from "./change-set.ts";
import { type DecisionContext, decide } from "./decide.ts";

const SCOPE = { project: "default", user: "ana" };
const secret = passingSecret();
let deciding: DecisionContext & { tombstones: Map<string, Tombstone> };
let ports: Parameters<typeof decide>[0];
let turn = 0;

beforeEach(() => {
  deciding = {
    scope: SCOPE,
    draft: createMemoryDraft(
      { memories: new Map(), current: new Map(), claims: createClaimIndex(), revision: 0 },
      "2026-01-01T00:00:00.000Z",
    ),
    tombstones: new Map(),
    liftedTombstones: new Set(),
  };
  ports = { ids: uuidv7(), secret, promptGuard: englishPromptGuard, vocabulary: englishVocabulary };
  turn = 0;
});

function said(content: string, fields: Partial<Message> = {}): Message {
  turn += 1;
  const at = fields.at ?? `2026-01-${String(turn).padStart(2, "0")}T00:00:00.000Z`;
  return {
    id: `m${turn}`,
    turn,
    role: "user",
    content,
    origin: "user_message",
    at,
    storedAt: at,
    digest: "pending",
    ...fields,
  };
}

type Telling = Partial<Omit<AddProposal, "propose">> & {
  value: string;
  relation?: string;
  subject?: string;
  qualifier?: string;
};

function adds(
  message: Message,
  { value, relation = "use", subject = "user", qualifier, ...rest }: Telling,
): AddProposal {
  return {
    propose: "add",
    message: message.id,
    start: 0,
    end: message.content.length,
    text: `The user ${relation}s ${value}${qualifier ? ` ${qualifier}` : ""}.`,
    kind: "fact",
    claim: { subject, relation, value, ...(qualifier ? { qualifier } : {}) },
    holds: "many",
    confidence: 0.8,
    importance: 0.5,
    ...rest,
  };
}

function ends(
  message: Message,
  target: EndProposal["target"],
  propose: EndProposal["propose"] = "supersede",
): EndProposal {
  return { propose, message: message.id, start: 0, end: message.content.length, target };
}

function tell(content: string, telling: Telling, fields: Partial<Message> = {}): ReturnType<typeof decide> {
  const message = said(content, fields);
  return decide(ports, deciding, adds(message, telling), message);
}

const current = (): Memory[] => [...deciding.draft.current()];
const values = (): (string | undefined)[] => current().map(({ claim }) => claim?.value);

describe("adding", () => {
  it("keeps values of a many-value relation side by side, each with its quote", () => {
    tell("I use Shram.", { value: "Shram" });
    tell("I use Magnet.", { value: "Magnet" });
    expect(values()).toEqual(["Shram", "Magnet"]);
    expect(current()[0]?.sources).toEqual([{ message: "m1", start: 0, end: 12, quote: "I use Shram." }]);
  });

  it("raises the evidence of a repeated claim instead of storing it twice", () => {
    tell("I use Shram.", { value: "Shram" });
    const [line] = tell("Shram is what I use.", { value: "the shram" });
    expect(line?.action).toBe("merged");
    expect(current()).toHaveLength(1);
    expect(current()[0]).toMatchObject({ evidence: 2, version: 2 });
    expect(current()[0]?.sources).toHaveLength(2);
  });

  it("supersedes the old value of a one-value relation, and says by what", () => {
    tell("I live in Leeds.", { relation: "live in", value: "Leeds", holds: "one" });
    const lines = tell("We moved to Bristol.", { relation: "live in", value: "Bristol", holds: "one" });
    expect(values()).toEqual(["Bristol"]);
    expect(lines.map(({ action }) => action)).toEqual(["superseded", "added"]);
    expect(lines[0]?.by).toBe(lines[1]?.id);
    const old = deciding.draft.versions.findLast(({ claim }) => claim?.value === "Leeds");
    expect(old).toMatchObject({ status: "superseded", validTo: "2026-01-02T00:00:00.000Z" });
  });

  it("retracts a memory that a correction says was never true", () => {
    tell("My son is 6.", { subject: "user/son", relation: "be", value: "6", holds: "one" });
    const lines = tell("Sorry, he is 7.", {
      subject: "user/son",
      relation: "be",
      value: "7",
      holds: "one",
      corrects: true,
    });
    expect(lines[0]).toMatchObject({ action: "retracted" });
    expect(values()).toEqual(["7"]);
  });

  it("keeps an older value that arrives late as history, not as news", () => {
    tell(
      "We moved to Bristol.",
      { relation: "live in", value: "Bristol", holds: "one" },
      { at: "2026-03-01T00:00:00.000Z" },
    );
    tell(
      "I live in Leeds.",
      { relation: "live in", value: "Leeds", holds: "one" },
      { at: "2025-03-01T00:00:00.000Z" },
    );
    expect(values()).toEqual(["Bristol"]);
  });

  it("keeps preferences for clearly different circumstances apart", () => {
    const seat = { relation: "prefer", kind: "preference" as const, holds: "one" as const };
    tell("When I fly I prefer a window seat.", { ...seat, value: "a window seat", qualifier: "when I fly" });
    tell("For breakfast I prefer toast.", { ...seat, value: "toast", qualifier: "for breakfast" });
    expect(values()).toEqual(["a window seat", "toast"]);
  });

  it("replaces the memory that the words name", () => {
    tell("I drink coffee.", { relation: "drink", value: "coffee" });
    tell("I've replaced juice with kefir.", {
      relation: "drink",
      value: "matcha",
      replaces: { value: "coffee" },
    });
    expect(values()).toEqual(["matcha"]);
  });
});

describe("ending", () => {
  it("ends the memories that the target names, by any of the value's words", () => {
    tell("I own a Minolta X700.", { relation: "own", value: "a Minolta X700" });
    tell("I own a Canon.", { relation: "own", value: "a Canon" });
    const message = said("Sold the Minolta.");
    const lines = decide(ports, deciding, ends(message, { subject: "user", value: "the Minolta" }), message);
    expect(lines.map(({ action }) => action)).toEqual(["superseded"]);
    expect(values()).toEqual(["a Canon"]);
  });

  it("leaves other people's memories alone", () => {
    tell("My sister uses Magnet.", { subject: "user/sister", value: "Magnet" });
    const message = said("I don't use Magnet anymore.");
    decide(ports, deciding, ends(message, { subject: "user", value: "Magnet" }), message);
    expect(values()).toEqual(["Magnet"]);
  });

  it("waits for confirmation when it would end more than three at once", () => {
    for (const value of ["A1", "B2", "C3", "D4"]) tell(`I use ${value}.`, { value });
    const message = said("I don't use any of them.");
    const [line] = decide(ports, deciding, ends(message, { subject: "user", relation: "use" }), message);
    expect(line?.action).toBe("refused");
    expect(current()).toHaveLength(4);
  });

  it("ends nothing for an empty target", () => {
    tell("I use Shram.", { value: "Shram" });
    const message = said("Not anymore.");
    expect(decide(ports, deciding, ends(message, {}), message)).toEqual([]);
    expect(current()).toHaveLength(1);
  });
});

describe("refusing", () => {
  it.each([
    ["beyond the message", 0, 99],
    ["empty", 3, 3],
    ["backwards", 5, 2],
    ["no whole number", 0.5, 3],
  ])("refuses a quote that is %s", (_name, start, end) => {
    const message = said("I use Shram.");
    const [line] = decide(ports, deciding, { ...adds(message, { value: "Shram" }), start, end }, message);
    expect(line).toMatchObject({ action: "refused", why: "the quote is not in the message" });
    expect(current()).toEqual([]);
  });

  it.each(["assistant", "system", "tool"] as const)(
    "extracts no memory from the words of role %s",
    (role) => {
      const [line] = tell("You use Shram.", { value: "Shram" }, { role, origin: "assistant_message" });
      expect(line?.action).toBe("refused");
      expect(current()).toEqual([]);
    },
  );

  it("refuses erased content unless the user says it again later", () => {
    const claim = { subject: "user", relation: "use", value: "Magnet" };
    const hashes = hashClaimTombstones(ports, SCOPE, claim);
    deciding.tombstones.set(hashes.claim, {
      hash: hashes.claim,
      of: "claim",
      at: "2026-01-10T00:00:00.000Z",
    });
    const old = { at: "2026-01-05T00:00:00.000Z", storedAt: "2026-02-01T00:00:00.000Z" };
    expect(tell("I use Magnet.", { value: "Magnet" }, old)[0]?.action).toBe("refused");
    const imported = { at: "2026-01-12T00:00:00.000Z", origin: "import" as const };
    expect(tell("I use Magnet.", { value: "Magnet" }, imported)[0]?.action).toBe("refused");
    expect(deciding.liftedTombstones.size).toBe(0);
    expect(tell("I use Magnet.", { value: "magnet" }, { at: "2026-01-11T00:00:00.000Z" })[0]?.action).toBe(
      "added",
    );
    expect([...deciding.liftedTombstones]).toEqual([hashes.claim]);
  });
});
