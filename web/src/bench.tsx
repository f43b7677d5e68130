// The page of a benchmark of a project: what is in it, what was left out and why, how it was made.

import { render, type ComponentChildren, type JSX } from "preact";
import { told } from "./load";
import { Document, Folded, Preformatted, Table, counted, total } from "./parts";
import { visible } from "./text";

interface Kind {
  name: string;
  about: string;
  samples: number;
  functions: number;
  oracle: number | null;
  guess: number | null;
  /** The 95 % interval of `guess`, or why there is none. */
  guess_bounds: string;
  excluded: Record<string, number>;
}

interface BenchmarkFunction {
  module: string;
  name: string;
  file: string;
  line: number;
  public: boolean;
  samples: Record<string, number>;
  why_not: string;
  made: boolean;
}

interface Facts {
  title: string;
  facts: string;
  ask: string;
  offline_score: string;
  questions_file: string;
  project: string;
  interpreter: { how: string };
  tests: Record<string, number>;
  failing: Record<string, string>;
  /** Tests that did not pass and are not listed. */
  failing_more: number;
  network: string[];
  missing: { what: string; package: string | null; tests: number }[];
  recorded: number;
  kinds: Kind[];
  functions: BenchmarkFunction[];
  calls_left_out: Record<string, number>;
  not_repeatable: number;
  packages: Record<string, string>;
  tracer: string;
  settings: Record<string, unknown>;
  wall_s: Record<string, number>;
  own_s: number | null;
  cost_s: number | null;
  made_inputs: number;
  made_failed: string;
  inputs_s: number | null;
  samples: number;
  clusters: number;
  public_functions: { asked_about: number; all: number; from_tests: number; from_made_inputs: number };
  oracle_is_right: boolean;
  few_clusters: string | null;
}

const number = (value: number) => value.toLocaleString("en");

function Figures({ facts }: { facts: Facts }): JSX.Element {
  const { asked_about, all, from_tests, from_made_inputs } = facts.public_functions;
  const share = all ? `${Math.round((100 * asked_about) / all)} %` : "-";
  const boxes: [string, string][] = [
    [number(facts.samples), "questions"],
    [number(facts.clusters), "functions, the clusters of all intervals"],
    [share, `of public functions: ${asked_about} of ${all}`],
  ];
  if (from_made_inputs) boxes.push([number(from_made_inputs), `of these with made inputs; ${number(from_tests)} with calls of the tests`]);
  boxes.push(facts.oracle_is_right ? ["1.000", "oracle: scoring accepts every stored answer"] : ["below 1", "oracle: scoring rejects some stored answers"]);
  return (
    <>
      <div class="figures">
        {boxes.map(([big, label]) => (
          <div class="figure" key={label}>
            <b>{big}</b>
            <span>{label}</span>
          </div>
        ))}
      </div>
      <svg class="share" viewBox={`0 0 ${all || 1} 1`} preserveAspectRatio="none" role="img" aria-label={`${asked_about} of ${all} public functions are asked about`}>
        <rect x="0" width={asked_about} height="1" />
      </svg>
      {facts.few_clusters && <p class="bad">{visible(facts.few_clusters)}</p>}
    </>
  );
}

function Ask({ facts }: { facts: Facts }): JSX.Element {
  return (
    <>
      <h2>Ask a model</h2>
      <Preformatted label="the command" text={facts.ask} />
      <p class="soft">
        To ask models elsewhere, use the prompts in <code>{facts.questions_file}</code>, and score their answers with <code>{visible(facts.offline_score)}</code>. The file
        also holds the right answers, and the project's source and values. It is as private as the project.
      </p>
    </>
  );
}

