/** Verbs of change as they are often mistyped, and as they are meant. Add freely. */
export const MISSPELLINGS: ReadonlyMap<string, string> = new Map(
  (
    "stoped stopped|stoping stopping|swaped swapped|swoped swapped|swithced switched|swtiched switched|switced switched|swiched switched|" +
    "droped dropped|droping dropping|quited quit|quitted quit|cancled cancelled|canceld cancelled|cancelld cancelled|canelled cancelled|" +
    "selled sold|solded sold|moveing moving|movd moved|leaved left|useing using|useed used|repalced replaced|replacd replaced|" +
    "chnaged changed|chagned changed|changd changed|delted deleted|deletd deleted|unistalled uninstalled|uninstaled uninstalled|" +
    "ditchd ditched|finishd finished|startd started|strated started|moove move|anymor anymore|anymroe anymore|anynore anymore|" +
    "completly completely|definately definitely|tomorow tomorrow|tommorow tomorrow|recieve receive|realy really|begining beginning"
  )
    .split("|")
    .map((pair) => {
      const [wrong = "", meant = ""] = pair.split(" ");
      return [wrong, meant] as const;
    }),
);
