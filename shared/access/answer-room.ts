import type { AnswerRoom, Sized } from '../contract/answer-room.ts';
import { LIMITS } from '../cell.ts';
import { SchemalessError } from '../errors.ts';

/**
 * The room of one answer. To measure a cell takes about as long as to decode it, and few answers come near the limit:
 * what fits however large it may be is taken as it is, and measured only once something else might not fit.
 *
 * @param bytes of JSON @default the most that an answer may have
 */
export function answerRoom(bytes: number = LIMITS.answerBytes): AnswerRoom {
  let left = bytes;
  let unmeasured: Sized[] = [];
  let unmeasuredAtMost = 0;

  function measureAll(): void {
    for (const { measure } of unmeasured) left -= measure();
    unmeasured = [];
    unmeasuredAtMost = 0;
  }

  return {
    take(one, anyway = false) {
      if (unmeasuredAtMost + one.atMostBytes <= left) {
        unmeasured.push(one);
        unmeasuredAtMost += one.atMostBytes;
        return true;
      }
      measureAll();
      const size = one.measure();
      if (size > left && !anyway) return false;
      left -= size;
      return true;
    },
    left() {
      if (unmeasuredAtMost > left / 2) measureAll();
      return left - unmeasuredAtMost;
    },
  };
}

/** What a read ends with that shares an answer with others. */
export function noRoomLeft(): SchemalessError {
  return new SchemalessError(
    'answer_too_large',
    'the answer that this read shares with others has no room for it: ask for it alone',
  );
}
