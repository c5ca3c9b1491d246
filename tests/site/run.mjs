// node run.mjs ENGINE.JS ENGINE.WASM IN OUT [AGAIN]: runs the columns of IN and writes the results to OUT; prints the
// seconds that it took. A node without the newest rules takes a module only by such an address or by this ending.
import { readFileSync, writeFileSync } from "node:fs";

const [script, wasm, input, output] = process.argv.slice(2);
const { Run } = await import(`data:text/javascript;base64,${readFileSync(script).toString("base64")}`);
const module = await WebAssembly.compile(readFileSync(wasm)), run = await Run.of(module, [readFileSync(input)]);
const began = performance.now();
while (!run.advance(200_000));
console.log((performance.now() - began) / 1000);
writeFileSync(output, run.finish());
