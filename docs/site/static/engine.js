// The engine in this browser: columns in, columns out, in the form of `crates/web/src/wire.rs`. Imports nothing, so that
// node can run it as it is.

const ROWS = [Uint8Array, Uint8Array, Uint32Array, BigUint64Array, BigInt64Array, Float64Array], WORD = 0, ONE = 16;
export const KINDS = { u8: 1, u32: 2, u64: 3, i64: 4, f64: 5 };
const whole = (bytes) => Math.ceil(bytes / 8) * 8;

// The head of a column: its name, its kind, its number of rows, where these begin, and where the column ends.
const headAt = (view, at) => {
  const length = view.getUint32(at, true), kind = view.getUint32(at + 4, true), count = Number(view.getBigUint64(at + 8, true));
  const name = new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + at + 16, length)), begin = at + 16 + whole(length);
  return { name, kind, count, begin, end: begin + whole(count * ROWS[kind % ONE].BYTES_PER_ELEMENT) };
};
const viewOf = ({ buffer, byteOffset, length }) => new DataView(buffer, byteOffset, length);

// The columns of a buffer by name: words, numbers, and arrays of numbers. Times and counts stay below 2^53.
export const columnsOf = (bytes) => {
  const { buffer } = new Uint8Array(bytes), view = new DataView(buffer), found = {};
  for (let at = 0; at < buffer.byteLength;) {
    const { name, kind, count, begin, end } = headAt(view, at), Rows = ROWS[kind % ONE];
    const rows = new Rows(buffer, begin, count), plain = Rows.BYTES_PER_ELEMENT === 8 ? Float64Array.from(rows, Number) : rows;
    found[name] = kind === WORD ? new TextDecoder().decode(rows) : kind >= ONE ? plain[0] : plain;
    at = end;
  }
  return found;
};

// The name of a column.
export const nameOf = (part) => headAt(viewOf(part), 0).name;

// A column of numbers as bytes; `one`: a single number.
export const columnOf = (name, kind, rows, one = false) => {
  const Rows = ROWS[kind], data = new Uint8Array(Rows.from(rows, Rows === BigUint64Array || Rows === BigInt64Array ? BigInt : Number).buffer);
  const bytes = new Uint8Array(16 + whole(name.length) + whole(data.length)), view = viewOf(bytes);
  view.setUint32(0, name.length, true);
  view.setUint32(4, one ? ONE + kind : kind, true);
  view.setBigUint64(8, BigInt(rows.length), true);
  bytes.set(new TextEncoder().encode(name), 16);
  bytes.set(data, 16 + whole(name.length));
  return bytes;
};

// A whole number as a column of one row.
export const numberColumn = (name, value) => columnOf(name, KINDS.u64, [value], true);

// One run. An instance of the module is used once, so that no run knows of another.
export class Run {
  static async of(module, parts) { return new Run((await WebAssembly.instantiate(module)).exports, parts); }

  constructor(engine, parts) {
    this.engine = engine;
    let at = engine.fabriloom_room(parts.reduce((sum, part) => sum + part.length, 0));
    for (const part of parts) {
      new Uint8Array(engine.memory.buffer, at, part.length).set(part);
      at += part.length;
    }
    this.told(engine.fabriloom_begin());
  }

  // Handles at least this number of further events; says whether the run has ended.
  advance(events) { return this.told(this.engine.fabriloom_advance(events)) > 0; }

  packetHops() { return this.engine.fabriloom_packet_hops(); }

  // What has been measured so far, as bytes.
  finish() {
    this.told(this.engine.fabriloom_finish());
    return this.output();
  }

  output() { return new Uint8Array(this.engine.memory.buffer, this.engine.fabriloom_output(), this.engine.fabriloom_output_bytes()).slice(); }

  told(outcome) {
    if (outcome < 0) throw new Error(new TextDecoder().decode(this.output()));
    return outcome;
  }
}
