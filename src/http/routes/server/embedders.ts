import * as z from "zod";
import type { ChosenEmbedder } from "../../../engine/api/maintenance-types.ts";
import { defineOperation, type Operation, USER_PATH_PARAMETERS } from "../../operation.ts";
import { refuseField } from "../../problem.ts";
import { wholeNumberSchema, withSchemaId } from "../../schemas/fields.ts";

const EMBEDDER_BODY = z.strictObject({
  embedder: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
    .describe("One of `available`"),
});

const CHOICE_FIELDS = {
  embedder: z.string().describe("The name of the embedder that applies"),
  from: z
    .enum(["user", "project", "default"])
    .describe("Whose choice it is; `default` if neither has chosen one"),
  available: z.array(z.string()).describe("The names to choose from"),
  configured: z
    .boolean()
    .describe("False if this server lacks the embedder: texts are then found by their words"),
};
const PROGRESS_FIELDS = {
  left: wholeNumberSchema.describe("Texts that wait for a vector; until then, they are found by their words"),
  running: z.boolean().describe("Whether this server embeds now"),
};

const USER_EMBEDDER_SCHEMA = withSchemaId(
  "UserEmbedder",
  z.object({
    user_id: z.string(),
    ...CHOICE_FIELDS,
    progress: z.object({ ...PROGRESS_FIELDS, total: wholeNumberSchema.describe("All texts of the user") }),
  }),
);
const PROJECT_EMBEDDER_SCHEMA = withSchemaId(
  "ProjectEmbedder",
  z.object({
    project: z.string(),
    ...CHOICE_FIELDS,
    users: z
      .array(z.object({ user_id: z.string(), embedder: z.string() }))
      .describe("The users with a choice of their own, by name"),
    progress: z
      .object({
        ...PROGRESS_FIELDS,
        problem: z.string().optional().describe("Why the last try failed; it will be repeated"),
      })
      .describe("Of all users of the project"),
  }),
);

type Call = Pick<Parameters<Operation["handle"]>[0], "exchange" | "services" | "project" | "memoryOf">;

function toChoiceFields({ services }: Call, { embedder, from }: ChosenEmbedder) {
  const { names } = services.keepsake.embedders;
  return { embedder, from, available: names, configured: names.includes(embedder) };
}

/** Throws `not_found` if the key belongs to another user. */
function checkAccess(call: Call, user: string): void {
  call.memoryOf(user);
}

async function sendUserEmbedder(call: Call, user: string): Promise<Response> {
  checkAccess(call, user);
  const { embedders } = call.services.keepsake;
  const owner = { project: call.project(), user };
  const chosen = await embedders.get(owner);
  const { left, total, running } = await embedders.progress(owner);
  return call.exchange.json({
    user_id: user,
    ...toChoiceFields(call, chosen),
    progress: { left, total, running },
  });
}

async function sendProjectEmbedder(call: Call): Promise<Response> {
  const { embedders } = call.services.keepsake;
  const project = call.project();
  const chosen = await embedders.get({ project });
  const users = (await embedders.list(project)).flatMap(({ user, embedder }) =>
    user === undefined ? [] : [{ user_id: user, embedder }],
  );
  return call.exchange.json({
    project,
    ...toChoiceFields(call, chosen),
    users,
    progress: await embedders.progress({ project }),
  });
}

async function choose(call: Call, name: string | null, user?: string): Promise<void> {
  if (user !== undefined) checkAccess(call, user);
  const { embedders } = call.services.keepsake;
  if (name !== null && !embedders.names.includes(name)) {
    const available = embedders.names.join(", ");
    throw refuseField("embedder", `There is no embedder of that name. Available: ${available}.`);
  }
  await embedders.choose(name, { project: call.project(), user });
}

/** The choice of an embedder, of users and of the caller's project. */
export const embedderOperations: readonly Operation[] = [
  defineOperation({
    id: "getProjectEmbedder",
    method: "GET",
    path: "/api/v1/embedders",
    tag: "Embedders",
    summary: "Gives the embedder of the project, the users with another one, and how far embedding is",
    scope: "admin",
    answers: { 200: { says: "The embedder.", schema: PROJECT_EMBEDDER_SCHEMA } },
    problems: [422],
    handle: sendProjectEmbedder,
  }),
  defineOperation({
    id: "chooseProjectEmbedder",
    method: "PUT",
    path: "/api/v1/embedders",
    tag: "Embedders",
    summary: "Chooses an embedder for the users of the project who have no choice of their own",
    description:
      "It applies at once. Stored texts are embedded again in the background; until then, they are found by their words. " +
      "An unknown name is refused with the known ones.",
    scope: "admin",
    body: EMBEDDER_BODY,
    answers: { 200: { says: "The embedder.", schema: PROJECT_EMBEDDER_SCHEMA } },
    problems: [422],
    async handle(call) {
      await choose(call, call.body.embedder);
      return sendProjectEmbedder(call);
    },
  }),
  defineOperation({
    id: "clearProjectEmbedder",
    method: "DELETE",
    path: "/api/v1/embedders",
    tag: "Embedders",
    summary: "Removes the project's choice, so that the server's default applies again",
    scope: "admin",
    answers: { 200: { says: "The embedder that applies now.", schema: PROJECT_EMBEDDER_SCHEMA } },
    problems: [422],
    async handle(call) {
      await choose(call, null);
      return sendProjectEmbedder(call);
    },
  }),
  defineOperation({
    id: "getUserEmbedder",
    method: "GET",
    path: "/api/v1/embedders/{user_id}",
    tag: "Embedders",
    summary: "Gives the embedder of a user, and how far embedding is",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    answers: { 200: { says: "The embedder.", schema: USER_EMBEDDER_SCHEMA } },
    problems: [404, 422],
    handle: (call) => sendUserEmbedder(call, call.path.user_id),
  }),
  defineOperation({
    id: "chooseUserEmbedder",
    method: "PUT",
    path: "/api/v1/embedders/{user_id}",
    tag: "Embedders",
    summary: "Chooses an embedder for a user, before that of the project",
    description:
      "It applies at once. Stored texts are embedded again in the background; until then, they are found by their words. " +
      "An unknown name is refused with the known ones.",
    scope: "write",
    acceptsIdempotencyKey: true,
    parameters: USER_PATH_PARAMETERS,
    body: EMBEDDER_BODY,
    answers: { 200: { says: "The embedder.", schema: USER_EMBEDDER_SCHEMA } },
    problems: [404, 422],
    async handle(call) {
      await choose(call, call.body.embedder, call.path.user_id);
      return sendUserEmbedder(call, call.path.user_id);
    },
  }),
  defineOperation({
    id: "clearUserEmbedder",
    method: "DELETE",
    path: "/api/v1/embedders/{user_id}",
    tag: "Embedders",
    summary: "Removes a user's choice, so that the project's applies again",
    scope: "write",
    acceptsIdempotencyKey: true,
    parameters: USER_PATH_PARAMETERS,
    answers: { 200: { says: "The embedder that applies now.", schema: USER_EMBEDDER_SCHEMA } },
    problems: [404, 422],
    async handle(call) {
      await choose(call, null, call.path.user_id);
      return sendUserEmbedder(call, call.path.user_id);
    },
  }),
];