function Kinds({ facts }: { facts: Facts }): JSX.Element {
  const rows = facts.kinds.map((kind): ComponentChildren[] => [
    <>
      <b>{kind.name}</b>
      <span class="about">{kind.about}</span>
    </>,
    kind.samples,
    kind.functions,
    kind.oracle === null ? "-" : <span class={kind.oracle === 1 ? "good" : "bad"}>{kind.oracle.toFixed(3)}</span>,
    kind.guess === null ? (
      "-"
    ) : (
      <>
        {kind.guess.toFixed(3)}
        <br />
        {kind.guess_bounds}
      </>
    ),
  ]);
  return (
    <>
      <h2>Questions, and the scores of two baselines</h2>
      <Table heads={["kind", "questions", "functions", "oracle", "guess, 95 %"]} rows={rows} />
      <p class="soft">
        The oracle answers with what was recorded: anything but 1 would be a fault of the scoring; it does not check the recording. Guess reads the prompt and runs nothing: a
        model should score above it. Intervals are clustered by function.
      </p>
    </>
  );
}

function FunctionName({ of }: { of: BenchmarkFunction }): JSX.Element {
  return (
    <>
      <code>{visible(of.name)}</code>
      {of.made && <span class="made"> made inputs</span>}
      {of.file && (
        <>
          <br />
          <span class="soft">
            {visible(of.file)}:{of.line}
          </span>
        </>
      )}
    </>
  );
}

function InIt({ facts }: { facts: Facts }): JSX.Element {
  const inside = facts.functions.filter((each) => total(each.samples) > 0);
  const kinds = facts.kinds.map((kind) => kind.name).filter((name) => inside.some((each) => each.samples[name]));
  const unexported = inside.filter((each) => !each.public).length;
  const made = inside.filter((each) => each.made).length;
  return (
    <>
      <h2>
        Contents{" "}
        <span class="soft">
          {inside.length} functions
          {unexported > 0 && `, ${unexported} of them private ones that tests or other functions call`}
          {made > 0 && `, ${made} with made inputs`}
        </span>
      </h2>
      {[...new Set(inside.map((each) => each.module))].map((module) => {
        const functions = inside.filter((each) => each.module === module);
        const questions = functions.reduce((sum, each) => sum + total(each.samples), 0);
        const rows = functions.map((each): ComponentChildren[] => [<FunctionName of={each} />, ...kinds.map((kind) => each.samples[kind] ?? ""), total(each.samples)]);
        return (
          <Folded
            key={module}
            summary={
              <>
                <code>{visible(module)}</code>{" "}
                <span class="soft">
                  {counted(functions.length, "function")}, {counted(questions, "question")}
                </span>
              </>
            }
          >
            <Table heads={["function", ...kinds, "all"]} rows={rows} upright />
          </Folded>
        );
      })}
    </>
  );
}

function NotAskedAbout({ functions }: { functions: BenchmarkFunction[] }): JSX.Element {
  const byReason = new Map<string, BenchmarkFunction[]>();
  for (const each of functions) byReason.set(each.why_not, [...(byReason.get(each.why_not) ?? []), each]);
  const reasons = [...byReason].sort((one, other) => other[1].length - one[1].length);
  return (
    <>
      <h2>
        Public functions that are not asked about <span class="soft">{functions.length}</span>
      </h2>
      {!reasons.length && <p>None.</p>}
      {reasons.map(([reason, group]) => (
        <Folded
          key={reason}
          summary={
            <>
              {visible(reason)} <span class="soft">{counted(group.length, "function")}</span>
            </>
          }
        >
          <p>
            {group.map((each, place) => (
              <span key={place}>
                {place > 0 && ", "}
                <code>
                  {visible(each.module)}.{visible(each.name)}
                </code>
              </span>
            ))}
          </p>
        </Folded>
      ))}
    </>
  );
}

