import { getApiDocument, sendAsIs } from "../calls.js";
import { button, choice, emptyState, labelled, problem, whileDisabled } from "../parts/form-parts.js";
import { make, say } from "../parts/make.js";
import { goTo, linkTo } from "../parts/router.js";
import { counted, number } from "../parts/words.js";
import { LANGUAGES } from "./api-code.js";
import { fillPath, listOperations } from "./api-document.js";

/** The calls of the API: a list to search in, and for each what it takes, its code, and a form to try it with this page's key. */
export function apiView({ user, changed }) {
  const field = make("input", { type: "search", autocomplete: "off", maxlength: "200" });
  const count = make("p", { class: "count-line", role: "status" });
  const place = make("div", {});
  const listPart = make("div", { class: "api-list" }, labelled("Find a call", field), count, place);
  const callPart = make("div", { class: "api-call" });
  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "API"),
    make(
      "p",
      { class: "lead" },
      "Every call of the server, tried with the key of this page. ",
      make("a", { href: "/docs" }, "All on one page"),
      " · ",
      make("a", { href: "/openapi.json" }, "openapi.json"),
    ),
    listPart,
    callPart,
  );
  let operations;
  let shownId;

  function drawList() {
    const wanted = field.value.trim().toLowerCase();
    const found = operations.filter(({ id, method, path, summary }) =>
      `${id} ${method} ${path} ${summary}`.toLowerCase().includes(wanted),
    );
    count.textContent = counted(found.length, "call", "calls");
    place.replaceChildren(
      ...(found.length > 0 ? tagParts(found) : [emptyState("Nothing found", "No call has these words.")]),
    );
  }
  field.oninput = drawList;

  async function show(route) {
    try {
      operations ??= listOperations(await getApiDocument());
    } catch (error) {
      callPart.replaceChildren();
      place.replaceChildren(problem(error, () => show(route)));
      return;
    }
    const operation = operations.find(({ id }) => id === route.id);
    listPart.hidden = operation !== undefined;
    if (!operation) {
      shownId = undefined;
      callPart.replaceChildren();
      drawList();
      return;
    }
    if (operation.id === shownId) return;
    shownId = operation.id;
    callPart.replaceChildren(...operationParts(operation, { user, changed }));
    callPart.querySelector("h3").focus({ preventScroll: true });
    element.scrollTop = 0;
  }

  const onKey = ({ key }) => {
    if (key === "/" && !listPart.hidden) field.focus();
    else if (key === "Escape" && listPart.hidden) goTo(linkTo("api"));
    else return false;
    return true;
  };
  return { element, title: "API", show, onKey };
}

function tagParts(found) {
  const tags = [...new Set(found.map(({ tag }) => tag))];
  return tags.map((tag) =>
    make(
      "section",
      { class: "group" },
      make("h3", {}, tag),
      make("ul", { class: "plain-rows" }, found.filter((one) => one.tag === tag).map(operationRow)),
    ),
  );
}

function operationRow({ id, method, path, summary }) {
  return make(
    "li",
    {},
    make("a", { href: linkTo("api", id) }, summary),
    make("p", { class: "row-line" }, make("code", {}, `${method} ${path}`)),
  );
}

function operationParts(operation, { user, changed }) {
  const { method, path, summary, description, scopes } = operation;
  const fields = callFields(operation, user);
  const answer = make("div", { class: "api-answer", role: "status" });
  const code = codePart(() => fields.read());
  const isWrite = method !== "GET" && scopes.join() !== "read";
  const sure = make("input", { type: "checkbox", required: true });
  const send = make("button", { type: "submit", class: "primary" }, `Send ${method}`);
  const form = make(
    "form",
    {
      class: "edit",
      oninput: code.draw,
      onsubmit: (event) => {
        event.preventDefault();
        whileDisabled(send, () => tryCall(fields.read(), answer, () => isWrite && changed()));
      },
    },
    fields.elements,
    isWrite && make("label", { class: "switch" }, sure, " This may change or erase what is stored"),
    make("div", { class: "buttons" }, send),
  );
  code.draw();
  return [
    button("‹ All calls", () => goTo(linkTo("api")), "quiet"),
    make("h3", { tabindex: "-1" }, summary),
    make("p", {}, make("code", {}, `${method} ${path}`)),
    description && make("p", {}, description.replaceAll("`", "")),
    make(
      "p",
      { class: "small" },
      scopes.length > 0 ? `Needs a key that may ${scopes.join(" and ")}.` : "Any key may.",
    ),
    make("section", { class: "part" }, make("h4", {}, "Try it"), form, answer),
    make("section", { class: "part" }, make("h4", {}, "Code"), code.element),
  ].filter(Boolean);
}

