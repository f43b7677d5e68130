// The page of a notebook's trajectory: what was done, step by step, with outputs and variables (view/notebook_page.py).

import "./base.css";
import "./notebook.css";
import { render, type JSX } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { DiffView, type DiffRow } from "./diff";
import { told } from "./load";
import type { Way } from "./moves";
import { Source } from "./source";
import { Controls, Help, Move, Moves, next, stepKeys, useKeys, usePlace } from "./stepping";
import { beginning, visible } from "./text";
import { useTheme } from "./theme";

interface Output {
  type: string;
  name: string | null;
  text: string;
  /** Characters that are not shown. */
  more: number;
  picture?: string;
  others?: string[];
}

interface Stored {
  status: string;
  normalisers: string[];
  difference: string | null;
  unstable: string | null;
  category: string | null;
  outputs: Output[];
  diff: DiffRow[];
}

interface Step {
  number: number;
  kind: string;
  cell: string | null;
  at: string | null;
  place: number | null;
  cells: number;
  source: string | null;
  was: string | null;
  inferred: boolean;
  why: string | null;
  clears: boolean;
  /** Cells of text before it, and after it if no code follows. */
  above: string[];
  below: string[];
  status?: string;
  count?: number | null;
  wall_s?: number | null;
  memory?: number | null;
  detail?: string | null;
  repeats?: boolean | null;
  difference?: string | null;
  outputs?: Output[];
  /** Name, change, type, value. */
  state?: { variables: [string, string, string, string][]; removed: string[]; aliases: string[][]; count: number; unseen: number } | null;
  stored?: Stored;
}

interface Facts {
  deskcheck: string;
  id: string;
  source: string;
  path: string | null;
  python: string | null;
  ended: string;
  detail: string;
  notes: string[];
  /** Cells that are not code; and how many are. */
  texts: string[];
  code: number;
  report: { status: string; runs: number } | null;
  steps: Step[];
}

interface Variable {
  name: string;
  type: string;
  value: string;
  change: string;
}

const WORDS: Record<string, string> = {
  no_stored_output: "nothing stored",
  not_repeatable: "not repeatable",
  timed_out: "timed out",
  not_run: "not run",
  out_of_memory: "out of memory",
  normalised: "equal after normalisers",
  different: "differs from the stored outputs",
  same: "equals the stored outputs",
};
const word = (status: string) => WORDS[status] ?? visible(status);

/** The variables after a step, by name, with what the step did to them. */
function variablesAt(steps: Step[], at: number): Variable[] {
  const known = new Map<string, Variable>();
  for (const step of steps.slice(0, at + 1)) {
    if (step.clears) known.clear();
    if (!step.state) continue;
    for (const name of step.state.removed) known.delete(name);
    for (const [name, change, type, value] of step.state.variables) known.set(name, { name, type, value, change: step.number === at ? change : "" });
  }
  return [...known.values()].sort((a, b) => Number(b.change !== "") - Number(a.change !== "") || (a.name < b.name ? -1 : 1));
}

function told_of(step: Step): string {
  const where = step.place === null ? "" : ` ${step.place} of ${step.cells}`;
  switch (step.kind) {
    case "execution":
      return `cell${where} runs`;
    case "insertion":
      return `a cell is inserted as${where}`;
    case "edit":
      return `cell${where} is edited`;
    case "deletion":
      return "a cell is deleted";
    case "move":
      return `a cell moves to${where}`;
    default:
      return `the kernel restarts: ${visible(step.why ?? "")}`;
  }
}

