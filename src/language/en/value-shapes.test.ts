import { expect, it } from "vitest";
import { findShapedValues } from "./value-shapes.ts";

it.each([
  ["the dose for Jan 17 June", ["17 June"]],
  ["the visit of May on 3 June 2026", ["3 June 2026"]],
  ["the visit on Jan 17 and on 3 June", ["Jan 17", "3 June"]],
  ["due May 3, 2026", ["May 3, 2026"]],
])("finds the dates of “%s”", (text, dates) => {
  const found = findShapedValues(text).filter(({ shape }) => shape === "date");
  expect(found.map(({ text: date }) => date)).toEqual(dates);
});

it.each([
  ["My salary is 61k and I started in May", ["61k"]],
  ["a bonus of 2.5k, not 25km", ["2.5k"]],
])("finds the thousands of “%s”", (text, numbers) => {
  const found = findShapedValues(text).filter(({ shape }) => shape === "number");
  expect(found.map(({ text: number }) => number)).toEqual(numbers);
});
