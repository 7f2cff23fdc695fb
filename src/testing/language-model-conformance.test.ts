import { languageModelConformance } from "./language-model-conformance.ts";
import { scriptedModel } from "./test-doubles.ts";

languageModelConformance({ name: "scripted", open: async (says) => scriptedModel(says) });
