// Frames with their variables, and the objects that they refer to: arrows run from names to shared objects.

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Variable } from "./search";
import { atom, cellText, short, visible, whyCut } from "./text";
import type { Content, Encoded, Frame, Moment, Names, Row, State } from "./trace";

const DRAWN_ITEMS = 30;
/** Of those that each need a line. */
const DRAWN_LINES = 12;
/** Of a table or matrix that is folded: rows at its beginning and end, and columns. */
const [FIRST_ROWS, LAST_ROWS, FIRST_COLUMNS] = [6, 2, 12];
const DRAWN_OBJECTS = 150;
const DRAWN_FRAMES = 40;
const DRAWN_CHARS = 240;
const DRAWN_ARROWS = 300;
const INLINE_DEPTH = 4;
const SHORT_TUPLE = 8;

// -- what changed -----------------------------------------------------------------------------------

interface Change {
  /** Items from, up to; null: the whole is new. */
  items: [number, number] | null;
  fields: Set<string>;
  whole: boolean;
}

export class Changes {
  readonly names = new Set<string>();
  readonly objects = new Map<number, Change>();

  constructor(row: Row) {
    for (const name in row.locals) this.names.add(`${row.frame} ${name}`);
    for (const name in row.caller?.locals) this.names.add(`${row.caller!.frame} ${name}`);
    for (const name in row.globals) this.names.add(`${row.file} ${name}`);
    for (const [key, change] of Object.entries(row.objects ?? {})) {
      if (change === null) continue;
      const splice = change.splice as [number, number, unknown[]] | undefined;
      this.objects.set(+key, {
        whole: "kind" in change,
        items: splice ? [splice[0], splice[0] + Math.max(splice[2].length, 0)] : null,
        fields: new Set(Object.keys("kind" in change ? {} : (change.fields ?? {}))),
      });
    }
  }
}

// -- which objects get a place of their own ------------------------------------------------------------

/** Functions and classes that hold nothing else are their text. */
function isText(content: Content): boolean {
  if (content.kind === "function") return !Object.keys(content.fields ?? {}).length;
  return content.kind === "class";
}

interface Layout {
  /** Objects with a card, in the order in which they are met. */
  cards: number[];
  own: Set<number>;
  /** How many were met beyond those that are drawn. */
  more: number;
  /** Where running loops stand in what they run over. */
  at: Map<number, Set<number>>;
}

function refs(value: unknown, found: number[]): void {
  if (value === null || typeof value !== "object") return;
  const number = (value as any).ref;
  if (typeof number === "number") found.push(number);
  else for (const part of Object.values(value)) refs(part, found);
}

export function layout(state: State, frames: Frame[], globals: [string, Names][], extra: Encoded | undefined): Layout {
  const direct = new Set<number>();
  const counts = new Map<number, number>();
  const order: number[] = [];
  const depths = new Map<number, number>();
  const at = new Map<number, Set<number>>();
  const todo: [number, number][] = [];
  const meet = (value: unknown, named: boolean, depth: number) => {
    const found: number[] = [];
    refs(value, found);
    const bare = value !== null && typeof value === "object" && "ref" in value;
    for (const number of found) {
      const content = state.objects.get(number);
      if (!content || isText(content)) continue;
      if (named && bare) direct.add(number);
      const count = counts.get(number) ?? 0;
      counts.set(number, count + 1);
      if (count) continue;
      order.push(number);
      depths.set(number, depth);
      todo.push([number, depth + 1]);
    }
  };
  for (const [, names] of globals) for (const value of names.values()) meet(value, true, 0);
  for (const frame of frames) {
    for (const value of frame.locals.values()) meet(value, true, 0);
    for (const value of frame.stack) {
      meet(value, false, 0);
      const over = standing(value, state);
      if (over) at.set(over[0], (at.get(over[0]) ?? new Set()).add(over[1]));
    }
  }
  if (extra !== undefined) meet(extra, true, 0);
  for (let i = 0; i < todo.length && order.length < 20 * DRAWN_OBJECTS; i++) {
    const [number, depth] = todo[i]!;
    const content = state.objects.get(number)!;
    meet(content.items, false, depth);
    meet(content.fields, false, depth);
  }
  const own = order.filter((number) => direct.has(number) || counts.get(number)! > 1 || (depths.get(number)! > 0 && depths.get(number)! % INLINE_DEPTH === 0));
  const cards = own.slice(0, DRAWN_OBJECTS);
  return { cards, own: new Set(cards), more: own.length - cards.length, at };
}

