// node recorded.mjs ENGINE.JS RECORDED.JS IN OUT NEWEST: prints what the player gets of the results OUT of the columns IN;
// standard input: what else a page knows.
import { readFileSync } from "node:fs";

const [engine, recorder, input, output, newest] = process.argv.slice(2);
const of = (path) => import(`data:text/javascript;base64,${readFileSync(path).toString("base64")}`);
const { columnsOf } = await of(engine), { recorded } = await of(recorder);
const [arrays, native] = [input, output].map((path) => columnsOf(readFileSync(path)));
console.log(JSON.stringify(recorded(native, arrays, JSON.parse(readFileSync(0)), newest === "true")));
