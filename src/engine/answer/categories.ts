export { findKind, isOfKind } from "../../language/en/categories.ts";
