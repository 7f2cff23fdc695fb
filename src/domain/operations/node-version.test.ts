import { expect, it } from "vitest";
import { findNodeProblem } from "./node-version.ts";

it.each(["18.20.8", "20.20.2", "21.7.3", "22.22.2", "22.0.0", "23.11.1", "24.14.9"])(
  "Node %s is refused with a sentence that says which versions run",
  (version) => {
    expect(findNodeProblem(version)).toBe(`requires Node 22.22.3+ or 24.15+; this is ${version}.`);
  },
);

it.each(["22.22.3", "22.23.0", "24.15.0", "24.21.0", "25.0.0", "26.1.0"])("Node %s runs", (version) => {
  expect(findNodeProblem(version)).toBeUndefined();
});