/** Of a loop's iterator: what it runs over, and the index of the item that it gave last. */
function standing(value: Encoded, state: State): [number, number] | null {
  if (value === null || typeof value !== "object" || !("ref" in value)) return null;
  const fields = state.objects.get(value.ref)?.fields;
  const over = fields?.over as any;
  const next = fields?.next;
  return over && typeof over === "object" && "ref" in over && typeof next === "number" && next > 0 ? [over.ref, next - 1] : null;
}

// -- values --------------------------------------------------------------------------------------------

interface Drawing {
  state: State;
  layout: Layout;
  changes: Changes;
  /** Objects whose items are all drawn, because someone asked. */
  open: ReadonlySet<number>;
  expand: (number: number) => void;
}

export function Cut({ why, left }: { why: string; left?: number | undefined }): JSX.Element {
  const count = left !== undefined && left > 0 ? `${left.toLocaleString("en")} more` : "cut";
  return (
    <span class="cut">
      … {count} <span class="why">({whyCut(why)})</span>
    </span>
  );
}

/** cell: in a grid, where dates without a time and long fractions are short; the whole is in the title. */
function AtomText({ value, cell }: { value: Encoded; cell?: boolean }): JSX.Element | null {
  const [all, setAll] = useState(false);
  const found = atom(value);
  if (!found) return null;
  const brief = cell ? cellText(found.text) : found.text;
  if (brief !== found.text) {
    return (
      <span class={`v ${found.sort}`} title={found.text}>
        {brief}
      </span>
    );
  }
  const long = found.text.length > DRAWN_CHARS && !all;
  return (
    <span class={`v ${found.sort}`}>
      {long ? found.text.slice(0, DRAWN_CHARS) : found.text}
      {long && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          … {(found.text.length - DRAWN_CHARS).toLocaleString("en")} more characters
        </button>
      )}
      {found.cut && <Cut why={found.cut} left={found.length === undefined ? undefined : found.length - rawLength(value)} />}
    </span>
  );
}

function rawLength(value: Encoded): number {
  const told = value as { str?: string; bytes?: string };
  return (told.str ?? told.bytes ?? "").length;
}

function Value({ value, on, depth = 0 }: { value: Encoded; on: Drawing; depth?: number }): JSX.Element {
  if (atom(value)) return <AtomText value={value} />;
  const told = value as { [key: string]: any };
  if ("ref" in told) {
    const content = on.state.objects.get(told.ref);
    if (!content) return <span class="cut">#{told.ref}, no longer tracked</span>; // what a suspended frame held
    if (isText(content)) return <span class="v other">{visible(content.text ?? content.type)}</span>;
    if (on.layout.own.has(told.ref) || depth > INLINE_DEPTH) return <Reference number={told.ref} content={content} />;
    return <Inside number={told.ref} content={content} on={on} depth={depth + 1} inline />;
  }
  if ("tuple" in told || "frozenset" in told) {
    const items: Encoded[] = told.tuple ?? told.frozenset;
    const names: string[] = told.names ?? [];
    const type = told.type ?? ("tuple" in told ? "tuple" : "frozenset");
    if ("tuple" in told && !names.length && !told.cut && items.length <= SHORT_TUPLE && items.every((item) => atom(item) !== null)) {
      return (
        <span class="v tuple">
          (
          {items.map((item, i) => (
            <>
              {i > 0 && ", "}
              <AtomText value={item} />
            </>
          ))}
          {items.length === 1 && ","})
        </span>
      );
    }
    return <Items items={items} labels={names} indexed={"tuple" in told} cut={told} on={on} depth={depth} type={visible(type)} />;
  }
  if ("array" in told) return <Items items={told.array} indexed grid cut={told} on={on} depth={depth} type={visible(told.dtype)} />;
  if ("method" in told) {
    return (
      <span class="v other">
        method {visible(told.method)} of <Value value={told.self} on={on} depth={depth + 1} />
      </span>
    );
  }
  return <span class="v other">{short(value, on.state.objects)}</span>;
}

