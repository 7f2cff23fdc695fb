import type { ApiDocument, JsonSchema } from "./document.ts";

/** Renders the document as a page of plain HTML, without scripts or external resources. */
export function renderDocumentPage(document: ApiDocument): string {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => ({
      method: method.toUpperCase(),
      path,
      call: call as unknown as DocumentedCall,
    })),
  );
  const tags = [...new Set([...FIRST_TAGS, ...calls.flatMap(({ call }) => call.tags)])].filter((tag) =>
    calls.some(({ call }) => call.tags.includes(tag)),
  );
  const sections = tags.map((tag) => ({
    tag,
    tagCalls: calls.filter(({ call }) => call.tags.includes(tag)),
  }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Keepsake: the HTTP API</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/docs.css">
</head>
<body>
<header>
<h1>Keepsake: the HTTP API</h1>
<p>Version ${escapeHtml(document.info.version)}. For programs: <a href="/openapi.json">openapi.json</a>. <a href="/">Web page</a>.</p>
</header>
<nav aria-label="Calls">
${sections.map(({ tag, tagCalls }) => `<h2>${escapeHtml(tag)}</h2>\n<ul>${tagCalls.map(formatNavigationLink).join("\n")}</ul>`).join("\n")}
</nav>
<main>
${INTRODUCTION}
${sections.map(({ tag, tagCalls }) => `<h2>${escapeHtml(tag)}</h2>\n${tagCalls.map((call) => formatCall(call, document)).join("\n")}`).join("\n")}
<h2 id="problems">Problems</h2>
<p>All errors are <a href="#shape-Problem">Problem</a> documents.</p>
<dl>${formatProblems(document)}</dl>
<h2 id="shapes">Schemas</h2>
${Object.entries(document.components.schemas)
  .map(([name, schema]) => formatSchemaSection(name, schema))
  .join("\n")}
</main>
</body>
</html>
`;
}

/** The first sections. The others follow in the order of the table. */
const FIRST_TAGS = [
  "First steps",
  "Conversation",
  "Memories",
  "Search",
  "Sessions",
  "History",
  "Erasure",
  "Moving",
];

interface DocumentedCall {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly unknown[];
  readonly "x-keepsake-scopes"?: readonly string[];
  readonly parameters?: readonly (JsonSchema & { readonly name?: string })[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: JsonSchema } } };
  readonly responses: { readonly [status: string]: JsonSchema };
}

interface DocumentedEndpoint {
  readonly method: string;
  readonly path: string;
  readonly call: DocumentedCall;
}

const INTRODUCTION = `<p>Send JSON with <code>content-type: application/json</code> and a key with
<code>authorization: Bearer KEY</code>. A key belongs to a project and gives access only to users of that project.
Errors are problem documents (RFC 9457) with a stable <code>code</code>. Each response has an
<code>x-request-id</code>; a well-formed one that you send is kept. With <code>Idempotency-Key</code>, a repeated write
changes nothing and gives the same response. Lists come in pages: send the <code>cursor</code> of a page as
<code>cursor</code> of the next request. Optional fields may be absent or null.</p>`;

function formatNavigationLink({ method, path, call }: DocumentedEndpoint): string {
  return `<li><a href="#${call.operationId}"><b>${method}</b> ${escapeHtml(path)}</a></li>`;
}

function formatCall({ method, path, call }: DocumentedEndpoint, document: ApiDocument): string {
  const body = Object.entries(call.requestBody?.content ?? {})
    .map(([type, { schema }]) => `<h4>Request <code>${escapeHtml(type)}</code></h4>${formatSchema(schema)}`)
    .join("\n");
  const parameters = (call.parameters ?? [])
    .map((parameter) => formatParameter(resolveReference(parameter, document)))
    .join("\n");
  return `<article id="${call.operationId}">
<h3><b>${method}</b> <code>${escapeHtml(path)}</code></h3>
<p>${formatInlineCode(call.summary)}. ${formatInlineCode(call.description ?? "")} ${describeAccess(call)}</p>
${parameters === "" ? "" : `<h4>Parameters</h4><dl>${parameters}</dl>`}
${body}
<h4>Response</h4>
${formatResponses(call)}
<h4>Example</h4>
<pre><code>${escapeHtml(formatCurl(method, path, call))}</code></pre>
</article>`;
}

function describeAccess(call: DocumentedCall): string {
  if (call.security?.length === 0) return "Needs no key.";
  if ((call.security?.length ?? 0) > 1) return "Accepts an optional key.";
  const scopes = call["x-keepsake-scopes"] ?? [];
  if (scopes.length === 0) return "Needs any key.";
  return `Needs a key with ${scopes.length === 1 ? "the scope" : "the scopes"} ${scopes.map((scope) => `<i>${escapeHtml(scope)}</i>`).join(" and ")}.`;
}

function formatParameter(parameter: JsonSchema): string {
  const {
    name,
    in: place,
    required,
    description,
    schema,
  } = parameter as {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema: JsonSchema;
  };
  const mark = required ? "" : ", optional";
  return `<dt><code>${escapeHtml(name)}</code> <small>${escapeHtml(place)}${mark}</small></dt><dd>${formatSchema(schema)} ${formatInlineCode(description ?? "")}</dd>`;
}

/** Formats the successful responses, and links to the problems, which are described once. */
function formatResponses({ responses }: DocumentedCall): string {
  const successes = Object.entries(responses).filter(([, answer]) => !("$ref" in answer));
  const problems = Object.keys(responses).filter((status) => !successes.some(([known]) => known === status));
  const links = problems.map((status) => `<a href="#problem-${status}">${status}</a>`).join(", ");
  return `<dl>${successes.map(([status, answer]) => formatResponse(status, answer)).join("\n")}</dl>
${links === "" ? "" : `<p>Problems: ${links}.</p>`}`;
}

function formatResponse(status: string, answer: JsonSchema): string {
  const { description = "", content = {} } = answer as {
    description?: string;
    content?: { [type: string]: { schema: JsonSchema } };
  };
  const contents = Object.entries(content).map(
    ([type, { schema }]) => ` <small>${escapeHtml(type)}</small> ${formatSchema(schema)}`,
  );
  return `<dt>${escapeHtml(status)}</dt><dd>${formatInlineCode(description)}${contents.join("")}</dd>`;
}

function formatProblems({ components }: ApiDocument): string {
  return Object.entries(components.responses as { [name: string]: { description: string } })
    .map(([name, { description }]) => [name.replace(/\D/g, ""), description] as const)
    .map(([status, says]) => `<dt id="problem-${status}">${status}</dt><dd>${formatInlineCode(says)}</dd>`)
    .join("\n");
}

function formatSchemaSection(name: string, schema: JsonSchema): string {
  return `<article id="shape-${escapeHtml(name)}"><h3><code>${escapeHtml(name)}</code></h3>${formatSchema(schema)}</article>`;
}

/** Resolves a reference; gives anything else unchanged. */
function resolveReference(one: JsonSchema, document: ApiDocument): JsonSchema {
  const place = one.$ref;
  if (typeof place !== "string") return one;
  let at: unknown = document;
  for (const step of place.split("/").slice(1)) at = (at as JsonSchema)[step];
  return at as JsonSchema;
}

/** Formats a curl command for a shell. */
function formatCurl(method: string, path: string, call: DocumentedCall): string {
  const place = path
    .replace("{user_id}", "ana")
    .replace(/\{(\w+)\}/g, (_all, name: string) => `$${name.toUpperCase()}`);
  const lines = [`curl${method === "GET" ? "" : ` -X ${method}`} "http://127.0.0.1:7420${place}"`];
  if (call.security?.length !== 0) lines.push('-H "authorization: Bearer $KEY"');
  const [type] = Object.keys(call.requestBody?.content ?? {});
  if (type !== undefined) {
    lines.push(`-H "content-type: ${type}"`);
    lines.push(
      EXAMPLES[call.operationId] === undefined ? "-d @request.json" : `-d '${EXAMPLES[call.operationId]}'`,
    );
  }
  return lines.join(" \\\n  ");
}

const EXAMPLES: { readonly [operation: string]: string } = {
  converse: '{ "user_id": "ana", "message": "I use Shram as a productivity tool." }',
  addMessages: '{ "user_id": "ana", "messages": [{ "role": "user", "content": "I live in Porto." }] }',
  addMemory: '{ "user_id": "ana", "content": "Ana lives in Porto.", "type": "fact" }',
  searchMemories: '{ "query": "productivity tools", "top_k": 5 }',
  buildContext: '{ "user_id": "ana", "request": "Plan my Saturday.", "max_tokens": 800 }',
  changeMemory: '{ "importance": 0.9 }',
  undo: '{ "revision": 3 }',
  erase: '{ "user_id": "ana", "about": "Magnet", "dry_run": true }',
  say: '{ "userId": "ana", "message": "I use Shram." }',
  takeBack: '{ "userId": "ana", "message": "Forget that I ever mentioned Magnet." }',
};

/** Formats a JSON Schema as HTML: an object as a list of fields, anything else in a word or two. */
function formatSchema(schema: JsonSchema): string {
  const { properties, required = [] } = schema as {
    properties?: { [name: string]: JsonSchema };
    required?: readonly string[];
  };
  if (!properties) return describeSchema(schema);
  const fields = Object.entries(properties).map(([name, field]) => {
    const mark = required.includes(name) ? "" : "?";
    const description =
      typeof field.description === "string" ? ` ${formatInlineCode(field.description)}` : "";
    return `<li><code>${escapeHtml(name)}${mark}</code> ${formatSchema(field)}${description}</li>`;
  });
  return `<ul class="fields">${fields.join("")}</ul>`;
}

function describeSchema(schema: JsonSchema): string {
  const {
    $ref,
    const: only,
    enum: values,
    type,
    items,
    anyOf,
    additionalProperties,
  } = schema as {
    $ref?: string;
    const?: unknown;
    enum?: readonly unknown[];
    type?: string | readonly string[];
    items?: JsonSchema;
    anyOf?: readonly JsonSchema[];
    additionalProperties?: JsonSchema | boolean;
  };
  if ($ref !== undefined) {
    const name = escapeHtml($ref.slice($ref.lastIndexOf("/") + 1));
    return `<a href="#shape-${name}">${name}</a>`;
  }
  if (only !== undefined) return `<code>${escapeHtml(JSON.stringify(only))}</code>`;
  if (values) return values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(" or ");
  // The introduction says that optional fields may be null.
  const alternatives = anyOf?.filter((schema) => schema.type !== "null");
  if (alternatives) return alternatives.map(formatSchema).join(" or ");
  if (type === "array") return `list of ${items ? formatSchema(items) : "anything"}`;
  if (type === "object") {
    const values = typeof additionalProperties === "object" ? formatSchema(additionalProperties) : "anything";
    return `object of ${values}`;
  }
  const types = [type ?? "anything"].flat().filter((name) => name !== "null");
  return `<i>${escapeHtml(types.join(" or "))}</i>${formatBounds(schema)}`;
}

function formatBounds(schema: JsonSchema): string {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` from ${minimum}`;
  return maximum === undefined ? "" : ` to ${maximum}`;
}

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** Formats text with `code` in it. */
function formatInlineCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** The style of the page: light and dark, with the list of calls beside the calls on wide screens. */
export const DOCUMENT_PAGE_STYLE = `:root { color-scheme: light dark; --edge: #8884; --soft: #8881; --link: #2a5db0; }
@media (prefers-color-scheme: dark) { :root { --link: #8ab4f8; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 80rem; padding: 1rem; }
a { color: var(--link); }
code, pre { font: 0.9em/1.5 ui-monospace, monospace; }
pre { background: var(--soft); border: 1px solid var(--edge); border-radius: 6px; overflow-x: auto; padding: 0.75rem; }
article { border-top: 1px solid var(--edge); padding: 0.5rem 0 1rem; }
h3 { margin: 0.5rem 0; overflow-wrap: anywhere; }
h4 { margin: 0.75rem 0 0.25rem; }
dt { font-weight: 600; }
dd { margin: 0 0 0.4rem 1.5rem; }
nav ul { list-style: none; padding: 0; }
nav li { font-size: 0.85rem; overflow-wrap: anywhere; }
nav h2 { font-size: 1rem; margin: 0.75rem 0 0.25rem; }
ul.fields { margin: 0; padding-left: 1.5rem; }
@media (min-width: 60rem) {
  body { display: grid; gap: 0 2.5rem; grid-template-columns: 22rem minmax(0, 1fr); }
  header { grid-column: 1 / -1; }
  nav { align-self: start; max-height: 100vh; overflow-y: auto; position: sticky; top: 0; }
}
`;
