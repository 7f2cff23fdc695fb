import { languageModelConformance } from "./language-model-conformance.ts";
import { scriptedModel } from "./scripted-model.ts";

languageModelConformance({ name: "scripted", open: async (says) => scriptedModel(says) });
