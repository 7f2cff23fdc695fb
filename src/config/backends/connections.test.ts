import { describe, expect, it } from "vitest";
import { openServerStore } from "./connections.ts";

const open = (url: string) =>
  openServerStore(url.startsWith("mysql") ? { mariadb: { url } } : { postgres: { url } });

describe("the address of a database server", () => {
  it.each(["mysql://keepsake:50%zz@127.0.0.1:9/memories", "mysql://keepsake:1@127.0.0.1:9/mem%ories"])(
    "is refused with what to write if a % in it begins no character, as in %j",
    async (url) => {
      await expect(open(url)).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringMatching(/^MEMORY_DB_URL: .* Write %25 for a %\.$/),
      });
    },
  );

  it.each([
    "mysql://keepsake:1@127.0.0.1:9/memories?sslmode=verify-full&sslrootcert=/nowhere/ca-of-secrets.pem",
    "postgresql://keepsake:1@127.0.0.1:9/memories?sslmode=verify-full&sslrootcert=/nowhere/ca-of-secrets.pem",
    "postgresql://keepsake:1@127.0.0.1:9/memories?sslrootcert=&sslkey=/nowhere/ca-of-secrets.pem",
  ])("is refused if a file that it names cannot be read, without the path: %s", async (url) => {
    const error = await open(url).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/^MEMORY_DB_URL: the file that ssl\w+ names cannot be read\./),
    });
    expect(String(error)).not.toContain("secrets");
  });
});
