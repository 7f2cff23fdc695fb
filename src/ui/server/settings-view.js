import { listSettings } from "../calls.js";
import { problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { counted } from "../parts/words.js";
import { keysPart } from "./keys-part.js";

/** Where a value comes from, in words. */
const ORIGINS = {
  command_line: "command line",
  environment: "environment",
  env_file: ".env file",
  settings_file: "settings file",
};

/** What the server's settings are and where they come from, and the keys of the project. */
export function settingsView() {
  const settings = make("div", {});
  const keys = keysPart();
  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Settings"),
    make(
      "p",
      { class: "lead" },
      "What this server was started with, and who may use it. Settings change in the environment or a file, and with a restart.",
    ),
    keys.element,
    make("section", { class: "panel settings" }, make("h3", {}, "In force"), settings),
  );

  async function show() {
    try {
      const { items } = await listSettings();
      settings.replaceChildren(...settingsPart(items));
    } catch (error) {
      settings.replaceChildren(error.status === 403 ? forAdministrators() : problem(error));
    }
    await keys.load();
  }

  async function leave() {
    keys.leave();
  }

  return { element, title: "Settings", show, leave, refresh: show };
}

/** What a key that is no administrator's gets instead. */
export function forAdministrators() {
  return make(
    "p",
    { class: "small" },
    "Only an administrator's key may see this. ",
    make("code", {}, "keepsake keys create --scope admin"),
    " makes one.",
  );
}

function settingsPart(items) {
  const given = items.filter(({ from }) => from !== "default");
  const others = items.filter(({ from }) => from === "default");
  return [
    given.length === 0
      ? make("p", { class: "small" }, "No setting was changed: everything has its default.")
      : settingsTable(given),
    others.length > 0 &&
      make(
        "details",
        {},
        make(
          "summary",
          {},
          `${counted(others.length, "setting has its default", "settings have their defaults")}`,
        ),
        make(
          "ul",
          { class: "names" },
          others.map(({ name }) => make("li", {}, make("code", {}, name))),
        ),
      ),
  ].filter(Boolean);
}

function settingsTable(items) {
  const row = ({ name, value, hidden, from }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("code", {}, name)),
      make("td", {}, hidden ? make("span", { class: "small" }, "not shown") : make("code", {}, value)),
      make("td", {}, ORIGINS[from] ?? from),
    );
  return make(
    "table",
    { class: "numbers words" },
    make("caption", { class: "unseen" }, "Settings that were changed"),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        ["Setting", "Value", "From"].map((name) => make("th", { scope: "col" }, name)),
      ),
    ),
    make("tbody", {}, items.map(row)),
  );
}
