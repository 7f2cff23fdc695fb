import { signIn } from "./calls.js";
import { find } from "./make.js";

/** Takes the key out of the link's fragment, before anything else can see it; undefined where there is none. */
export function keyFromLink() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (key === null) return undefined;
  history.replaceState(null, "", location.pathname);
  return key;
}

/** Shows the form until a key is right. */
export function showDoor(problem, enter) {
  const field = find("key");
  find("door").hidden = false;
  tell(problem);
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
      tell(error.message);
      field.select();
    }
  };
}

function tell(problem) {
  const place = find("door-problem");
  place.textContent = problem ?? "";
  place.hidden = problem === undefined;
}
