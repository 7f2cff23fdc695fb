import type { RulesExtractor } from "./grammar/rules.ts";

/**
 * Reads English statements, changes and requests to forget without a model: rules, checked and completed by dependency trees. The
 * first call loads the reader, in some 150 ms, so that a program that only lists or searches starts sooner.
 */
export function englishExtractor(): RulesExtractor {
  let reader: Promise<RulesExtractor> | undefined;
  return {
    name: "rules",
    local: true,
    async propose(reading, options) {
      reader ??= loadReader();
      return (await reader).propose(reading, options);
    },
  };
}

async function loadReader(): Promise<RulesExtractor> {
  const [{ rulesExtractor }, { reconcile }] = await Promise.all([
    import("./grammar/rules.ts"),
    import("./statements/reconcile.ts"),
  ]);
  return rulesExtractor(reconcile);
}
