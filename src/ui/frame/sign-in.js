import { signIn } from "../calls.js";
import { find } from "../parts/make.js";

/** Takes the key from the link's fragment and removes it from the address. Gives `undefined` if there is none. */
export function keyFromLink() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (key === null) return undefined;
  history.replaceState(null, "", location.pathname);
  return key;
}

/** Shows the sign-in form until a key is valid. */
export function showDoor(problem, enter) {
  const field = find("key");
  find("door").hidden = false;
  showProblem(problem);
  field.value = "";
  field.focus();
  find("sign-in").onsubmit = async (event) => {
    event.preventDefault();
    try {
      await signIn(field.value.trim());
      find("door").hidden = true;
      field.value = "";
      enter();
    } catch (error) {
      showProblem(error.message);
      field.select();
    }
  };
}

function showProblem(problem) {
  const element = find("door-problem");
  element.textContent = problem ?? "";
  element.hidden = problem === undefined;
}
