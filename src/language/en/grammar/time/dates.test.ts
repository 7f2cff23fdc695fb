import { expect, it } from "vitest";
import { datesIn } from "./dates.ts";

const on = (text: string, future: boolean): string[] =>
  datesIn(text, "2024-05-03T10:00:00.000Z", future).map(({ iso }) => iso);

it("reads a number behind the name of a month as a day", () => {
  expect(on("I updated it to version 6.0 on May 30", true)).toEqual(["2024-05-30"]);
  expect(on("the call is on April 21 at 3 PM", false)).toEqual(["2024-04-21T15:00:00.000Z"]);
  expect(on("my flight is on Sept 4th", true)).toEqual(["2024-09-04"]);
});

it("reads a day before its month, and a month with its year", () => {
  expect(on("we met on 30 May", true)).toEqual(["2024-05-30"]);
  expect(on("we moved in July 2018", false)).toEqual(["2018-07"]);
});

it("reads no date from how long something takes", () => {
  expect(on("I want to dedicate 30 minutes to it", true)).toEqual([]);
  expect(on("we met 2 hours ago", false)).toHaveLength(1);
});

it("takes an hour without its half of the day for one of the afternoon, where few things take place at night", () => {
  expect(on("the meeting is Friday at 3", true)).toEqual(["2024-05-10T15:00:00.000Z"]);
  expect(on("the meeting is Friday at 9", true)).toEqual(["2024-05-10T09:00:00.000Z"]);
  expect(on("the meeting is Friday at 3 am", true)).toEqual(["2024-05-10T03:00:00.000Z"]);
});

it("reads no date from days on which something is always done", () => {
  expect(on("we train Tuesday and Thursday at the harbour", true)).toEqual([]);
  expect(on("we are meeting Tuesday and Thursday", true)).toHaveLength(2);
});

it("reads a month of three letters behind any word for a time", () => {
  expect(on("been gluten free since jan", true)).toEqual(["2024-01"]);
  expect(on("rent going up to 1250 from feb", true)).toEqual(["2025-02"]);
  expect(datesIn("on nights since dec", "2026-11-30T10:00:00.000Z", false)[0]?.iso).toBe("2025-12");
  expect(on("I left before mar", false)).toEqual(["2024-03"]);
  expect(on("from the jar, mar it", true)).toEqual([]);
});

it("puts a limit without a year on the side that is nearer, whatever the tense", () => {
  const at = "2025-03-18T10:00:00.000Z";
  expect(datesIn("I got an extension til 15 July", at, false)[0]?.iso).toBe("2025-07-15");
  expect(datesIn("she was posted to Leeds from 1 September", at, false)[0]?.iso).toBe("2025-09-01");
  expect(datesIn("we stayed until 20 January", at, false)[0]?.iso).toBe("2025-01-20");
  expect(datesIn("he has been there since 1 September", at, true)[0]?.iso).toBe("2024-09-01");
});

it("reads a weekday and its number as one day", () => {
  const at = "2025-10-17T10:00:00.000Z";
  expect(datesIn("he came back on Thursday the 23rd", at, false)[0]?.iso).toBe("2025-10-23");
  expect(datesIn("the fitting was on Tuesday 7th", at, false)[0]?.iso).toBe("2025-10-07");
});

it("reads no date from a length in words above ten", () => {
  const at = "2025-06-03T10:00:00.000Z";
  expect(datesIn("I have been treasurer for eleven years", at, false)).toEqual([]);
  expect(datesIn("she taught for thirty-one years", at, false)).toEqual([]);
  expect(datesIn("they moved here twelve years ago", at, false)[0]?.iso).toContain("2013");
});

it("puts a deadline, and what is booked, on the day ahead, whatever the tense", () => {
  const at = "2026-11-17T10:00:00.000Z";
  expect(datesIn("my boss wanted the slides by Friday", at, false)[0]?.iso).toBe("2026-11-20");
  expect(datesIn("we met on Friday", at, false)[0]?.iso).toBe("2026-11-13");
  expect(datesIn("the tutor wanted it by last Friday", at, false)[0]?.iso).toBe("2026-11-13");
  expect(datesIn("they've moved my hearing to 24 March", at, false)[0]?.iso).toBe("2027-03-24");
  expect(datesIn("my son has booked Chamonix for the first week of March", at, false)[0]?.iso).toContain(
    "2027",
  );
  expect(datesIn("we reserved a cabin for Easter", at, false)[0]?.iso).toBe("2027-03-28");
});

it("takes a day for one of a month that has it", () => {
  const at = "2026-11-17T10:00:00.000Z";
  expect(datesIn("they need it by the 31st", at, true)[0]?.iso).toBe("2026-12-31");
  expect(datesIn("I paid on the 31st", at, false)[0]?.iso).toBe("2026-10-31");
});

it("reads no hour from a day behind from", () => {
  expect(datesIn("posted to Cyprus from 3 Oct", "2026-08-17T10:00:00.000Z", false)[0]?.iso).toBe(
    "2026-10-03",
  );
});

it("reads no date from how long something took", () => {
  expect(on("I passed my exam after four years", false)).toEqual([]);
  expect(on("after six months of waiting we got the keys", false)).toEqual([]);
});
