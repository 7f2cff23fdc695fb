import type { Receipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call.ts";
import { extractPendingByRules } from "../digest-pending.ts";
import type { Ports } from "../ports.ts";
import type { Understood } from "../surface.ts";
import { extractPendingByModel } from "./pending.ts";

/** Reads now what waits, by rules and by the model where there is one, and tells what was learnt. */
export async function understand(
  ports: Ports,
  scope: Scope,
  { signal }: CallOptions = {},
): Promise<Understood> {
  const heard = await extractPendingByRules(ports, scope, signal);
  const { read, lines, problem } = await extractPendingByModel(ports, scope, signal);
  const { pending } = await ports.states.of(scope);
  return {
    read: heard + read,
    memories: lines,
    pending,
    ...(problem ? { problem: problem.message } : {}),
  };
}

/** Why a model would not read now what waits for it, as far as that can be told without asking it. */
export async function findHindrance(
  { modelExtractor, costs }: Pick<Ports, "modelExtractor" | "costs">,
  { project, user }: Scope,
): Promise<Receipt["hindered"]> {
  if (!modelExtractor) return undefined;
  if (modelExtractor.circuit?.() === "open") return "unavailable";
  const budgets = (await costs?.budgets({ project, user })) ?? [];
  return budgets.some(({ left }) => left <= 0) ? "over_quota" : undefined;
}