function LeftOut({ facts }: { facts: Facts }): JSX.Element {
  const calls = Object.entries(facts.calls_left_out).map(([reason, count]) => [reason, number(count)]);
  const reasons = [...new Set(facts.kinds.flatMap((kind) => Object.keys(kind.excluded)))];
  const rows = reasons.map((reason) => [reason, ...facts.kinds.map((kind) => kind.excluded[reason] ?? "")]);
  return (
    <>
      <NotAskedAbout functions={facts.functions.filter((each) => each.public && !total(each.samples))} />
      <h2>Calls that were not recorded</h2>
      {calls.length ? <Table heads={["why", "calls"]} rows={calls} /> : <p>None.</p>}
      <h2>
        Recordings that are not asked about <span class="soft">of {facts.recorded}</span>
      </h2>
      {rows.length ? <Table heads={["why", ...facts.kinds.map((kind) => kind.name)]} rows={rows} upright /> : <p>None.</p>}
    </>
  );
}

function Tests({ facts }: { facts: Facts }): JSX.Element {
  const counts = Object.entries(facts.tests).sort().map(([outcome, count]) => `${count} ${visible(outcome)}`);
  const failing = Object.entries(facts.failing);
  const missing = facts.missing.map((each): ComponentChildren[] => [each.what + (each.package ? ` (${each.package})` : ""), each.tests]);
  return (
    <>
      <h2>The tests</h2>
      <p>{counts.join(", ")}. Questions are about the functions that they call.</p>
      {missing.length > 0 && (
        <>
          <Table heads={["missing", "tests that do not run"]} rows={missing} />
          <p class="soft">
            Install a package by <code>--replace --with-package PACKAGE</code>.
          </p>
        </>
      )}
      {facts.network.length > 0 && <p>{facts.network.length} tests need a network, which was missing.</p>}
      {failing.length > 0 && (
        <Folded summary={`${failing.length + facts.failing_more} tests did not pass`}>
          {failing.map(([test, why]) => (
            <div key={test}>
              <p>
                <code>{visible(test)}</code>
              </p>
              <Preformatted label="why" text={why} />
            </div>
          ))}
          {facts.failing_more > 0 && <p>... and {facts.failing_more} more</p>}
        </Folded>
      )}
    </>
  );
}

function Made({ facts }: { facts: Facts }): JSX.Element {
  const list = (pairs: [string, unknown][], join: string) => pairs.map(([name, value]) => visible(`${name.replaceAll("_", " ")}${join}${String(value)}`)).join(", ");
  const steps = Object.entries(facts.wall_s).map(([name, seconds]) => `${name} ${seconds.toFixed(0)} s`);
  const packages = Object.entries(facts.packages).sort().map(([name, version]) => visible(`${name} ${version}`));
  return (
    <>
      <h2>How it was made</h2>
      <p>
        From {visible(facts.project)}, with {visible(facts.interpreter.how)}.
        {facts.own_s && facts.cost_s !== null && ` The tests take ${facts.own_s.toFixed(1)} s of CPU time by themselves; recording took ${facts.cost_s.toFixed(1)} s.`}
        {facts.inputs_s !== null &&
          ` Making inputs for functions without usable calls of the tests took ${facts.inputs_s.toFixed(1)} s and gave ${facts.made_inputs} calls.`}
        {facts.made_failed && ` No inputs were made: ${visible(facts.made_failed)}`}
        {facts.tracer !== "native" && " The reference tracer recorded, which is slow."} {visible(steps.join(", "))}.
      </p>
      <p>
        Of {facts.recorded} recorded calls {facts.not_repeatable} differed in a second run; these are not asked about. Distributions that the tests imported:{" "}
        {packages.join(", ") || "none"}. {list(Object.entries(facts.settings), ": ")}.
      </p>
    </>
  );
}

export async function bench(place: HTMLElement): Promise<void> {
  const facts = await told<Facts>();
  place.replaceChildren();
  render(
    <Document title={facts.title}>
      <p class="soft">{visible(facts.facts)}</p>
      <Figures facts={facts} />
      <Ask facts={facts} />
      <Kinds facts={facts} />
      <InIt facts={facts} />
      <LeftOut facts={facts} />
      <Tests facts={facts} />
      <Made facts={facts} />
    </Document>,
    place,
  );
}
