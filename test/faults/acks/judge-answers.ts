import { isTold, type Answer } from '../load/ask.ts';
import { addressOf, type CellsThere, type CellThere } from '../stored-cells.ts';

const EXAMPLES = 5;

export type Judged = ReturnType<typeof judgeAnswers>;

/**
 * Compares every answer with the cells on the primaries once the buffer is empty: the body, the added id and the time.
 * A `stored` cell was appended between request and answer, a `stored_before` one not after the answer.
 */
export function judgeAnswers(answers: readonly Answer[], there: CellsThere) {
  const [examples, storedOnce, last]: [string[], Set<string>, Map<string, Answer>] = [[], new Set(), new Map()];
  let [untrue, bufferedThere] = [0, 0];
  for (const answer of answers) {
    const address = addressOf(answer);
    const cell = there.get(address);
    const writer = `${address} ${answer.mark}`;
    if ((last.get(writer)?.ended ?? 0) <= answer.ended) last.set(writer, answer);
    if (answer.outcome === 'buffered' && wasThere(answer, cell)) bufferedThere += 1;
    const isRepeat = answer.outcome === 'stored' && storedOnce.has(address);
    if (answer.outcome === 'stored') storedOnce.add(address);
    const fault = isRepeat ? 'another call was told so, too' : faultOf(answer, cell);
    if (fault === undefined) continue;
    untrue += 1;
    if (examples.length < EXAMPLES) examples.push(`${answer.outcome} at ${address}, but ${fault}`);
  }
  const open = [...last.values()].filter((answer) => !isTold(answer));
  return {
    answers: answers.length,
    untrue,
    examples,
    untold: open.filter((answer) => wasThere(answer, there.get(addressOf(answer)))).length,
    open: open.length,
    bufferedThere,
  };
}

function wasThere({ mark, ended }: Answer, cell: CellThere | undefined): boolean {
  return cell?.mark === mark && cell.createdAt < ended;
}

function faultOf(answer: Answer, cell: CellThere | undefined): string | undefined {
  const { outcome, mark, shard, added_id, begun, ended } = answer;
  if (outcome === 'unavailable') return undefined;
  if (!cell) return 'no cell is there';
  if (outcome === 'conflict') return cell.mark === mark ? 'the same body is there' : undefined;
  if (outcome === 'buffered') return undefined;
  if (cell.mark !== mark) return 'another body is there';
  if (cell.shard !== shard || cell.added_id !== added_id)
    return `it is ${cell.shard}/${cell.added_id} and not ${shard}/${added_id}`;
  if (cell.createdAt > ended) return `it came ${cell.createdAt - ended} ms after the answer`;
  if (outcome === 'stored' && cell.createdAt < begun) return `it had been there for ${begun - cell.createdAt} ms`;
  return undefined;
}
