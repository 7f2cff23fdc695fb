import { chooseEmbedder, getEmbedder } from "../calls.js";
import { button, choice, labelled } from "../parts/form-parts.js";
import { make, say } from "../parts/make.js";
import { toast } from "../parts/toasts.js";
import { counted, number } from "../parts/words.js";

/** The embedder of the user, to choose from; empty if there is nothing to choose. `show` reads it anew. */
export function embedderPart(user) {
  const element = make("section", {});
  const draw = (chosen) => element.replaceChildren(...choiceParts(chosen, choose));

  async function choose(name) {
    try {
      draw(await chooseEmbedder(user, name));
      say("Chosen.");
    } catch (error) {
      toast(error.message);
    }
  }

  async function show() {
    try {
      draw(await getEmbedder(user));
    } catch {
      // A store that keeps no choices has nothing to choose.
      element.replaceChildren();
    }
  }

  return { element, show };
}

function choiceParts({ embedder, from, available, configured, progress }, choose) {
  if (available.length < 2) return [];
  const field = choice(
    "embedder",
    available.map((name) => [name, name]),
    embedder,
  );
  const { left, total } = progress;
  return [
    make("h3", {}, "Embedder"),
    make(
      "p",
      { class: "lead" },
      "It turns texts into numbers, so that they are found by their meaning. After a change, all texts are computed anew in the background; until then they are found by their words.",
    ),
    make(
      "form",
      {
        class: "erase-form",
        onsubmit: (event) => {
          event.preventDefault();
          choose(field.value);
        },
      },
      labelled("Embedder", field),
      make("button", { type: "submit" }, "Choose"),
      from === "user" ? button("As the project", () => choose(undefined), "small-button") : "",
    ),
    make(
      "p",
      { class: "small" },
      configured ? "" : "This server does not have it: texts are found by their words. ",
      left > 0 ? `${number(left)} of ${counted(total, "text", "texts")} wait for it.` : "All texts have it.",
    ),
  ];
}
