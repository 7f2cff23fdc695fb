import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { loadVendorPackage, VENDOR_PACKAGES } from "./vendor-packages.ts";

const { devDependencies, dependencies } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { [kind: string]: { readonly [name: string]: string } };

it.each(Object.entries(VENDOR_PACKAGES))(
  "names the version of %s that the tests run with",
  (name, { major }) => {
    expect(devDependencies?.[name]).toMatch(new RegExp(`^${major}\\.\\d+\\.\\d+$`));
    expect(dependencies?.[name]).toBeUndefined();
  },
);

it("loads an installed package", async () => {
  const { Pool } = await loadVendorPackage("pg", "MEMORY_DB_URL");
  expect(Pool).toBeTypeOf("function");
});
