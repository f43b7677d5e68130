// A trace and the state it adds up to: what recording/trace.py does, over the columns and blocks of view/trace_data.py.

import type { Causes } from "./why";

export type Encoded = null | boolean | number | string | { [key: string]: any };
export type Names = Map<string, Encoded>;

export interface Content {
  kind: string;
  type: string;
  items?: any[];
  fields?: Record<string, Encoded>;
  base?: string;
  text?: string;
  length?: number | null;
  cut?: string | null;
  shape?: number[];
  dtype?: string;
}

export interface Caller {
  frame: number;
  offset: number;
  at?: [number, number, number, number] | null;
  via?: string;
  locals?: Record<string, Encoded>;
  stack?: Encoded[];
}

export interface Frame {
  number: number;
  function: string;
  file: string;
  line: number;
  offset: number;
  locals: Names;
  stack: Encoded[];
  caller: Caller | null;
}

/** One event whole. `index` is its place in the trace. */
export interface Row {
  index: number;
  kind: string;
  frame: number;
  function: string;
  file: string;
  line: number;
  offset: number;
  locals: Record<string, Encoded> | null;
  stack: Encoded[] | null;
  globals: Record<string, Encoded> | null;
  objects: Record<string, any> | null;
  caller: Caller | null;
  value: Encoded | undefined;
  output: string;
  instruction: string | null;
  leftOut: Record<string, number> | null;
}

export interface TraceFacts {
  thread: number;
  events: number;
  cut: string | null;
  places: [string, string][];
  starts: number[];
  /** The event at which the page opens. */
  opens: number;
}

export interface Facts {
  deskcheck: string;
  id: string;
  file: string;
  mode: string;
  entry: string | null;
  arguments: string | null;
  outcome: string;
  detail: string;
  result: string | null;
  cut: string | null;
  stderr: string;
  repeatable: boolean | null;
  difference: string | null;
  /** The error of the failed test that made this call; else empty. */
  failure: string;
  python: string;
  level: string;
  limits: Record<string, unknown>;
  sources: Record<string, string>;
  kinds: string[];
  traces: TraceFacts[];
}

interface Last {
  kind: string;
  frame: number;
}

/** Kinds whose events have a value. */
export const VALUED = new Set(["return", "yield", "resume", "raise"]);
const LEAVES = new Set(["return", "unwind", "yield"]);

/** The text of a name after an edit, whose numbers count characters, not UTF-16 units. */
function edited(old: Encoded | undefined, change: { [key: string]: any }): Encoded {
  const before = typeof old === "string" ? old : old && typeof old === "object" ? String(old.str ?? "") : "";
  const [at, removed, text] = change.edit;
  const points = Array.from(before);
  const made = points.slice(0, at).join("") + text + points.slice(at + removed).join("");
  return "cut" in change ? { str: made, length: change.length, cut: change.cut } : made;
}

function update(names: Names, changes: Record<string, Encoded>): void {
  for (const [name, value] of Object.entries(changes)) {
    if (value !== null && typeof value === "object" && "unbound" in value) names.delete(name);
    else if (value !== null && typeof value === "object" && "edit" in value) names.set(name, edited(names.get(name), value));
    else names.set(name, value);
  }
}

function changed(content: Content, change: any): Content {
  const made: Content = { ...content };
  if (change.splice) {
    const [at, removed, items] = change.splice;
    const old = content.items ?? [];
    made.items = [...old.slice(0, at), ...items, ...old.slice(at + removed)];
  }
  if (change.fields) {
    const fields: Names = new Map(Object.entries(content.fields ?? {}));
    update(fields, change.fields);
    made.fields = Object.fromEntries(fields);
  }
  for (const key of ["length", "cut", "text"] as const) {
    if (!(key in change)) continue;
    if (change[key] === null) delete made[key];
    else (made as any)[key] = change[key];
  }
  return made;
}

/** Everything that is known after an event, as `State` of recording/trace.py. */
export class State {
  frames = new Map<number, Frame>();
  active: number[] = [];
  globals = new Map<string, Names>();
  objects = new Map<number, Content>();
  last: Last | null = null;

