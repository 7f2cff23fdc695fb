import type { BudgetState } from "../../domain/budget.ts";
import { MemoryError } from "../../errors.ts";

/** What whoever asked a model is told, where the budget for it is used up. It names nobody. */
export function createBudgetError({ of, per, unit, limit, until }: BudgetState): MemoryError {
  const amount = unit === "usd" ? `$${limit}` : `${limit.toLocaleString("en")} tokens`;
  return new MemoryError(
    "over_quota",
    `the budget of this ${of} for the ${per} (${amount}) is used up. Models are asked again from ${until} on; ` +
      `KEEPSAKE_BUDGET_${of.toUpperCase()}_${per.toUpperCase()}_${unit.toUpperCase()} sets it.`,
  );
}