function Reference({ number, content }: { number: number; content: Content }): JSX.Element {
  const name = `${visible(content.type)} #${number}`;
  const show = () => {
    const card = document.getElementById(`object-${number}`);
    card?.scrollIntoView({ block: "nearest", behavior: "smooth" });
    card?.classList.add("flash");
    setTimeout(() => card?.classList.remove("flash"), 900);
  };
  return (
    <button type="button" class="ref" data-to={number} aria-label={`refers to ${name}`} onClick={show}>
      <span class="dot" />#{number}
    </button>
  );
}

interface ItemsProps {
  items: Encoded[];
  labels?: string[];
  indexed: boolean;
  cut: { cut?: string | null; length?: number | null };
  on: Drawing;
  depth: number;
  type?: string;
  number?: number;
  /** Whether these are items of an array, which has many alike. */
  grid?: boolean;
}

function Items({ items, labels = [], indexed, cut, on, depth, type, number, grid }: ItemsProps): JSX.Element {
  const all = number !== undefined && on.open.has(number);
  const change = number === undefined ? undefined : on.changes.objects.get(number);
  const at = number === undefined ? undefined : on.layout.at.get(number);
  const flat = items.every((item) => atom(item) !== null);
  const drawn = all ? items : items.slice(0, flat ? (grid ? DRAWN_ITEMS / 2 : DRAWN_ITEMS) : DRAWN_LINES);
  const left = cut.length ? cut.length - items.length : undefined;
  return (
    <span class={`items ${flat ? "flat" : "rows"}`}>
      {type && <span class="type">{type}</span>}
      {!items.length && !cut.cut && <span class="empty">empty</span>}
      {drawn.map((item, i) => {
        const fresh = change?.items && i >= change.items[0] && i < change.items[1];
        const here = at?.has(i);
        return (
          <span key={i} class={`item${fresh ? " changed" : ""}${here ? " here" : ""}`} title={here ? "a loop is here" : undefined}>
            {(indexed || labels[i]) && <span class="index">{labels[i] ? visible(labels[i]) : i}</span>}
            {atom(item) ? <AtomText value={item} cell={grid ?? false} /> : <Value value={item} on={on} depth={depth + 1} />}
          </span>
        );
      })}
      {drawn.length < items.length && number !== undefined && (
        <button type="button" class="more" onClick={() => on.expand(number)}>
          … {items.length - drawn.length} more
        </button>
      )}
      {drawn.length < items.length && number === undefined && <span class="cut">… {items.length - drawn.length} more, not drawn</span>}
      {cut.cut && <Cut why={cut.cut} left={left} />}
    </span>
  );
}

function Pairs({ content, number, on, depth }: { content: Content; number: number; on: Drawing; depth: number }): JSX.Element {
  const items = (content.items ?? []) as [Encoded, Encoded][];
  const drawn = on.open.has(number) ? items : items.slice(0, DRAWN_LINES);
  const change = on.changes.objects.get(number);
  return (
    <span class="pairs">
      {!items.length && !content.cut && <span class="empty">empty</span>}
      {drawn.map(([key, value], i) => (
        <span key={i} class={`pair${change?.items && i >= change.items[0] && i < change.items[1] ? " changed" : ""}`}>
          <span class="key">
            <Value value={key} on={on} depth={depth + 1} />
          </span>
          <span class="held">
            <Value value={value} on={on} depth={depth + 1} />
          </span>
        </span>
      ))}
      {drawn.length < items.length && (
        <button type="button" class="more" onClick={() => on.expand(number)}>
          … {items.length - drawn.length} more
        </button>
      )}
      {content.cut && <Cut why={content.cut} left={content.length ? content.length - items.length : undefined} />}
    </span>
  );
}

