/** Where a program keeps its key. The key of the page is in none of the examples. */
const KEY = "KEEPSAKE_API_KEY";

/** How to write a call in each language: name and function. A call is `{ id, method, url, path, parameters, query, body, type }`. */
export const LANGUAGES = [
  ["curl", "curl", toCurl],
  ["typescript", "TypeScript", toTypeScript],
  ["python", "Python", toPython],
];

const quoteShell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function toCurl({ method, url, body, type }) {
  const lines = [`curl -X ${method} ${quoteShell(url)}`, `-H "authorization: Bearer $${KEY}"`];
  if (type) lines.push(`-H ${quoteShell(`content-type: ${type}`)}`);
  if (type && body === undefined) lines.push("--data-binary @FILE");
  else if (body !== undefined) lines.push(`-d ${quoteShell(JSON.stringify(body))}`);
  return lines.join(" \\\n  ");
}

const indent = (text, by) => text.replaceAll("\n", `\n${by}`);

function toTypeScript({ method, url, body, type }) {
  const headers = [
    `    authorization: \`Bearer \${process.env.${KEY}}\`,`,
    type && `    "content-type": ${JSON.stringify(type)},`,
  ].filter(Boolean);
  const sent =
    body === undefined
      ? type && '  body: await readFile("FILE"),'
      : `  body: JSON.stringify(${indent(JSON.stringify(body, null, 2), "  ")}),`;
  return [
    type && body === undefined && 'import { readFile } from "node:fs/promises";\n',
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: ${JSON.stringify(method)},`,
    "  headers: {",
    ...headers,
    "  },",
    sent,
    "});",
    "if (!response.ok) throw new Error(await response.text());",
    "console.log(await response.text());",
  ]
    .filter(Boolean)
    .join("\n");
}

function toPython({ method, url, body, type }) {
  const given = [
    `    ${JSON.stringify(method)},`,
    `    ${JSON.stringify(url)},`,
    `    headers={"authorization": f"Bearer {os.environ['${KEY}']}"${type && body === undefined ? `, "content-type": ${JSON.stringify(type)}` : ""}},`,
  ];
  if (body !== undefined) given.push(`    json=${indent(toPythonValue(body), "    ")},`);
  else if (type) given.push('    content=open("FILE", "rb"),');
  return [
    "import os",
    "import httpx",
    "",
    "response = httpx.request(",
    ...given,
    ")",
    "response.raise_for_status()",
    "print(response.text)",
  ].join("\n");
}

function toPythonValue(value, by = "") {
  const inner = `${by}    `;
  const lines = (open, items, close) =>
    items.length === 0
      ? open + close
      : `${open}\n${items.map((one) => `${inner}${one},\n`).join("")}${by}${close}`;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value))
    return lines(
      "[",
      value.map((one) => toPythonValue(one, inner)),
      "]",
    );
  if (typeof value === "object") {
    const items = Object.entries(value).map(
      ([key, one]) => `${JSON.stringify(key)}: ${toPythonValue(one, inner)}`,
    );
    return lines("{", items, "}");
  }
  return JSON.stringify(value);
}