  static read(told: any): State {
    const state = new State();
    for (const [number, name, file, line, offset, locals, stack, caller] of told.frames) {
      const names: Names = new Map(Object.entries(locals));
      state.frames.set(number, { number, function: name, file, line, offset, locals: names, stack, caller });
    }
    state.active = [...told.active];
    for (const [file, names] of Object.entries<any>(told.globals)) {
      state.globals.set(file, new Map(Object.entries(names)));
    }
    for (const [number, content] of Object.entries<any>(told.objects)) state.objects.set(+number, content);
    state.last = told.last && { kind: told.last[0], frame: told.last[1] };
    return state;
  }

  copy(): State {
    const twin = new State();
    for (const [number, frame] of this.frames) {
      twin.frames.set(number, { ...frame, locals: new Map(frame.locals) });
    }
    twin.active = [...this.active];
    for (const [file, names] of this.globals) twin.globals.set(file, new Map(names));
    twin.objects = new Map(this.objects);
    twin.last = this.last;
    return twin;
  }

  apply(row: Row): void {
    if (this.last && LEAVES.has(this.last.kind)) this.leave(this.last);
    this.last = { kind: row.kind, frame: row.frame };
    let frame = this.frames.get(row.frame);
    if (!frame) {
      const { function: name, file, line, offset } = row;
      frame = { number: row.frame, function: name, file, line, offset, locals: new Map(), stack: [], caller: null };
      this.frames.set(row.frame, frame);
    }
    if (row.kind === "call" || row.kind === "resume") {
      this.active.push(row.frame);
      frame.caller = row.caller;
      if (row.caller) this.suspend(row.caller);
    }
    frame.line = row.line;
    frame.offset = row.offset;
    if (row.locals) update(frame.locals, row.locals);
    if (row.stack) frame.stack = row.stack;
    if (row.globals) {
      let names = this.globals.get(row.file);
      if (!names) this.globals.set(row.file, (names = new Map()));
      update(names, row.globals);
    }
    for (const [key, change] of Object.entries(row.objects ?? {})) {
      const number = +key;
      if (change === null) this.objects.delete(number);
      else if ("kind" in change) this.objects.set(number, change);
      else this.objects.set(number, changed(this.objects.get(number)!, change));
    }
  }

  private suspend(caller: Caller): void {
    const frame = this.frames.get(caller.frame);
    if (!frame) return;
    update(frame.locals, caller.locals ?? {});
    frame.stack = caller.stack ?? frame.stack;
    frame.offset = caller.offset;
  }

  private leave(last: Last): void {
    if (this.active.at(-1) === last.frame) this.active.pop();
    if (last.kind !== "yield") this.frames.delete(last.frame);
  }

  /** Names of a frame; of a module's frame, the module's globals. */
  names(frame: Frame): Names {
    return frame.function === "<module>" ? (this.globals.get(frame.file) ?? new Map()) : frame.locals;
  }
}

/** Of all events what moves and the timeline need: 17 bytes an event. */
export class Columns {
  readonly depth: Uint32Array;
  readonly frame: Uint32Array;
  readonly line: Uint32Array;
  readonly place: Uint32Array;
  private readonly flags: Uint8Array;

  constructor(
    bytes: Uint8Array,
    readonly length: number,
    private readonly kinds: string[],
  ) {
    if (bytes.length !== 17 * length) throw new Error(`${bytes.length} bytes of columns for ${length} events`);
    const words = (at: number) => new Uint32Array(bytes.buffer, bytes.byteOffset + 4 * at * length, length);
    [this.depth, this.frame, this.line, this.place] = [words(0), words(1), words(2), words(3)];
    this.flags = bytes.subarray(16 * length);
  }

  kind(index: number): string {
    return this.kinds[this.flags[index]! & 15]!;
  }

  kindNumber(name: string): number {
    return this.kinds.indexOf(name);
  }

  /** The number of the kind, for loops over many events. */
  number(index: number): number {
    return this.flags[index]! & 15;
  }

  prints(index: number): boolean {
    return (this.flags[index]! & 16) !== 0;
  }

  gap(index: number): boolean {
    return (this.flags[index]! & 32) !== 0;
  }
}

