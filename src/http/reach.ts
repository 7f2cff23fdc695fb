import type { ScopedMemory } from "../engine/surface.ts";
import { MemoryError } from "../errors.ts";
import type { Bearer } from "./keys.ts";
import type { Asked, Services } from "./operation.ts";

/** What a bearer can get at: its project, and where its key is bound to a user, that user alone. */
export function reach(
  services: Pick<Services, "keepsake">,
  bearer: Bearer | undefined,
): Pick<Asked, "memoryOf" | "project"> {
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
      return services.keepsake.scope({ project: project(), user });
    },
  };
}
