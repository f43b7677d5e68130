// Stepping, search and states. With PARTS, the name of a file that tests/view/test_trace_data.py writes, the states that
// Python has of real recordings are what is reached here.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as moves from "../src/moves";
import { change, search, type Found } from "../src/search";
import { unitOf } from "../src/columns";
import { atom, bytesText, cellText, short, stringText, visible } from "../src/text";
import { spanAt, spansOf } from "../src/spans";
import { why, type Causes } from "../src/why";
import { Columns, State, Trace, type Facts, type Store } from "../src/trace";

interface Parts {
  facts: Facts;
  columns: string;
  blocks: string[];
  states: any[];
  asked: number[];
  causes: Causes | null;
  spans: [number, number, number][];
  why: [number, string, number | null, string, string[]][];
}

function opened(parts: Parts): Trace {
  const told = parts.facts.traces[0]!;
  const columns = new Uint8Array(Buffer.from(parts.columns, "hex"));
  const store: Store = {
    facts: async () => parts.facts,
    columns: async () => columns,
    block: async (_, number) => parts.blocks[number]!,
    causes: async () => parts.causes,
  };
  return new Trace(store, told, new Columns(columns, told.events, parts.facts.kinds));
}

function asTold(state: State): any {
  return {
    frames: [...state.frames.values()].map((f) => [f.number, f.function, f.file, f.line, f.offset, Object.fromEntries(f.locals), f.stack, f.caller]),
    active: state.active,
    globals: Object.fromEntries([...state.globals].map(([file, names]) => [file, Object.fromEntries(names)])),
    objects: Object.fromEntries(state.objects),
    last: state.last && [state.last.kind, state.last.frame],
  };
}

const path = process.env.PARTS;
const recordings: Parts[] = path ? JSON.parse(readFileSync(path, "utf8")) : [];
const skip = path ? false : "would have proved that states are those of Python: no PARTS";

test("states are those of Python, in any order", { skip }, async () => {
  for (const parts of recordings) {
    const trace = opened(parts);
    for (const order of [parts.asked, parts.asked.toReversed()]) {
      for (const index of order) {
        const { state } = await trace.moment(index);
        assert.deepEqual(asTold(state), parts.states[parts.asked.indexOf(index)], `${parts.facts.id} ${index}`);
      }
    }
  }
});

test("steps over and out keep to depth; visits are the line's events", { skip }, () => {
  for (const parts of recordings) {
    const { columns, facts } = opened(parts);
    for (let i = 0; i < columns.length; i += 7) {
      const over = moves.over(columns, i, 1);
      if (over !== null) for (let k = i + 1; k < over; k++) assert.ok(columns.depth[k]! > columns.depth[i]!);
      const out = moves.out(columns, i);
      if (out !== null) assert.ok(columns.depth[out]! < columns.depth[i]!);
      const back = moves.over(columns, i, -1);
      assert.ok(back === null || (back < i && columns.depth[back]! <= columns.depth[i]!));
      if (columns.kind(i) !== "line") continue;
      const visits = moves.visits(columns, facts.places, facts.places[columns.place[i]!]![1], columns.line[i]!);
      assert.ok(visits.includes(i));
      assert.equal(visits.length, moves.visitCounts(columns, facts.places, facts.places[columns.place[i]!]![1]).get(columns.line[i]!));
    }
  }
});

test("search finds what is there, and stops", { skip }, async () => {
  const trace = opened(recordings.find((parts) => parts.facts.id === "loop")!);
  let found: Found[] = [];
  let done = 0;
  await search(trace, "i = 3199", 50, new AbortController().signal, (some, share) => ([found, done] = [some, share]));
  assert.equal(found.length, 1);
  assert.equal(done, 1);
  const stopped = new AbortController();
  stopped.abort();
  await search(trace, "i", 50, stopped.signal, () => assert.fail("goes on"));
});

test("changes of a variable: bound anew, or what it holds", { skip }, async () => {
  const parts = recordings.find((one) => one.facts.id === "aliasing")!;
  const trace = opened(parts);
  const variable = { name: "row", frame: 0, file: parts.facts.file };
  const { signal } = new AbortController();
  const found: number[] = [];
  for (let at: number | null = 0; (at = await change(trace, variable, at, 1, signal, () => {})) !== null; ) found.push(at);
  const lines = await Promise.all(found.map(async (index) => (await trace.row(index)).line));
  assert.deepEqual(lines, [3, 6, 7]); // before those lines: bound, its first item, its third
  const back: number[] = [];
  for (let at: number | null = trace.length; (at = await change(trace, variable, at, -1, signal, () => {})) !== null; ) back.push(at);
  assert.deepEqual(back, found.toReversed());
});

