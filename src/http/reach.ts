import type { Forget, ScopedMemory } from "../engine/surface.ts";
import { MemoryError } from "../errors.ts";
import type { CallOptions } from "../ports/call.ts";
import type { Bearer } from "./keys.ts";
import type { OperationRequest, ServerServices } from "./operation.ts";

/** What a bearer can get at: its project, and where its key is bound to a user, that user alone. */
export function createUserAccess(
  services: Pick<ServerServices, "keepsake">,
  bearer: Bearer | undefined,
): Pick<OperationRequest, "memoryOf" | "project"> {
  const project = (): string => {
    if (!bearer) throw new TypeError("an operation without a key has no project");
    return bearer.project;
  };
  return {
    project,
    memoryOf(user): ScopedMemory {
      // The same for everybody else, whether there is such a user or not.
      if (bearer?.user !== undefined && bearer.user !== user) {
        throw new MemoryError("not_found", "There is no such user.");
      }
      const memory = services.keepsake.scope({ project: project(), user });
      return bearer?.scopes.includes("erase") ? memory : forbidErasure(memory);
    },
  };
}

/** For a key that may not erase: neither by a call nor by words in a message. */
function forbidErasure(memory: ScopedMemory): ScopedMemory {
  return {
    ...memory,
    remember: (input, options) => memory.remember(input, { ...options, mayErase: false }),
    converse: (message, options) => memory.converse(message, { ...options, mayErase: false }),
    converseStream: (message, options) => memory.converseStream(message, { ...options, mayErase: false }),
    forget: (async (what: Forget, options: CallOptions & { dryRun?: boolean } = {}) => {
      if (options.dryRun) return memory.forget(what, { ...options, dryRun: true });
      throw new MemoryError("forbidden", "This key may not erase: it has not the scope erase.");
    }) as ScopedMemory["forget"],
  };
}