function Fields({ content, number, on, depth }: { content: Content; number: number; on: Drawing; depth: number }): JSX.Element | null {
  // What a generator holds stands in its frame, if that is drawn.
  const told = content.kind === "generator" && on.state.frames.has(content.fields?.["(frame)"] as number) ? ["(state)", "(line)"] : null;
  const fields = Object.entries(content.fields ?? {}).filter(([name]) => !told || told.includes(name));
  if (!fields.length) return null;
  const change = on.changes.objects.get(number);
  return (
    <span class="pairs">
      {fields.map(([name, value]) => (
        <span key={name} class={`pair${change?.fields.has(name) ? " changed" : ""}`}>
          <span class="key name">{visible(name)}</span>
          <span class="held">
            {typeof value === "object" && value !== null && !isEncoded(value) ? <Names names={value} on={on} depth={depth} /> : <Value value={value} on={on} depth={depth + 1} />}
          </span>
        </span>
      ))}
    </span>
  );
}

const FORMS = ["ref", "tuple", "frozenset", "array", "range", "slice", "text", "method", "str", "bytes", "int", "float", "complex", "unbound", "cut"];

function isEncoded(value: object): boolean {
  return FORMS.some((form) => form in value);
}

function Names({ names, on, depth }: { names: { [key: string]: any }; on: Drawing; depth: number }): JSX.Element {
  return (
    <span class="pairs">
      {Object.entries(names).map(([name, value]) => (
        <span key={name} class="pair">
          <span class="key name">{visible(name)}</span>
          <span class="held">
            <Value value={value} on={on} depth={depth + 1} />
          </span>
        </span>
      ))}
    </span>
  );
}

function Cell({ value, on }: { value: Encoded; on: Drawing }): JSX.Element {
  return atom(value) ? <AtomText value={value} cell /> : <Value value={value} on={on} depth={2} />;
}

/** Indexes of the rows that are drawn; null where some are folded away. */
function foldedRows(length: number, open: boolean): (number | null)[] {
  const all = [...Array(length).keys()];
  return open || length <= FIRST_ROWS + LAST_ROWS + 1 ? all : [...all.slice(0, FIRST_ROWS), null, ...all.slice(-LAST_ROWS)];
}

interface GridProps {
  number: number;
  on: Drawing;
  /** Names of the columns, and of the rows; without names they are numbers. */
  columns: (Encoded | undefined)[];
  names: (Encoded | undefined)[];
  length: number;
  value: (row: number, column: number) => Encoded | undefined;
}

