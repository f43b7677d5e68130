// The page of what a method did for one question: every call of the model, every program, what came of it.

import { render, type JSX } from "preact";
import { told } from "./load";
import { Document, Folded, Preformatted } from "./parts";
import { visible } from "./text";

interface Attempt {
  kind: string;
  step: string;
  /** What came of it, in a line. */
  outcome: string;
  prompt?: string;
  completion?: string;
  code?: string;
  trace?: string;
  verdict?: string;
}

interface Answer {
  who: string;
  used: string;
  left_out: number;
  attempts: Attempt[];
  verdict: string;
  completion: string;
}

interface Facts {
  title: string;
  prompt: string;
  answers: Answer[];
}

const KINDS: Record<string, string> = {
  call: "Prompt to the model",
  tests: "Visible tests",
  calls: "Calls on inputs",
  script: "A run",
  trace: "A trace",
  choice: "A choice",
};
const FOLDED = [
  ["prompt", "Prompt"],
  ["completion", "Completion"],
  ["code", "Program"],
] as const;

function AttemptView({ attempt }: { attempt: Attempt }): JSX.Element {
  const tone = attempt.kind === "tests" ? (attempt.verdict ? "wrong" : "right") : "";
  return (
    <li class={tone}>
      <span class="kind">{KINDS[attempt.kind] ?? visible(attempt.kind)}</span> · {visible(attempt.step)}:{" "}
      <span class="outcome-line">{visible(attempt.outcome)}</span>
      {FOLDED.map(([name, label]) => {
        const text = attempt[name];
        return text && <Folded key={name} summary={label}><Preformatted label={label} text={text} /></Folded>;
      })}
      {attempt.kind === "calls" && <Preformatted label="results of the calls" text={attempt.verdict ?? ""} />}
      {attempt.trace && <Preformatted label="the trace" text={attempt.trace} />}
    </li>
  );
}

function AnswerView({ answer }: { answer: Answer }): JSX.Element {
  return (
    <section>
      <h2>
        <bdi>{visible(answer.who)}</bdi>
      </h2>
      <p class="soft">{visible(answer.used)}</p>
      {answer.left_out > 0 && <p class="soft">{answer.left_out} visible tests cannot be run by themselves.</p>}
      <ol class="attempts">
        {answer.attempts.map((attempt, number) => (
          <AttemptView key={number} attempt={attempt} />
        ))}
      </ol>
      <p>
        <span class="kind">Scored answer:</span> {visible(answer.verdict)}
      </p>
      <Folded summary="The answer">
        <Preformatted label="The answer" text={answer.completion} />
      </Folded>
    </section>
  );
}

export async function attempts(place: HTMLElement): Promise<void> {
  const facts = await told<Facts>();
  place.replaceChildren();
  render(
    <Document title={facts.title}>
      <Folded summary="The question">
        <Preformatted label="The question" text={facts.prompt} />
      </Folded>
      {facts.answers.map((answer, number) => (
        <AnswerView key={number} answer={answer} />
      ))}
    </Document>,
    place,
  );
}
