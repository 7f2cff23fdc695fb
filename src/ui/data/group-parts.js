import { deleteGroup, saveGroup } from "../calls.js";
import { button, labelled } from "../parts/form-parts.js";
import { make } from "../parts/make.js";

/**
 * The groups that the user made or is in, and a form that makes one. `act` makes a change and says what it did. `show` draws the
 * groups.
 */
export function groupParts({ user, act }) {
  const name = make("input", { required: true, maxlength: "200", autocomplete: "off", placeholder: "Home" });
  const members = make("input", { maxlength: "2000", autocomplete: "off", placeholder: "eva, tom" });
  const place = make("div", {});
  const save = (owner) =>
    saveGroup(owner, {
      name: name.value.trim(),
      members: [...new Set(members.value.split(",").map((one) => one.trim()))].filter((one) => one !== ""),
    });
  const form = make(
    "form",
    {
      class: "erase-form",
      onsubmit: (event) => {
        event.preventDefault();
        act(save, "The group is saved.");
      },
    },
    make("div", { class: "filter-grid" }, labelled("Name", name), labelled("Members, with commas", members)),
    make("button", { type: "submit" }, "Save the group"),
  );

  function row(group) {
    const isOwn = group.owner === user;
    const edit = () => {
      name.value = group.name;
      members.value = group.members.join(", ");
      members.focus();
    };
    const end = (owner) => deleteGroup(owner, group.id);
    return make(
      "li",
      {},
      make("p", {}, `${group.name}: ${group.members.join(", ") || "nobody"}`),
      isOwn
        ? [
            button("Change members", edit, "small-button"),
            button("Delete the group", () => act(end, "The group is deleted."), "small-button"),
          ]
        : [
            make("p", { class: "small" }, `made by ${group.owner}`),
            button("Leave", () => act(end, "You left the group."), "small-button"),
          ],
    );
  }

  const element = make(
    "section",
    { class: "user-groups" },
    make("h3", {}, "Groups"),
    make(
      "p",
      { class: "lead" },
      "All members of a group, and those who join later, can read what you share with it.",
    ),
    form,
    place,
  );
  const show = (groups) =>
    place.replaceChildren(
      groups.length === 0
        ? make("p", { class: "small" }, "You have no groups, and are a member of none.")
        : make("ul", { class: "plain-rows" }, groups.map(row)),
    );
  return { element, show };
}
