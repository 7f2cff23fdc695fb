import { expect, it } from "vitest";
import { ReaderBusyError, type ReaderUse } from "../../language/en/transformer/reader.ts";
import { createReadingTurns, type ReadingTurns } from "./reading-turns.ts";

/** Readings that end when they are told to, in the order in which they began. */
function holdReadings(turns: ReadingTurns) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const read = (name: string, use: ReaderUse | undefined): Promise<string> =>
    turns.read(() => {
      begun.push(name);
      return new Promise((resolve) => ends.push(() => resolve(name)));
    }, use);
  /** Ends all readings one after the other, and gives the order in which they began. */
  const endAll = async (count = 20): Promise<readonly string[]> => {
    for (let i = 0; i < count; i += 1) {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return begun;
  };
  return { begun, read, endAll };
}

it("reads one window at a time, forgetting first, then begun answers, then users in turn", async () => {
  const { begun, read, endAll } = holdReadings(createReadingTurns(60_000));
  const use = { user: "ana" };
  const first = read("ana 1", use);
  await new Promise((resolve) => setImmediate(resolve));
  const all = [
    first,
    read("ana 2", { user: "ana" }),
    read("ana 3", { user: "ana" }),
    read("ben 1", { user: "ben" }),
    read("ben 2", { user: "ben" }),
    read("cleo 1", { user: "cleo" }),
    read("ana 1, goes on", use),
    read("forget", undefined),
  ];
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(["ana 1"]);
  expect(await endAll()).toEqual([
    "ana 1",
    "forget",
    "ana 1, goes on",
    "ben 1",
    "cleo 1",
    "ana 2",
    "ben 2",
    "ana 3",
  ]);
  await Promise.all(all);
});

it("gives an answer up after the limit, and goes on with the others; a request to forget waits", async () => {
  const { read, endAll } = holdReadings(createReadingTurns(300));
  const first = read("first", { user: "ana" });
  const forget = read("forget", undefined);
  await expect(read("behind both", { user: "ben" })).rejects.toThrow(ReaderBusyError);
  expect(await endAll()).toEqual(["first", "forget"]);
  expect(await Promise.all([first, forget])).toEqual(["first", "forget"]);
});

it("gives an answer up at once where more wait before it than can be read in time", async () => {
  const { begun, read, endAll } = holdReadings(createReadingTurns(20_000));
  const busy: string[] = [];
  const all = Array.from({ length: 100 }, (_, i) =>
    read(`${i}`, { user: `user ${i}` }).catch(() => busy.push(`${i}`)),
  );
  await new Promise((resolve) => setImmediate(resolve));
  // The first is being read, and 80 can wait: an answer is taken to need 250 ms before any has been read for.
  expect(begun).toEqual(["0"]);
  expect(busy).toEqual(Array.from({ length: 19 }, (_, i) => `${i + 81}`));
  expect(await endAll(81)).toHaveLength(81);
  await Promise.all(all);
});

it("lets a user with one question pass a user with many", async () => {
  const { read, endAll } = holdReadings(createReadingTurns(2000));
  const many = Array.from({ length: 12 }, (_, i) =>
    read(`many ${i}`, { user: "many" }).catch((error: unknown) => (error as Error).message),
  );
  const one = read("one", { user: "ana" });
  const begun = await endAll();
  expect(begun.indexOf("one")).toBe(2);
  expect(await one).toBe("one");
  expect(new Set(await Promise.all(many))).toContain("The reader is busy.");
});

it("goes on after a reading that failed", async () => {
  const turns = createReadingTurns(2000);
  const use = { user: "ana" };
  const failed = turns.read(() => Promise.reject(new Error("no thread")), use);
  const next = turns.read(async () => "read", { user: "ben" });
  await expect(failed).rejects.toThrow("no thread");
  expect(await next).toBe("read");
});
