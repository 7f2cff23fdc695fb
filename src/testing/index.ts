export { hashEmbedder } from "./hash-embedder.ts";
export { RECORD_CASES, type RecordHarness, recordConformance } from "./record-conformance.ts";
export { blankQuestionReader, scriptedExtractor } from "./scripted-extractor.ts";
