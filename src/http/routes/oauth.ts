import { type ProtectedResource, RESOURCE_METADATA_PATH } from "../oauth/protected-resource.ts";
import { defineOperation, type Operation } from "../operation.ts";

/** The metadata of `/mcp` as a protected resource. OAuth's clients know these addresses, so they are in no document of this API. */
export function createOAuthOperations({ metadata }: ProtectedResource): readonly Operation[] {
  return ["", "/mcp"].map((suffix) =>
    defineOperation({
      id: `getProtectedResource${suffix}`,
      method: "GET",
      path: `${RESOURCE_METADATA_PATH}${suffix}`,
      tag: "OAuth",
      summary: "Says who issues access tokens for /mcp",
      scope: "none",
      isHidden: true,
      answers: { 200: { says: "The metadata." } },
      handle: ({ exchange }) => exchange.json(metadata),
    }),
  );
}
