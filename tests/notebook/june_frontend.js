// Runs the recorder of JuNE (main.js of its extension) on a scripted notebook and prints what it sends.
//
//     node june_frontend.js MAIN_JS june_script.jsonl > june_session.jsonl
//     node june_frontend.js MAIN_JS june_random_script.jsonl 23 > june_random.jsonl
//
// The second file is the script's own word: each execution with the notebook around it. With a number
// behind it, forty things are done that are drawn by that seed.
//
// main.js runs as it is. It finds here as much of the classic Notebook's front end as it asks for. The
// events come in the order of Notebook 6.4: a created cell exists before its event and is selected after
// it; changing a cell's type makes another cell, and the old one goes without an event; a queued cell
// behind one that raised is finished without having run. Times are those of a clock that ticks here.

"use strict";

const fs = require("fs");
const vm = require("vm");

const sent = [];
const truth = [];
const handlers = [];
let clock = Date.parse("2023-05-06T10:00:00.000Z");
let made = 0;
let onTypeChange = null;

const events = {
  on(names, handler) {
    for (const name of names.split(" ")) handlers.push({ name, handler, once: false });
  },
  one(name, handler) {
    handlers.push({ name, handler, once: true });
  },
  trigger(name, data) {
    clock += 250;
    const event = { type: name.split(".")[0] };
    for (const each of handlers.filter((each) => each.name === name)) {
      if (each.once) handlers.splice(handlers.indexOf(each), 1);
      each.handler(event, data);
    }
  },
};

class Cell {
  constructor(type, source = "", sameAs = null) {
    made += 1;
    this.cell_id = `c${String(made).padStart(2, "0")}`; // there: a random UUID
    this.first_id = sameAs ? sameAs.first_id : this.cell_id;
    this.cell_type = type;
    this.source = source;
    this.outputs = [];
    this.count = null;
  }

  get_text() {
    return this.source;
  }

  toJSON() {
    const cell = { metadata: {}, cell_type: this.cell_type, source: this.source };
    if (this.cell_type === "code") {
      cell.execution_count = this.count;
      cell.outputs = JSON.parse(JSON.stringify(this.outputs));
    }
    return cell;
  }
}

const notebook = {
  config: { data: { url: "http://127.0.0.1/", agreement: true } },
  kernel: { id: "kernel-1", execute() {} },
  session: { id: "session-1" },
  notebook_name: "task1.ipynb",
  events,
  cells: [],
  selected: 0,
  get_cells() {
    return this.cells;
  },
  get_selected_index() {
    return this.selected;
  },
  get_selected_cell() {
    return this.cells[this.selected];
  },
};

class FixedDate extends Date {
  constructor() {
    super(clock);
  }
}

function load(path) {
  let extension = null;
  const page = {
    define: (names, factory) => {
      const jquery = (selector) => ({
        on: (name, handler) => (onTypeChange = handler),
        val: () => page.type,
      });
      extension = factory(jquery, { notebook }, events);
    },
    document: { querySelector: () => null },
    fetch: (url, { body }) => {
      sent.push(body);
      return Promise.resolve({ ok: true, json: () => ({}) });
    },
    console: { log() {}, error: console.error },
    Date: FixedDate,
    TextEncoder,
    type: "code",
  };
  vm.runInNewContext(fs.readFileSync(path, "utf8"), page, path);
  extension.load_ipython_extension();
  return page;
}

// -- what a user does --------------------------------------------------------------------------------

const at = (cell) => notebook.cells.indexOf(cell);
const select = (cell) => (notebook.selected = at(cell));
const stream = (text) => ({ output_type: "stream", name: "stdout", text });
const result = (text, count) => ({
  output_type: "execute_result",
  execution_count: count,
  data: { "text/plain": text },
  metadata: {},
});
const error = (ename, evalue) => ({ output_type: "error", ename, evalue, traceback: ["..."] });

function insertAt(index, type) {
  const cell = new Cell(type);
  if (index <= notebook.selected && notebook.cells.length) notebook.selected += 1;
  notebook.cells.splice(index, 0, cell);
  events.trigger("create.Cell", { cell, index });
  return cell;
}

