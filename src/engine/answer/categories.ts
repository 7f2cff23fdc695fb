export { isOfKind, kindOf } from "../../domain/categories.ts";