function App({ facts }: { facts: Facts }): JSX.Element {
  const { steps } = facts;
  const last = steps.length - 1;
  const place = usePlace("step", last, 0);
  const { at, go } = place;
  const [theme, nextTheme] = useTheme();
  const help = useRef<HTMLDialogElement>(null);
  const failed = (step: Step) => step.kind === "execution" && step.status !== "ok" && step.status !== "unknown";
  const odd = (step: Step) => (step.stored ? !["same", "no_stored_output"].includes(step.stored.status) : step.repeats === false);
  const sameCell = (step: Step) => step.kind === "execution" && step.cell === steps[at]?.cell;
  const to = (way: Way, fits: (step: Step) => boolean) => () => go(next(steps, at, way, fits));
  useKeys({
    ...stepKeys(place, last),
    e: to(1, failed),
    E: to(-1, failed),
    d: to(1, odd),
    D: to(-1, odd),
    ".": to(1, sameCell),
    ",": to(-1, sameCell),
    t: nextTheme,
    "?": () => help.current?.showModal(),
  });
  const step = steps[at];
  const variables = useMemo(() => variablesAt(steps, at), [at]);
  return (
    <>
      <header>
        <h1>{visible(facts.id)}</h1>
        <span class={`outcome ${facts.ended === "whole" ? "returned" : "raised"}`}>
          {word(facts.ended)} {beginning(facts.detail)}
        </span>
        {facts.report && <span class="outcome" id="report">{`compared with the stored outputs: ${word(facts.report.status)}`}</span>}
        {facts.path !== facts.id && <bdi class="soft">{visible(facts.path ?? facts.source)}</bdi>}
        <Controls theme={theme} next={nextTheme} help={help} />
      </header>
      <Moves place={place} last={last}>
        <Move id="failure" label="Next failure" act={to(1, failed)} off={!steps.some(failed)} />
        <Move id="odd" label={facts.report ? "Next difference" : "Next that is not repeatable"} act={to(1, odd)} off={!steps.some(odd)} />
        <Move id="cell-back" label="This cell, previous run" act={to(-1, sameCell)} />
        <Move id="cell" label="This cell, next run" act={to(1, sameCell)} />
      </Moves>
      {facts.notes.length > 0 && (
        <section aria-label="notes">
          {facts.notes.map((note) => (
            <p class="note" key={note}>
              {visible(note)}
            </p>
          ))}
        </section>
      )}
      {!step && <NothingDone facts={facts} />}
      {step && (
        <main>
          <Steps steps={steps} at={at} go={go} failed={failed} odd={odd} />
          <section class="middle" aria-label="the step" tabIndex={0}>
            <p class="says" id="now" aria-live="polite">
              <span class="which">
                step {at + 1} of {steps.length}
              </span>{" "}
              {told_of(step)}
              {step.count !== undefined && step.count !== null && <span class="soft"> [{step.count}]</span>}
              {step.status && step.status !== "ok" && <span class="bad-word"> {word(step.status)}</span>}
              {step.inferred && <span class="soft"> inferred from a later step</span>}
            </p>
            <p class="soft small">
              {[
                step.at && `${step.at} UTC`,
                step.wall_s !== null && step.wall_s !== undefined && `${step.wall_s.toFixed(step.wall_s < 1 ? 3 : 1)} s`,
                step.memory && `${Math.round(step.memory / 1e6)} MB afterwards`,
                step.repeats === true && "repeats in a fresh kernel",
                step.detail && visible(step.detail),
              ]
                .filter(Boolean)
                .join(" · ")}
            </p>
            {step.repeats === false && <p class="note">not repeatable in a fresh kernel: {visible(step.difference ?? "")}</p>}
            <Prose texts={step.above} />
            {step.source !== null && <Code text={step.source} />}
            {step.kind === "edit" && step.was !== null && (
              <details>
                <summary class="soft">before the edit</summary>
                <pre>{visible(step.was, true)}</pre>
              </details>
            )}
            {step.outputs && (step.stored ? <Compared step={step} stored={step.stored} /> : <Outputs outputs={step.outputs} />)}
            <Prose texts={step.below} />
          </section>
          <section class="right" aria-label="variables afterwards" tabIndex={0}>
            <h2>Variables afterwards</h2>
            {step.kind === "execution" && !step.state && <p class="soft">not recorded after this cell</p>}
            {step.state && step.state.unseen > 0 && <p class="cut">{step.state.unseen} were not inspected, for lack of time. Their last values are shown.</p>}
            {step.state && step.state.removed.length > 0 && <p class="removed">gone: {step.state.removed.map((name) => visible(name)).join(", ")}</p>}
            {step.state?.aliases.map((names) => (
              <p class="soft small" key={names.join()}>
                one object: <bdi>{names.map((name) => visible(name)).join(", ")}</bdi>
              </p>
            ))}
            {!variables.length && (step.state || step.kind !== "execution") && <p class="soft">none</p>}
            {variables.map((variable) => (
              <div class={`variable ${variable.change && "changed"}`} key={variable.name}>
                <bdi class="name">{visible(variable.name)}</bdi> <span class="soft">{visible(variable.type)}</span>
                {variable.change && <span class="change"> {variable.change}</span>}
                <pre>{visible(variable.value, true)}</pre>
              </div>
            ))}
          </section>
        </main>
      )}
      <Help
        dialog={help}
        keys={[
          ["→ or n, ← or p", "a step forward, back"],
          ["Home, End, PgUp, PgDn", "first, last, a hundred"],
          ["e, Shift e", "next and previous cell that failed"],
          ["d, Shift d", facts.report ? "next and previous cell that differs from its stored outputs" : "next and previous cell that is not repeatable"],
          [". and ,", "next and previous run of the same cell"],
          ["t", "light, dark, or like the system"],
        ]}
      >
        <p class="soft">
          deskcheck {facts.deskcheck}
          {facts.python && `, run with Python ${visible(facts.python)}`}
        </p>
      </Help>
    </>
  );
}

interface StepsProps {
  steps: Step[];
  at: number;
  go: (index: number) => void;
  failed: (step: Step) => boolean;
  odd: (step: Step) => boolean;
}

