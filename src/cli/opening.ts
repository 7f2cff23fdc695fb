import { chooseCacheBytes } from "../config/cache.ts";
import type { CostSettings } from "../config/cost-settings.ts";
import type { EmbedderSettings, Settings } from "../config/settings.ts";
import type { Keepsake } from "../engine/surface.ts";
import type { MemoryOptions } from "../memory.ts";
import type { CallHooks } from "../ports/calls.ts";

/** Opens the memory as the settings have it. Loaded here, so that help and mistakes in use are answered without opening anything. */
export async function openMemory(settings: Settings, ports: MemoryOptions): Promise<Keepsake> {
  const { createMemory } = await import("../memory.ts");
  const { secret, confidenceThreshold, topK: limit, maxContextTokens: maxTokens } = settings;
  const keepsake = await createMemory({
    ...(settings.jobs === undefined ? {} : { jobs: settings.jobs }),
    ...ports,
    ...(secret === undefined ? {} : { secret }),
    ...(settings.redact === undefined ? {} : { redact: settings.redact }),
    ...(settings.decayDays === undefined ? {} : { decayDays: settings.decayDays }),
    ...(settings.cleanUp === undefined ? {} : { cleanUp: settings.cleanUp }),
    cacheBytes: settings.cacheMegabytes === undefined ? chooseCacheBytes() : settings.cacheMegabytes * 1e6,
    ...(await loadUnderstandingOptions(settings, confidenceThreshold, ports.inThreads)),
    ...(settings.embedder === undefined ? {} : { embedder: toEmbedderOption(settings.embedder) }),
    costs: await loadCosts(settings.costs),
  });
  if (limit === undefined && maxTokens === undefined) return keepsake;
  const { withDefaults } = await import("../config/defaults.ts");
  return withDefaults(keepsake, {
    ...(limit === undefined ? {} : { limit }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  });
}

/** Who reads what is said. */
async function loadUnderstandingOptions(
  { model }: Settings,
  threshold: number | undefined,
  inThreads = false,
) {
  const { toUnderstandingOptions: understandingOf } = await import("../config/understanding.ts");
  return understandingOf(model, threshold, inThreads);
}

function toEmbedderOption(named: EmbedderSettings) {
  return async (hooks: CallHooks) => (await import("../config/embedder.ts")).openEmbedder(named, hooks);
}

/** What is said may be said at any time (`--at`); what it costs is paid now. */
async function loadCosts(settings: CostSettings | undefined) {
  const clock = () => new Date();
  if (settings === undefined) return { clock };
  return { ...(await (await import("../config/costs.ts")).loadCostOptions(settings)), clock };
}
