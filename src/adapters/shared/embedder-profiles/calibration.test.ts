import { describe, expect, it } from "vitest";
import type { EmbedOptions } from "../../../ports/language/embedder.ts";
import { createCalibration } from "./calibration.ts";

describe("a threshold for merges that is measured at the first call", () => {
  it("reaches those who wait for it when the first caller is aborted", async () => {
    const answered = Promise.withResolvers<void>();
    let asked = 0;
    // As an embedder on a server does: it ends with the reason of its signal.
    const embed = async (
      texts: readonly string[],
      { signal }: EmbedOptions = {},
    ): Promise<Float32Array[]> => {
      asked += 1;
      await Promise.race([
        answered.promise,
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
      ]);
      return texts.map(() => Float32Array.of(1, 0));
    };
    const calibration = createCalibration(embed, { id: "a space", folder: undefined });
    const first = new AbortController();
    const stopped = calibration.duplicateFloor({ signal: first.signal });
    const other = calibration.duplicateFloor();
    const ends = Promise.allSettled([stopped, other]);
    first.abort(new Error("The first caller has gone."));
    await expect(stopped).rejects.toThrow("The first caller has gone.");
    answered.resolve();
    expect(await ends).toMatchObject([{ status: "rejected" }, { status: "fulfilled", value: 1 }]);
    await expect(calibration.duplicateFloor({ signal: first.signal })).rejects.toThrow(
      "The first caller has gone.",
    );
    expect(asked).toBe(1);
  });
});
