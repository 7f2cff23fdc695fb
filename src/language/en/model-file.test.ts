import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findTensor, readModelFile, toFloats } from "./model-file.ts";

const bytes = readFileSync(new URL("../../../assets/requests-en.bin", import.meta.url));
const MAGIC = "KSREQST1";

describe("a model file", () => {
  it("gives its header and its tensors", () => {
    const { header, tensors } = readModelFile<{ words: string[] }>(bytes, MAGIC);
    expect(header.words.length).toBeGreaterThan(100);
    const tensor = findTensor(tensors, "projection.weights");
    expect(toFloats(tensor)).toHaveLength(tensor.rows * tensor.columns);
  });

  it.each([
    ["of another model", bytes, "KSPARSE1"],
    ["without content", new Uint8Array(), MAGIC],
    ["cut off in its header", bytes.subarray(0, 100), MAGIC],
    ["cut off in its tensors", bytes.subarray(0, bytes.length - 1000), MAGIC],
  ])("%s is refused as corrupt", (_name, some, magic) => {
    expect(() => readModelFile(some, magic)).toThrowError(expect.objectContaining({ code: "corrupt" }));
  });

  it("has no tensor of an unknown name", () => {
    const { tensors } = readModelFile(bytes, MAGIC);
    expect(() => findTensor(tensors, "unknown")).toThrowError(expect.objectContaining({ code: "corrupt" }));
  });
});
