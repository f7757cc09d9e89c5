import { noteAccepted, type AcceptedCells } from './accepted-cells.ts';
import { judge, type AnswerFault } from './judge.ts';
import type { HostileRequest, HttpAnswer, Sender } from './send.ts';
import { sumOf } from '../fault-run.ts';

/** The results of requests. */
export interface Driven {
  readonly sent: number;
  readonly faults: Readonly<Record<AnswerFault, number>>;
  /** The count of each status; 0 is no answer. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly examples: readonly string[];
}

interface DriveOptions {
  readonly sender: Sender;
  readonly requests: Iterable<HostileRequest>;
  readonly sideBySide: number;
  /** Records the accepted cells. */
  readonly accepted: AcceptedCells;
  readonly heard?: (request: HostileRequest, answer: HttpAnswer) => void;
  readonly signal: AbortSignal;
}

const EXAMPLES = 6;
const NONE = { 'server error': 0, 'no answer': 0, 'unnamed refusal': 0, 'wrong answer': 0 };

/** Sends all requests, and judges each answer. */
export async function drive(options: DriveOptions): Promise<Driven> {
  const { sender, requests, sideBySide, accepted, heard = () => undefined, signal } = options;
  const faults: Record<AnswerFault, number> = { ...NONE };
  const statuses = new Map<number, number>();
  const examples: string[] = [];
  let sent = 0;
  const queue = requests[Symbol.iterator]();

  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      signal.throwIfAborted();
      const request = next.value;
      const answer = await sender.send(request);
      sent += 1;
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      heard(request, answer);
      const fault =
        judge(request, answer) ?? (noteAccepted(accepted, request, answer) > 0 ? 'wrong answer' : undefined);
      if (fault === undefined) continue;
      faults[fault] += 1;
      if (examples.length < EXAMPLES) examples.push(shown(fault, request, answer));
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, worker));
  return { sent, faults, statuses, examples };
}

export function together(parts: readonly Driven[]): Driven {
  const faults = { ...NONE };
  for (const fault of Object.keys(faults) as AnswerFault[])
    faults[fault] = sumOf(parts.map((one) => one.faults[fault]));
  const statuses = new Map<number, number>();
  for (const [status, count] of parts.flatMap((part) => [...part.statuses]))
    statuses.set(status, (statuses.get(status) ?? 0) + count);
  const examples = parts.flatMap((part) => part.examples).slice(0, EXAMPLES);
  return { sent: sumOf(parts.map(({ sent }) => sent)), faults, statuses, examples };
}

function shown(
  fault: string,
  { what, method, target, body, wants }: HostileRequest,
  { status, text }: HttpAnswer,
): string {
  const sent = body === undefined ? '' : ` ${JSON.stringify(body.subarray(0, 80).toString())}`;
  return `${fault}: ${what}: ${method} ${target.slice(0, 120)}${sent} was answered ${status} ${text.slice(0, 250)}${wants === undefined ? '' : `, wanted ${wants}`}`;
}
