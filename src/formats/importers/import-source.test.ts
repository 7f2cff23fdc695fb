import { expect, it } from "vitest";
import { readAll } from "./import-source.ts";

// Linux refuses to read the first page of a process.
it.runIf(process.platform === "linux")(
  "says that the disk may be the cause if reading a file fails",
  async () => {
    await expect(readAll("/proc/self/mem", 1024)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/\(EIO\)\. Check the disk/),
    });
  },
);
