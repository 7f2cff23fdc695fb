import { callsConformance } from "../../testing/calls-conformance.ts";
import { memoryCalls } from "./index.ts";

callsConformance({ name: "memory", open: async () => memoryCalls() });
