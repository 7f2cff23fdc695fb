import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { damaged, resolved, valuesOf } from "./arbitrary.ts";
import { type HttpSurface, surface } from "./surface.ts";

/**
 * Some hundred requests made from the document: right, damaged and arbitrary. The long form of it is `.ci/fuzz/run`; this one
 * comes with every run of the tests.
 */

type Schema = { readonly [key: string]: unknown };
interface Call {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Schema }[];
  readonly body: Schema | undefined;
}

let here: HttpSurface;
beforeAll(async () => {
  here = await surface();
});
afterAll(() => here.close());

function callsOf({ document }: HttpSurface): Call[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => {
      const {
        operationId,
        parameters = [],
        requestBody,
      } = call as {
        operationId: string;
        parameters?: Schema[];
        requestBody?: { content: { [type: string]: { schema: Schema } } };
      };
      return {
        id: operationId,
        method: method.toUpperCase(),
        path,
        parameters: parameters.map((one) =>
          typeof one.$ref === "string" ? resolved(document, one.$ref) : one,
        ) as unknown as Call["parameters"],
        body: requestBody?.content["application/json"]?.schema,
      };
    }),
  );
}

/** A request for one call, as the document has it; with `isRight` false, its body is damaged. */
function requestsOf(
  { document }: HttpSurface,
  call: Call,
  isRight: boolean,
): fc.Arbitrary<{ path: string; body?: string }> {
  const named = call.parameters.filter((one) => one.in !== "header");
  const values = fc.tuple(...named.map(({ schema }) => valuesOf(document, schema)));
  const bodies = call.body === undefined ? fc.constant(undefined) : valuesOf(document, call.body);
  return fc
    .tuple(values, isRight || call.body === undefined ? bodies : damaged(bodies))
    .map(([given, body]) => {
      const query = new URLSearchParams();
      let path = call.path;
      for (const [i, parameter] of named.entries()) {
        const text = String(given[i]);
        if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(text));
        else query.set(parameter.name, text);
      }
      const search = query.size === 0 ? "" : `?${query}`;
      return { path: `${path}${search}`, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    });
}

it("whatever is sent, no call fails, and every answer is as the document says", {
  timeout: 60_000,
}, async () => {
  // What goes to a model's server is that server's to answer, and a stream of lines has no shape to be made from.
  const calls = callsOf(here).filter(({ path, id }) => !path.startsWith("/v1/") && id !== "importUser");
  let accepted = 0;
  for (const call of calls) {
    for (const isRight of [true, false]) {
      const send = async (request: { path: string; body?: string }): Promise<void> => {
        const { status, text, headers } = await here.send({ ...request, method: call.method });
        const what = `${call.id} ${request.path} ${request.body ?? ""}`;
        const answer = { status, headers, body: text };
        expect([what, status < 500, here.rules.faults(call.method, request.path, answer)]).toEqual([
          what,
          true,
          [],
        ]);
        expect(text).not.toMatch(/node_modules|\bat \w+ \(|SQLITE_|\/src\//);
        accepted += status < 300 ? 1 : 0;
      };
      const runs = call.body === undefined && !isRight ? 1 : 6;
      await fc.assert(fc.asyncProperty(requestsOf(here, call, isRight), send), {
        numRuns: runs,
        seed: 20_260_301,
      });
    }
  }
  // Requests that are all refused would show little.
  expect(accepted).toBeGreaterThan(calls.length);
});