function below(cell, source) {
  select(cell);
  const found = insertAt(at(cell) + 1, "code");
  select(found);
  found.source = source;
  return found;
}

function above(cell, source) {
  select(cell);
  const found = insertAt(at(cell), "code");
  select(found);
  found.source = source;
  return found;
}

function remove(cell) {
  select(cell);
  const index = at(cell);
  notebook.cells.splice(index, 1);
  notebook.selected = Math.min(index, notebook.cells.length - 1);
  events.trigger("delete.Cell", { cell, index });
}

function begin(cell) {
  cell.outputs = [];
  events.trigger("execute.CodeCell", { cell });
  cell.around = notebook.cells.map((each) => each.first_id);
}

let counts = 0;

function end(cell, outputs) {
  if (outputs !== null) cell.count = ++counts; // null: the kernel did not run it
  cell.outputs = outputs || [];
  const raised = cell.outputs.find((each) => each.output_type === "error");
  const error = raised ? [raised.ename, raised.evalue] : null;
  const facts = { cell: cell.first_id, source: cell.source, error, order: cell.around };
  if (outputs !== null) truth.push(facts);
  events.trigger("finished_execute.CodeCell", { cell });
}

function run(cell, outputs = []) {
  select(cell);
  begin(cell);
  end(cell, outputs);
}

function render(cell, source) {
  select(cell);
  cell.source = source;
  events.trigger("rendered.MarkdownCell", { cell });
}

function changeType(page, cell, type, byMenu = true) {
  select(cell);
  const index = at(cell);
  const made = new Cell(type);
  notebook.cells.splice(index + 1, 0, made);
  events.trigger("create.Cell", { cell: made, index: index + 1 });
  made.source = cell.source;
  notebook.cells.splice(index, 1);
  notebook.selected = index;
  page.type = type;
  if (byMenu) {
    clock += 250;
    onTypeChange();
  }
  return made;
}

function restart() {
  events.trigger("kernel_restarting.Kernel", { kernel: notebook.kernel });
  counts = 0;
}

function open(path, cells) {
  handlers.length = 0;
  notebook.cells = cells;
  notebook.selected = 0;
  const page = load(path);
  events.trigger("kernel_ready.Kernel", { kernel: notebook.kernel });
  return page;
}

// -- the script ----------------------------------------------------------------------------------------

const path = process.argv[2];
const check = new Cell(
  "code",
  "# is the log on?\nfrom mining_extension import check_logging \ncheck_logging('http://127.0.0.1/')",
);

function scripted() {
  const title = new Cell("markdown", "# Task\nIt's \"one\" of two");
  const first = new Cell("code", "");
  let page = open(path, [check, title, first]);

  run(check, [stream("Request successful!\n")]);
  first.source = "x = 'it''s'\nx";
  run(first, [result("'its'", 2)]);
  const division = below(first, "1 / 0");
  run(division, [error("ZeroDivisionError", "division by zero")]);
  division.source = "print(1 / 2)";
  run(division, [stream("0.5\n")]);
  const imports = above(first, "import math\nmath.pi");
  run(imports, [result("3.141592653589793", 5)]);
  render(title, "# Task 1");
  const tail = below(division, "a note");
  const note = changeType(page, tail, "markdown");
  render(note, "a **note**");
  const raises = below(note, "raise ValueError('no: it''s \"quoted\"')");
  const after = below(raises, "print('not run')");
  // Run All, the last cell selected: three are queued, the first raises, the kernel leaves out the rest.
  select(after);
  for (const cell of [raises, after]) begin(cell);
  end(raises, [error("ValueError", 'no: it\'s "quoted"')]);
  end(after, null);
  // A cell is interrupted.
  raises.source = "while True: pass";
  select(raises);
  begin(raises);
  events.trigger("kernel_interrupting.Kernel", { kernel: notebook.kernel });
  end(raises, [error("KeyboardInterrupt", "")]);
  restart();
  // Run All: the selected cell is none of those that run.
  select(note);
  const all = [imports, first, division];
  for (const cell of all) begin(cell);
  end(imports, [result("3.141592653589793", 1)]);
  end(first, [result("'its'", 2)]);
  end(division, [stream("0.5\n")]);
  remove(raises);
  notebook.notebook_name = "task1-mine.ipynb";
  events.trigger("notebook_renamed.Notebook", {});
  run(after, [stream("not run\n")]);
  // The page is opened again: other ids, the same kernel; one source was edited and never run.
  division.source = "print(1 / 4)";
  const again = notebook.cells.map((cell) => new Cell(cell.cell_type, cell.source, cell));
  page = open(path, again);
  run(again[4], [stream("0.25\n")]);
  // A type is changed by a key; the next look at the cell shows it.
  again[0] = changeType(page, again[0], "markdown", false);
  render(again[0], "# checked");

}