test("text shows what cannot be seen", () => {
  assert.equal(visible("a\u202eb\u200bc"), "a\\u202eb\\u200bc");
  assert.equal(visible("\ud800 \u{e0001}"), "\\ud800 \\U000e0001");
  assert.equal(visible("a\nb\tc", true), "a\nb\\tc");
  assert.equal(visible("<b>&amp; ä 漢 😀"), "<b>&amp; ä 漢 😀");
});

test("values as Python writes them", () => {
  assert.equal(stringText("it's"), '"it\'s"');
  assert.equal(stringText("'\"\\\n"), "'\\'\"\\\\\\n'");
  assert.equal(bytesText("a\u00ff'"), 'b"a\\xff\'"');
  assert.equal(atom({ float: "1.0" })!.text, "1.0");
  assert.equal(atom({ complex: ["0.0", "2.0"] })!.text, "2j");
  assert.equal(atom({ complex: ["1.5", "-0.0"] })!.text, "(1.5-0j)");
  const objects = new Map([
    [1, { kind: "list", type: "list", items: [1, { ref: 1 }, { tuple: [true] }] }],
    [2, { kind: "dict", type: "dict", items: [["k", { ref: 1 }]], length: 9, cut: "long" }],
  ]);
  assert.equal(short({ ref: 1 }, objects), "[1, ..., (True,)]");
  assert.equal(short({ ref: 2 }, objects), "{'k': [1, ..., (True,)], ... 8 more}");
  assert.equal(short({ range: [0, 5, 1] }, objects), "range(0, 5)");
});

test("columns in bytes of UTF-8 are units of the editor", () => {
  assert.equal(unitOf("abc", 2), 2);
  assert.equal(unitOf("äb", 2), 1);
  assert.equal(unitOf("😀x", 4), 2);
  assert.equal(unitOf("a", 9), 1);
});

test("the steps of why are those of Python", { skip }, () => {
  let asked = 0;
  for (const { facts, causes, why: answers } of recordings) {
    for (const [at, name, frame, file, lines] of answers) {
      if (!lines.length) continue; // functions and classes: Python says nothing, and the page does not ask
      const { steps, more } = why(causes!, { name, frame, file }, at);
      const told = steps.map((step) => `${"  ".repeat(step.depth)}\`${step.name}\` ${step.text}`);
      if (more) told.push(`${more} more values were read there; --steps follows more of them`);
      if (!steps.length) assert.match(lines[0]!, /no recorded event changed it/, `${facts.id} ${at} ${name}`);
      else assert.deepEqual(told, lines, `${facts.id} ${at} ${name}`);
      asked += 1;
    }
  }
  assert.ok(asked > 100, `${asked} answers`);
});

test("cells of grids are short where nothing is lost but digits", () => {
  const short: [string, string][] = [
    ["'2026-01-01T00:00:00.000000'", "2026-01-01"],
    ["'2026-01-01T12:30:00.000000'", "2026-01-01 12:30:00"],
    ["'2026-01-01T00:00:00.250000'", "2026-01-01 00:00:00.250000"],
    ["0.0014900835088361708", "0.00149008"],
    ["12345678.123456", "12345678.123456"],
    ["1.25", "1.25"],
    ["nan", "nan"],
    ["'2026-01-01'", "'2026-01-01'"],
  ];
  for (const [whole, brief] of short) assert.equal(cellText(whole), brief);
});

test("the calls of the flame chart are those of Python", { skip }, () => {
  for (const parts of recordings) {
    const { lanes } = spansOf(opened(parts).columns);
    const found = lanes.flatMap(({ start, end }, depth) => [...start].map((from, i) => [from, end[i]!, depth]));
    assert.deepEqual(
      found.sort(([a, , x], [b, , y]) => a! - b! || x! - y!),
      parts.spans,
      parts.facts.id,
    );
    for (const { start, end } of lanes) start.forEach((from, i) => assert.equal(spanAt(end, from), i));
  }
});