/** Values in rows and columns, in the middle folded until someone asks. */
function GridView({ number, on, columns, names, length, value }: GridProps): JSX.Element {
  const open = on.open.has(number);
  const shown = open ? columns : columns.slice(0, FIRST_COLUMNS);
  const hidden = columns.length - shown.length;
  const label = (text: Encoded | undefined, place: number) => (text === undefined ? place : <Cell value={text} on={on} />);
  return (
    <table class="grid">
      <thead>
        <tr>
          <td />
          {shown.map((name, i) => (
            <th key={i} scope="col">
              {label(name, i)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {foldedRows(length, open).map((row, place) =>
          row === null ? (
            <tr key="fold">
              <td colSpan={shown.length + 1} class="fold">
                <button type="button" class="more" onClick={() => on.expand(number)}>
                  … {length - FIRST_ROWS - LAST_ROWS} more rows{hidden > 0 && ` and ${hidden} more columns`}
                </button>
              </td>
            </tr>
          ) : (
            <tr key={place}>
              <th scope="row">{label(names[row], row)}</th>
              {shown.map((_, column) => {
                const held = value(row, column);
                return <td key={column}>{held === undefined ? "" : <Cell value={held} on={on} />}</td>;
              })}
            </tr>
          ),
        )}
        {hidden > 0 && length <= FIRST_ROWS + LAST_ROWS + 1 && (
          <tr>
            <td colSpan={shown.length + 1} class="fold">
              <button type="button" class="more" onClick={() => on.expand(number)}>
                … {hidden} more columns
              </button>
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Grid({ content, on, number }: { content: Content; on: Drawing; number: number }): JSX.Element {
  const [, columns = 0] = content.shape ?? [];
  const items = content.items ?? [];
  const length = columns ? Math.ceil(items.length / columns) : 0;
  const value = (row: number, column: number): Encoded | undefined => items[row * columns + column];
  return (
    <span class="array">
      <GridView number={number} on={on} columns={Array(Math.min(columns, items.length)).fill(undefined)} names={[]} length={length} value={value} />
      {content.cut && <Cut why={content.cut} left={content.length ? content.length - items.length : undefined} />}
    </span>
  );
}

function Table({ content, on, number }: { content: Content; on: Drawing; number: number }): JSX.Element {
  const columns = (content.items ?? []) as [Encoded, any][];
  const names: Encoded[] = columnItems(content.fields?.index, on.state);
  const length = Math.max(0, ...columns.map(([, column]) => column?.array?.length ?? 0));
  const value = (row: number, column: number): Encoded | undefined => columns[column]![1]?.array?.[row];
  return (
    <span class="array">
      <GridView number={number} on={on} columns={columns.map(([label]) => label)} names={names} length={length} value={value} />
      {(content.shape?.[0] ?? 0) > length && <Cut why="long" left={content.shape![0]! - length} />}
      {content.cut && <Cut why={content.cut} left={content.length ? content.length - columns.length : undefined} />}
    </span>
  );
}

function columnItems(value: unknown, state: State): Encoded[] {
  const told = value as { ref?: number; array?: Encoded[] } | undefined;
  if (told?.array) return told.array;
  return told?.ref !== undefined ? (state.objects.get(told.ref)?.items ?? []) : [];
}

function title(content: Content): string {
  const parts = [visible(content.type)];
  if (content.kind === "class" || content.kind === "function") return visible(content.text ?? content.type);
  if (content.shape) parts.push(`${content.shape.join(" × ") || "scalar"}`);
  if (content.dtype) parts.push(visible(content.dtype));
  if (content.base) parts.push(`(a ${visible(content.base)})`);
  const count = content.length ?? content.items?.length;
  if (["list", "dict", "set", "bytearray"].includes(content.kind) && count !== undefined) parts.push(`of ${count}`);
  return parts.join(" ");
}

/** An iterator on one line: what it runs over and where it stands. */
function Standing({ content, on, depth }: { content: Content; on: Drawing; depth: number }): JSX.Element {
  return (
    <span class="standing">
      <span class="type">{visible(content.type)}</span>
      {Object.entries(content.fields ?? {}).map(([name, value]) => (
        <span key={name}>
          <span class="type">{visible(name)}</span>
          <Value value={value} on={on} depth={depth} />{" "}
        </span>
      ))}
      {content.cut && <Cut why={content.cut} />}
    </span>
  );
}

/** What is in an object: the body of its card, or written where it is referred to. */
function Inside({ number, content, on, depth, inline }: { number: number; content: Content; on: Drawing; depth: number; inline?: boolean }): JSX.Element {
  const { kind } = content;
  if (inline && kind === "iterator") return <Standing content={content} on={on} depth={depth} />;
  const dict = kind === "dict" || content.base === "dict";
  let items: ComponentChildren = null;
  if (kind === "table") items = <Table content={content} on={on} number={number} />;
  else if (kind === "array" && content.shape?.length === 2) items = <Grid content={content} on={on} number={number} />;
  else if (dict) items = <Pairs content={content} number={number} on={on} depth={depth} />;
  else if (["list", "set", "bytearray", "array", "exception"].includes(kind) || content.items?.length) {
    items = <Items items={content.items ?? []} indexed={kind !== "set" && kind !== "exception"} cut={content} on={on} depth={depth} number={number} grid={kind === "array"} />;
  } else if (content.cut) items = <Cut why={content.cut} />;
  const text = kind === "text" || (content.text && kind !== "class" && kind !== "function") ? visible(content.text ?? "") : null;
  const known = ["list", "dict", "set"].includes(kind) && content.type === kind;
  const whole = on.changes.objects.get(number)?.whole;
  return (
    <span class={`inside ${inline ? `inline ${kind}` : ""}${inline && whole ? " changed" : ""}`}>
      {inline && !(known && content.items?.length) && <span class="type">{title(content)}</span>}
      {text && <span class="v other">{text}</span>}
      {items}
      {kind !== "table" && <Fields content={content} number={number} on={on} depth={depth} />}
      {kind === "opaque" && !content.cut && <Cut why="opaque" />}
    </span>
  );
}

function Card({ number, on }: { number: number; on: Drawing }): JSX.Element {
  const content = on.state.objects.get(number)!;
  const whole = on.changes.objects.get(number)?.whole;
  return (
    <div class={`card ${content.kind}${whole ? " changed" : ""}`} id={`object-${number}`} data-object={number}>
      <div class="card-title">
        <span class="number">#{number}</span> {title(content)}
      </div>
      <Inside number={number} content={content} on={on} depth={0} />
    </div>
  );
}

// -- frames ----------------------------------------------------------------------------------------------

interface MemoryProps {
  moment: Moment;
  /** Number of the frame whose line the source shows. */
  shown: number;
  watched: Variable | null;
  manyFiles: boolean;
  onShow: (frame: number) => void;
  onWatch: (variable: Variable) => void;
  onWhy: (variable: Variable) => void;
}

export function Memory({ moment, shown, watched, manyFiles, onShow, onWatch, onWhy }: MemoryProps): JSX.Element {
  const { state, row } = moment;
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const panel = useRef<HTMLDivElement>(null);
  const running = state.active.map((number) => state.frames.get(number)).filter((frame) => frame !== undefined);
  if (!state.active.includes(row.frame) && state.frames.has(row.frame)) running.push(state.frames.get(row.frame)!);
  const suspended = [...state.frames.values()].filter((frame) => !running.includes(frame));
  const globals = [...state.globals].filter(([, names]) => names.size > 0);
  const changes = new Changes(row);
  const placed = layout(state, [...running, ...suspended], globals, row.value);
  const on: Drawing = { state, layout: placed, changes, open, expand: (number) => setOpen(new Set([...open, number])) };
  useArrows(panel, moment);

  useLayoutEffect(() => {
    const scroller = panel.current?.parentElement;
    const frame = panel.current?.querySelector<HTMLElement>(".frame.current");
    if (!scroller || !frame || scroller.scrollHeight <= scroller.clientHeight) return;
    const { offsetTop: top, offsetHeight: height } = frame;
    if (top < scroller.scrollTop) scroller.scrollTop = top - 14;
    else if (top + height > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = Math.min(top - 14, top + height + 14 - scroller.clientHeight);
  }, [moment]);

  const skipped = running.length - DRAWN_FRAMES;
  const drawn = skipped > 0 ? [...running.slice(0, 4), ...running.slice(4 + skipped)] : running;
  const is = (variable: Variable) => watched !== null && watched.name === variable.name && watched.frame === variable.frame && watched.file === variable.file;
  const variable = (name: string, frame: number | null, file: string, value: Encoded, changed: boolean) => (
    <div key={name} class={`variable${changed ? " changed" : ""}`}>
      <button type="button" class="name" aria-pressed={is({ name, frame, file })} title="watch: v goes to its next change" onClick={() => onWatch({ name, frame, file })}>
        {visible(name)}
      </button>
      <div class="held" title="why?" onClick={(event) => (event.target as HTMLElement).closest("button") ?? onWhy({ name, frame, file })}>
        <Value value={value} on={on} />
      </div>
      <button type="button" class="ask" aria-label={`why ${visible(name)} has this value`} title="why?" onClick={() => onWhy({ name, frame, file })}>
        ?
      </button>
    </div>
  );
  const card = (frame: Frame, waits: boolean, above: Frame | undefined) => {
    const module = frame.function === "<module>";
    const via = frame.caller?.via;
    return (
      <section key={frame.number} class={`frame${frame.number === row.frame ? " current" : ""}${waits ? " suspended" : ""}`} aria-label={`frame ${visible(frame.function)}`}>
        <button type="button" class="frame-title" aria-pressed={frame.number === shown} title="show its line" onClick={() => onShow(frame.number)}>
          <span class="function">{visible(frame.function)}</span>
          <span class="where">
            line {frame.line}
            {manyFiles && ` of ${visible(frame.file.split("/").at(-1)!)}`}
            {waits && ", suspended"}
            {above && !waits && ", calling"}
          </span>
        </button>
        {via && <div class="via">called through {visible(via)}</div>}
        {[...frame.locals].map(([name, value]) => variable(name, frame.number, frame.file, value, changes.names.has(`${frame.number} ${name}`)))}
        {!frame.locals.size && !module && !frame.stack.length && <div class="empty">no variables</div>}
        {frame.stack.length > 0 && (
          <div class={`stack${frame.number === row.frame && row.stack ? " changed" : ""}`}>
            <div class="stack-title">{row.kind === "instruction" && frame.number === row.frame ? "value stack, top last" : "in the middle of"}</div>
            {frame.stack.map((value, i) => (
              <div key={i} class="stacked">
                <Value value={value} on={on} />
              </div>
            ))}
          </div>
        )}
        {frame.number === row.frame && row.value !== undefined && !(row.kind === "resume" && row.value === null) && (
          <div class={`variable result ${row.kind}`}>
            <span class="name">{{ return: "returns", yield: "yields", raise: "raises", resume: "is sent" }[row.kind]}</span>
            <div class="held">
              <Value value={row.value} on={on} />
            </div>
          </div>
        )}
      </section>
    );
  };

  /** Globals stand above the frames; what is only defined there, functions and classes, below in a few words. */
  const globalsCard = (file: string, names: Names, below: boolean) => {
    const entries = [...names];
    const defined = entries.filter(([, value]) => isDefinition(value, state));
    const rest = entries.filter(([, value]) => !isDefinition(value, state));
    if ((rest.length === 0) !== below) return null;
    const words = (kind: string) => defined.filter(([, value]) => (state.objects.get((value as any).ref)?.kind ?? "") === kind).map(([name]) => visible(name));
    const [functions, classes, imported] = [words("function"), words("class"), words("")];
    return (
      <section key={file} class="frame globals" aria-label="globals">
        <div class="frame-title plain">
          <span class="function">globals</span>
          <span class="where">{visible(file.split("/").at(-1)!)}</span>
        </div>
        {rest.map(([name, value]) => variable(name, null, file, value, changes.names.has(`${file} ${name}`)))}
        {functions.length > 0 && <div class="defined">def {functions.join(", ")}</div>}
        {classes.length > 0 && <div class="defined">class {classes.join(", ")}</div>}
        {imported.length > 0 && <div class="defined">imported {imported.join(", ")}</div>}
      </section>
    );
  };

  return (
    <div class="memory" ref={panel}>
      <div class="frames">
        {globals.map(([file, names]) => globalsCard(file, names, false))}
        {drawn.map((frame, i) => (
          <>
            {skipped > 0 && i === 4 && <div class="cut frames-cut">… {skipped} frames between, not drawn</div>}
            {card(frame, false, drawn[i + 1])}
          </>
        ))}
        {suspended.slice(0, DRAWN_FRAMES).map((frame) => card(frame, true, undefined))}
        {globals.map(([file, names]) => globalsCard(file, names, true))}
        {suspended.length > DRAWN_FRAMES && <div class="cut">… {suspended.length - DRAWN_FRAMES} suspended frames, not drawn</div>}
      </div>
      <div class="heap" aria-label="objects" role="group">
        {placed.cards.map((number) => (
          <Card key={number} number={number} on={on} />
        ))}
        {placed.more > 0 && <div class="cut">… {placed.more} more objects, not drawn</div>}
      </div>
      <svg class="arrows" aria-hidden="true">
        <defs>
          <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        <g />
      </svg>
    </div>
  );
}

/** Whether a value is a function, class or module: the names of these are listed in few words. */
export function isDefinition(value: Encoded, state: State): boolean {
  if (value === null || typeof value !== "object") return false;
  if (!("ref" in value)) return String(value.text ?? "").startsWith("<");
  const content = state.objects.get(value.ref);
  return content !== undefined && isText(content);
}

const WRITTEN_CHARS = 44;

/** Of each line that wrote names of a frame last: the names with their values now. rows: events of which some may be later. */
export function writtenValues(rows: Row[], { state, row: now }: Moment, frame: Frame): Map<number, string> {
  const names = state.names(frame);
  const module = frame.function === "<module>";
  const written = new Map<string, number>();
  const holders = new Map<number, string[]>();
  for (const [name, value] of names) {
    const number = value !== null && typeof value === "object" ? value.ref : undefined;
    if (number !== undefined) holders.set(number, [...(holders.get(number) ?? []), name]);
  }
  let line: number | null = null;
  for (const row of rows) {
    if (row.index > now.index) break;
    const own = row.frame === frame.number;
    if (own && row.kind === "call") line = row.line;
    const caller = row.caller?.frame === frame.number ? row.caller.locals : null;
    const bound = own ? (module ? row.globals : row.locals) : caller;
    if (line !== null) {
      for (const name in bound) written.set(name, line);
      for (const number in row.objects) for (const name of holders.get(+number) ?? []) written.set(name, line);
    }
    if (own) line = row.line;
  }
  const texts = new Map<number, string>();
  for (const [name, at] of [...written].sort(([, a], [, b]) => a - b)) {
    const value = names.get(name);
    if (value === undefined || isDefinition(value, state)) continue;
    const whole = short(value, state.objects, WRITTEN_CHARS);
    const text = `${visible(name)} = ${whole.length > WRITTEN_CHARS ? `${whole.slice(0, WRITTEN_CHARS - 2)} …` : whole}`;
    texts.set(at, texts.has(at) ? `${texts.get(at)}, ${text}` : text);
  }
  return texts;
}

// -- arrows ------------------------------------------------------------------------------------------------

/** Draws the arrows anew when the state or the size of the panel is another. */
function useArrows(panel: { current: HTMLDivElement | null }, moment: Moment): void {
  useLayoutEffect(() => {
    const element = panel.current;
    if (!element) return;
    const draw = () => drawArrows(element);
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [moment]);
  useLayoutEffect(() => {
    if (panel.current) drawArrows(panel.current);
  });
}

function drawArrows(panel: HTMLDivElement): void {
  const svg = panel.querySelector("svg.arrows")!;
  const group = svg.querySelector("g")!;
  const origin = panel.getBoundingClientRect();
  svg.setAttribute("width", String(panel.clientWidth));
  svg.setAttribute("height", "0");
  svg.setAttribute("height", String(panel.scrollHeight));
  const shapes: SVGPathElement[] = [];
  const shared = new Map<string, number>();
  const references = [...panel.querySelectorAll<HTMLElement>(".ref")].slice(0, DRAWN_ARROWS);
  for (const { dataset } of references) shared.set(dataset.to!, (shared.get(dataset.to!) ?? 0) + 1);
  const [frames, heap] = [panel.querySelector(".frames")!, panel.querySelector(".heap")!].map((column) => column.getBoundingClientRect().right - origin.left) as [number, number];
  const boxes = references.map((reference) => {
    const card = panel.querySelector<HTMLElement>(`[data-object="${reference.dataset.to}"]`);
    const holder = reference.closest<HTMLElement>(".frame, [data-object]") ?? reference;
    const edge = Math.max(holder.getBoundingClientRect().right, reference.getBoundingClientRect().right);
    return card && { reference, from: reference.getBoundingClientRect(), edge, to: card.getBoundingClientRect() };
  });
  for (const box of boxes) {
    if (!box) continue;
    const { reference, from, to } = box;
    const x = box.edge - origin.left; // of the box around it: no text is crossed
    const y = from.top + from.height / 2 - origin.top;
    const left = to.left - origin.left;
    const right = to.right - origin.left;
    const top = to.top - origin.top + 11;
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    // Level to the edge of its column, and up or down only where no text is: between the columns, or right of them.
    if (x < left) {
      const edge = Math.max(x, frames + 3);
      const middle = (edge + left) / 2;
      path.setAttribute("d", `M${x} ${y}H${edge}C${middle} ${y} ${middle} ${top} ${left - 2} ${top}`);
    } else {
      const edge = Math.max(x, right, heap) + 3;
      const bend = edge + 14 + Math.min(26, Math.abs(top - y) / 8);
      path.setAttribute("d", `M${x} ${y}H${edge}C${bend} ${y} ${bend} ${top} ${edge} ${top}H${right + 2}`);
    }
    path.setAttribute("marker-end", "url(#head)");
    path.setAttribute("class", shared.get(reference.dataset.to!)! > 1 ? "shared" : "single");
    path.dataset.to = reference.dataset.to!;
    shapes.push(path);
  }
  group.replaceChildren(...shapes);
}
