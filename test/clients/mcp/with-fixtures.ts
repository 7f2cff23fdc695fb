import { registerHooks } from "node:module";

// `node --import ./with-fixtures.ts ../../../dist/cli/main.js …` runs the built program with the fixtures of the conformance suite.

const SDK = "@modelcontextprotocol/server";
const FIXTURES = new URL("./fixtures.ts", import.meta.url).href;
const PROGRAM = new URL("../../../dist/config/vendor-packages.js", import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== SDK) return next(specifier, context);
    // The fixtures are of the program's own SDK, not of a client's that is installed beside them.
    return context.parentURL === PROGRAM
      ? next(FIXTURES, context)
      : next(SDK, { ...context, parentURL: PROGRAM });
  },
});
