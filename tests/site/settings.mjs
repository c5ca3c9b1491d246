// node settings.mjs FOLDER ENGINE.WASM OUT: runs settings of a page as its script does, with the modules in a folder, and
// writes the results to OUT; standard input: what the page knows, and the settings.
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const [folder, wasm, output] = process.argv.slice(2);
const { Compiled } = await import(`${folder}/compiled.js`), { Run, columnsOf } = await import(`${folder}/engine.js`);
const { lab, links, settings } = JSON.parse(readFileSync(0)), module = await WebAssembly.compile(readFileSync(wasm));
const ended = async (input) => {
  const run = await Run.of(module, input);
  while (!run.advance(200_000));
  return run.finish();
};
const compiled = new Compiled(lab, links, new Uint8Array(gunzipSync(Buffer.from(lab.bytes, "base64"))));
const { input } = await compiled.matched(settings, async (columns) => columnsOf(await ended(columns)));
writeFileSync(output, await ended(input));
