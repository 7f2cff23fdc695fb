import { explainRecall } from "../calls.js";
import { problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { counted, moment } from "../parts/words.js";
import { scoreTable } from "./score-table.js";

const DOORS = {
  proxy: "in a chat through the proxy",
  context: "by the API for contexts",
  mcp: "by a tool of MCP",
};

/** What a model was given from memory, word for word, and why each line was there. The reasons are loaded when they are opened. */
export function givenPrompt(user, { at, door, text, tokens, recall_id: id }) {
  return make(
    "details",
    { class: "fold given" },
    make("summary", {}, `What the model saw: about ${counted(tokens, "token", "tokens")}`),
    make("p", { class: "small" }, `Given ${moment(at)}, ${DOORS[door]}.`),
    make("pre", { class: "code", tabindex: "0", "aria-label": "The text that the model was given" }, text),
    id && reasonsFold(user, id),
  );
}

function reasonsFold(user, id) {
  const place = make("div", {}, make("p", { class: "small" }, "Asking…"));
  const fold = make("details", { class: "fold" }, make("summary", {}, "Why each was there"), place);
  fold.ontoggle = async () => {
    if (!fold.open) return;
    try {
      const { items } = await explainRecall(user, id);
      const there = items.filter(({ now }) => now !== "erased");
      place.replaceChildren(
        there.length > 0
          ? scoreTable(there, there)
          : make("p", { class: "small" }, "It contained only the profile."),
      );
    } catch (error) {
      place.replaceChildren(problem(error));
    }
  };
  return fold;
}
