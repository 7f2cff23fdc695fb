export { findKind, isOfKind } from "../../domain/categories.ts";
