export { englishExtractor as rulesExtractor } from "../../language/en/extractor.ts";
export { rulesQuestionReader } from "../../language/en/questions/questions.ts";
export { warmed } from "../../language/en/questions/warm.ts";