const texts = [
  ...["x = 1", "print('it''s')", "a = [1,\n 2]", "1 / 0", "", 'd = {"k": \'v\'}', "# c", "é = 3"],
  ...["s = '\\n'", "%timeit x", "!ls"],
];

// What the log can tell: a cell that is created above another is run, and one whose type is changed is run
// or rendered, so that an event shows where it is and what is in it. Moves are not in it.
function random(seed) {
  const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const pick = (list) => list[Math.floor(next() * list.length)];
  const outputs = () => {
    const chance = next();
    if (chance < 0.25) return [error(pick(["ValueError", "my.Error"]), pick(['it\'s "q"', "", "a\nb"]))];
    if (chance < 0.3) return [stream("a\n"), error("KeyError", "'x'")];
    return chance < 0.6 ? [stream("t\n")] : [];
  };
  const some = Array.from({ length: Math.floor(next() * 4) }, () => pick(["code", "code", "markdown"]));
  let page = open(path, [check, ...some.map((type) => new Cell(type, pick(texts)))]);
  run(check, [stream("Request successful!\n")]);
  for (let number = 0; number < 40; number++) {
    const all = notebook.cells.filter((cell) => !cell.source.includes("check_logging"));
    const codes = all.filter((cell) => cell.cell_type === "code");
    const notes = all.filter((cell) => cell.cell_type === "markdown");
    const text = `${pick(texts)} #${number}`;
    const chance = next();
    if (chance < 0.35 && codes.length) {
      const cell = pick(codes);
      if (next() < 0.4) cell.source = text;
      run(cell, outputs());
    } else if (chance < 0.5) {
      const cell = below(pick(notebook.cells), "");
      if (next() < 0.7) {
        cell.source = text;
        run(cell, outputs());
      }
    } else if (chance < 0.58) {
      if (all.length) run(above(pick(all), text), outputs());
    } else if (chance < 0.66) {
      if (all.length > 1) remove(pick(all));
    } else if (chance < 0.74) {
      if (notes.length) render(pick(notes), `note ${number}`);
    } else if (chance < 0.8) {
      if (codes.length) render(changeType(page, pick(codes), "markdown", next() < 0.7), `note ${number}`);
    } else if (chance < 0.84) {
      if (notes.length) run(changeType(page, pick(notes), "code", next() < 0.7), outputs());
    } else if (chance < 0.88) {
      restart();
    } else if (chance < 0.96) {
      if (codes.length < 2) continue; // "Run All"
      select(pick(notebook.cells));
      for (const cell of codes) begin(cell);
      let raised = false;
      for (const cell of codes) {
        const found = raised ? null : outputs();
        end(cell, found);
        raised = raised || found.some((each) => each.output_type === "error");
      }
    } else if (chance > 0.98) {
      page = open(path, notebook.cells.map((cell) => new Cell(cell.cell_type, cell.source, cell)));
    }
  }
}

if (process.argv[4]) random(Number(process.argv[4]));
else scripted();
const cells = notebook.cells.map((cell) => [cell.first_id, cell.cell_type, cell.source]);
truth.push({ cells });
fs.writeFileSync(process.argv[3], truth.map((each) => JSON.stringify(each) + "\n").join(""));
process.stdout.write(sent.map((body) => body + "\n").join(""));
