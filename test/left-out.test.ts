import { expect, it } from "vitest";
import { leftOutLine } from "./left-out.ts";

const ALL = {
  KEEPSAKE_TEST_POSTGRES: "p",
  KEEPSAKE_TEST_MARIADB: "m",
  KEEPSAKE_TEST_REDIS: "r",
  KEEPSAKE_TEST_CHROMA: "c",
  KEEPSAKE_TEST_FAISS: "f",
  KEEPSAKE_TEST_S3_VECTORS: "s",
  KEEPSAKE_TEST_CITUS: "c",
};

it("says how many tests were left out, for want of what, and how they are run", () => {
  expect(leftOutLine(7, { ...ALL, KEEPSAKE_TEST_REDIS: "", KEEPSAKE_TEST_CHROMA: undefined })).toBe(
    "7 tests were left out, for want of servers (KEEPSAKE_TEST_REDIS not set, KEEPSAKE_TEST_CHROMA not set). " +
      'To run them too: eval "$(test/services/up)" && npm run test:services',
  );
});

it("refers to the guide for a cluster, which no script of the project starts", () => {
  expect(leftOutLine(2, { ...ALL, KEEPSAKE_TEST_CITUS: "" })).toBe(
    "2 tests were left out, for want of servers (KEEPSAKE_TEST_CITUS not set). CONTRIBUTING.md says what they need.",
  );
});

it("says nothing where all ran, or no server was missing", () => {
  expect(leftOutLine(0, {})).toBeUndefined();
  expect(leftOutLine(3, ALL)).toBeUndefined();
  expect(leftOutLine(2, ALL, ["nginx", "strace"])).toContain("(nginx not installed, strace not installed)");
});
