import { expect, it } from "vitest";
import { isMemoryError } from "../../../errors.ts";
import { toPostgresMemoryError } from "./errors.ts";

function told(fault: object): string {
  const error = toPostgresMemoryError(Object.assign(new Error("a row of somebody's"), fault));
  return isMemoryError(error) ? `${error.code}: ${error.message}` : "";
}

it.each([
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ["SELF_SIGNED_CERT_IN_CHAIN"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["CERT_HAS_EXPIRED"],
  ["ERR_TLS_CERT_ALTNAME_INVALID"],
])("distinguishes an untrusted certificate (%s) from an unreachable server", (code) => {
  expect(told({ code })).toMatch(
    /^unavailable: PostgreSQL: the server's certificate is not trusted .*sslrootcert=FILE/,
  );
  expect(told({ code: "ECONNREFUSED" })).toMatch(/cannot be reached \(ECONNREFUSED\)/);
});

it("distinguishes a server that requires TLS from a wrong password", () => {
  const fault = { severity: "FATAL" };
  expect(told({ ...fault, code: "28000" })).toMatch(/^forbidden: .*\?sslmode=verify-full/);
  expect(told({ ...fault, code: "28P01" })).toMatch(/^forbidden: .*rejects this name and password/);
});

it("translates errors of a pooler and of a timeout for idle transactions", () => {
  const fault = { severity: "FATAL" };
  expect(told({ ...fault, code: "08P01" })).toMatch(/^unavailable: .*check the name and password/);
  expect(told({ ...fault, code: "25P03" })).toMatch(/^unavailable: .*idle for too long/);
});