/** Where the parts of a recording come from: the page itself, or the server that gave it. */
export interface Store {
  facts(): Promise<Facts>;
  columns(thread: number): Promise<Uint8Array>;
  block(thread: number, number: number): Promise<string>;
  /** The causes of values of a thread; null if they are not in the page. */
  causes(thread: number): Promise<Causes | null>;
}

interface Block {
  start: number;
  state: State;
  output: { length: number; tail: string };
  rows: Row[];
  /** States inside the block, so that a step back does not begin at its start. */
  between: Map<number, State>;
}

const KEPT_BLOCKS = 6;
const BETWEEN = 256;
const OUTPUT_CHARS = 20_000;

export interface Moment {
  row: Row;
  state: State;
  /** The last characters of what was printed so far, and how many there are in all. */
  output: { length: number; tail: string };
}

export class Trace {
  private blocks = new Map<number, Promise<Block>>();
  private read: Promise<Causes | null> | undefined;

  constructor(
    private readonly store: Store,
    readonly facts: TraceFacts,
    readonly columns: Columns,
  ) {}

  get length(): number {
    return this.facts.events;
  }

  causes(): Promise<Causes | null> {
    return (this.read ??= this.store.causes(this.facts.thread));
  }

  blockOf(index: number): number {
    const starts = this.facts.starts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The event of that index with the state at it. */
  async moment(index: number): Promise<Moment> {
    const block = await this.block(this.blockOf(index));
    const at = index - block.start;
    let from = at - (at % BETWEEN);
    while (from > 0 && !block.between.has(from)) from -= BETWEEN;
    const state = (from > 0 ? block.between.get(from)! : block.state).copy();
    for (let i = from; i <= at; i++) {
      if (i > 0 && i % BETWEEN === 0 && !block.between.has(i)) block.between.set(i, state.copy());
      state.apply(block.rows[i]!);
    }
    let { length, tail } = block.output;
    const printed: string[] = [];
    for (let i = 0; i <= at; i++) {
      const text = block.rows[i]!.output;
      if (text) {
        printed.push(text);
        length += text.length;
      }
    }
    if (printed.length) tail = (tail + printed.join("")).slice(-OUTPUT_CHARS);
    return { row: block.rows[at]!, state, output: { length, tail } };
  }

  async row(index: number): Promise<Row> {
    const block = await this.block(this.blockOf(index));
    return block.rows[index - block.start]!;
  }

  /** Rows of a whole block, and the state before the first of them. */
  async rows(number: number): Promise<{ rows: Row[]; state: State }> {
    const { rows, state } = await this.block(number);
    return { rows, state };
  }

  private block(number: number): Promise<Block> {
    let block = this.blocks.get(number);
    if (block) {
      this.blocks.delete(number); // to the end: the one longest unused goes first
    } else {
      block = this.unpack(number);
      block.catch(() => this.blocks.delete(number));
    }
    this.blocks.set(number, block);
    for (const old of this.blocks.keys()) {
      if (this.blocks.size <= KEPT_BLOCKS) break;
      this.blocks.delete(old);
    }
    return block;
  }

  private async unpack(number: number): Promise<Block> {
    const told = JSON.parse(await this.store.block(this.facts.thread, number));
    const start = this.facts.starts[number]!;
    const { columns, facts } = this;
    const rows = told.rows.map((part: any[], i: number): Row => {
      const index = start + i;
      const kind = columns.kind(index);
      const [name, file] = facts.places[columns.place[index]!]!;
      return {
        index,
        kind,
        frame: columns.frame[index]!,
        function: name,
        file,
        line: columns.line[index]!,
        offset: part[0],
        locals: part[1] ?? null,
        stack: part[2] ?? null,
        globals: part[3] ?? null,
        objects: part[4] ?? null,
        caller: part[5] ?? null,
        value: VALUED.has(kind) ? (part[6] ?? null) : undefined,
        output: part[7] ?? "",
        instruction: part[8] ?? null,
        leftOut: part[9] ?? null,
      };
    });
    return { start, rows, state: State.read(told.state), output: told.output, between: new Map() };
  }
}