/** The fields of a call. `read` gives the call; its body is the text as it stands where it is no JSON, with the reason. */
function callFields({ id, method, path, parameters, type, example, isBodyNeeded }, user) {
  const inputs = parameters.map((parameter) => [parameter, parameterField(parameter, user)]);
  const hasBody = example !== undefined;
  const body = make("textarea", { rows: "6", spellcheck: "false", required: isBodyNeeded, class: "code" });
  if (hasBody) body.value = JSON.stringify(withUser(example, user), null, 2);
  const isFile = type !== undefined && !hasBody;
  return {
    elements: [
      ...inputs.map(([{ name, required }, input]) => labelled(required ? name : `${name} (optional)`, input)),
      ...(hasBody ? [labelled("Body, as JSON", body)] : []),
      ...(isFile
        ? [make("p", { class: "small" }, `Takes a file of the type ${type}: by the code below.`)]
        : []),
    ],
    read() {
      const values = Object.fromEntries(inputs.map(([{ name }, input]) => [name, input.value.trim()]));
      const query = inputs
        .filter(([parameter]) => parameter.in === "query" && values[parameter.name] !== "")
        .map(([{ name }]) => [name, values[name]]);
      const search = query.length > 0 ? `?${new URLSearchParams(query)}` : "";
      const target = fillPath(path, values) + search;
      const sent = hasBody && body.value.trim() !== "" ? readJson(body.value) : {};
      return {
        id,
        method,
        target,
        url: location.origin + target,
        type: sent.value === undefined && !isFile ? undefined : type,
        body: sent.value,
        error: sent.error,
      };
    },
  };
}

function readJson(text) {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: new Error(`The body is no JSON: ${error.message}`) };
  }
}

const withUser = (example, user) =>
  example && typeof example === "object" && "user_id" in example ? { ...example, user_id: user } : example;

function parameterField({ name, required, schema = {} }, user) {
  const values = schema.enum;
  const field = values
    ? choice(name, [...(required ? [] : [["", "–"]]), ...values.map((one) => [String(one), String(one)])], "")
    : make("input", { name, autocomplete: "off", spellcheck: "false", required });
  if (name === "user_id") field.value = user;
  return field;
}

/** The most characters of an answer that are shown. */
const MOST_SHOWN = 100_000;

async function tryCall({ method, target, body, error }, place, done) {
  if (error) return place.replaceChildren(problem(error));
  try {
    const { status, milliseconds, type, text } = await sendAsIs(method, target, body);
    const line = `Status ${status}, after ${number(milliseconds)} ms${type ? `, ${type}` : ""}`;
    const shown = /json/.test(type) ? inLines(text) : text;
    place.replaceChildren(
      make("p", { class: status < 400 ? "checked" : "problem" }, line),
      make("pre", { class: "code", tabindex: "0", "aria-label": "Answer" }, shown.slice(0, MOST_SHOWN)),
      shown.length > MOST_SHOWN
        ? make("p", { class: "small" }, `The first ${number(MOST_SHOWN)} characters.`)
        : "",
    );
    say(line);
    if (status < 400) done();
  } catch (failure) {
    place.replaceChildren(problem(failure));
  }
}

function inLines(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The language that was chosen last. */
let language = "curl";

/** The code of a call, in the language that is chosen. `draw` writes it again. */
function codePart(read) {
  const text = make("pre", { class: "code", tabindex: "0", "aria-label": "Code" });
  const draw = () => {
    const [, , write] = LANGUAGES.find(([name]) => name === language);
    text.textContent = write(read());
  };
  const fields = LANGUAGES.map(([name, title]) =>
    make(
      "label",
      {},
      make("input", {
        type: "radio",
        name: "language",
        value: name,
        checked: name === language,
        onchange: () => {
          language = name;
          draw();
        },
      }),
      ` ${title}`,
    ),
  );
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(text.textContent);
    say("Copied.");
  });
  const legend = make("legend", {}, "Language");
  // Browsers allow copying only on pages of this machine or over HTTPS.
  const isCopyable = navigator.clipboard !== undefined;
  return {
    draw,
    element: make(
      "div",
      { class: "api-code" },
      make("fieldset", { class: "scopes" }, legend, fields),
      text,
      isCopyable && make("div", { class: "buttons" }, copy),
    ),
  };
}