function Steps({ steps, at, go, failed, odd }: StepsProps): JSX.Element {
  const list = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const box = list.current!;
    const current = box.querySelector<HTMLElement>("[aria-current]");
    if (current && (current.offsetTop < box.scrollTop || current.offsetTop + current.offsetHeight > box.scrollTop + box.clientHeight)) {
      box.scrollTop = current.offsetTop - box.clientHeight / 2;
    }
  }, [at]);
  return (
    <section class="steps" ref={list} aria-label="all steps" tabIndex={0}>
      {steps.map((step) => (
        <button type="button" key={step.number} class={`${failed(step) ? "failed" : odd(step) ? "odd" : ""} ${step.kind}`} aria-current={step.number === at ? "step" : undefined} onClick={() => go(step.number)}>
          <span class="number">{step.kind === "execution" ? `[${step.count ?? " "}]` : step.kind}</span>
          <bdi>{visible((step.source ?? step.why ?? "").trim().split("\n")[0]!.slice(0, 80)) || "—"}</bdi>
        </button>
      ))}
    </section>
  );
}

function Code({ text }: { text: string }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const source = useRef<Source | null>(null);
  useLayoutEffect(() => {
    source.current = new Source(place.current!);
    return () => source.current!.destroy();
  }, []);
  useLayoutEffect(() => source.current!.show(text), [text]);
  return <div class="editor" ref={place} />;
}

/** Cells of text, as their source. */
function Prose({ texts }: { texts: string[] }): JSX.Element {
  return (
    <>
      {texts.map((text, number) => (
        <div class="prose" key={number}>
          {visible(text, true)}
        </div>
      ))}
    </>
  );
}

/** Lines that a box of output shows at once. */
const LINES_SHOWN = 20;

/** What an output does not show at once, or not at all. */
function lengthOf({ text, more }: Output): string {
  const lines = text.trimEnd().split("\n").length;
  const scroll = lines > LINES_SHOWN ? `${lines.toLocaleString("en")} lines: scroll to see them` : "";
  const missing = more > 0 ? `${more.toLocaleString("en")} more characters are not shown` : "";
  return [scroll, missing].filter(Boolean).join("; ");
}

/** In the place of steps: why there are none, and the texts of the notebook. */
function NothingDone({ facts }: { facts: Facts }): JSX.Element {
  if (facts.code > 0 || facts.ended !== "whole") return <p class="problem">Nothing was run in this notebook.</p>;
  return (
    <section class="texts" aria-label="the notebook">
      <p class="soft">{facts.texts.length > 0 ? "This notebook has only text. There is no code to run." : "This notebook has no cells."}</p>
      <Prose texts={facts.texts} />
    </section>
  );
}

function Outputs({ outputs }: { outputs: Output[] }): JSX.Element {
  if (!outputs.length) return <p class="soft">shows nothing</p>;
  return (
    <div class="outputs">
      {outputs.map((output, number) => (
        <div class={`shown ${output.type} ${output.name ?? ""}`} key={number}>
          {output.picture && <img src={output.picture} alt={visible(output.text) || "a figure"} />}
          {output.text && (
            <pre tabIndex={0} aria-label={output.type === "stream" ? (output.name ?? "stream") : output.type.replaceAll("_", " ")}>
              {visible(output.text, true)}
            </pre>
          )}
          {lengthOf(output) && <p class="cut small">{lengthOf(output)}</p>}
          {output.others && output.others.length > 0 && <p class="soft small">also as {output.others.map((mime) => visible(mime)).join(", ")}</p>}
        </div>
      ))}
    </div>
  );
}

/** What is stored in the notebook and what a fresh kernel gave, side by side. */
function Compared({ step, stored }: { step: Step; stored: Stored }): JSX.Element {
  return (
    <>
      <p class={`verdict ${stored.status}`}>
        {word(stored.status)}
        {stored.normalisers.length > 0 && `: ${stored.normalisers.join(", ")}`}
        {stored.category && ` (${visible(stored.category)})`}
        {stored.difference && (
          <span class="soft">
            {" "}
            <bdi>{visible(stored.difference)}</bdi>
          </span>
        )}
      </p>
      {stored.status === "no_stored_output" ? (
        <Outputs outputs={step.outputs ?? []} />
      ) : (
        <div class="sides">
          <section aria-label="stored outputs">
            <h2>stored</h2>
            <Outputs outputs={stored.outputs} />
          </section>
          <section aria-label="fresh outputs">
            <h2>fresh</h2>
            <Outputs outputs={step.outputs ?? []} />
          </section>
        </div>
      )}
      {stored.diff.length > 0 && <DiffView rows={stored.diff} />}
    </>
  );
}

export async function notebook(place: HTMLElement): Promise<void> {
  const facts = await told<Facts>();
  place.replaceChildren();
  render(<App facts={facts} />, place);
}
